//! The time that a thread computes, without the time that the system gives to others meanwhile.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Measures what this thread computes. Both clocks are read when it starts; that of the processor costs a system call, and is read
/// again only for what took longer than `exact_from`.
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

    /// What the thread computed in it.
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
