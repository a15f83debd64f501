//! The computing time of a thread, without the time that the system gives to other threads.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Measures the computing time of this thread. Both clocks are read at the start. The processor's clock costs a system call, so it
/// is read again only after `exact_from` has passed.
pub(crate) struct Stopwatch {
    began: Instant,
    used: Duration,
    exact_from: Duration,
}

impl Stopwatch {
    pub(crate) fn start(exact_from: Duration) -> Self {
        Self { began: Instant::now(), used: processor_time(), exact_from }
    }

    /// The time since the start.
    pub(crate) fn passed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The computing time since the start.
    pub(crate) fn took(&self) -> Duration {
        let passed = self.passed();
        if passed > self.exact_from { processor_time().saturating_sub(self.used).min(passed) } else { passed }
    }
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Whole nanoseconds.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
