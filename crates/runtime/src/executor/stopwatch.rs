//! The computing time of a thread, without the time that the system gives to other threads.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::executor::thread::processor_time;

/// A reading of both clocks that is not older than this stands for a new one.
const FRESH: Duration = Duration::from_millis(1);

thread_local! {
    /// The last readings of both clocks on this thread.
    static READ: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

/// Measures the computing time of this thread. The processor's clock costs a system call. So it is read at the end only after
/// `exact_from` has passed, and at the start only when the last reading is not [`FRESH`]. The thread may have waited since that
/// reading, so the result may be too low by this much.
pub(crate) struct Stopwatch {
    began: Instant,
    used: Duration,
    exact_from: Duration,
}

impl Stopwatch {
    pub(crate) fn start(exact_from: Duration) -> Self {
        let began = Instant::now();
        let fresh = READ.get().map(|(at, used)| (began.saturating_duration_since(at), used));
        let used = match fresh.filter(|(age, _)| *age < FRESH) {
            Some((age, used)) => used + age,
            None => {
                let used = processor_time();
                READ.set(Some((began, used)));
                used
            }
        };
        Self { began, used, exact_from }
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

/// Whole nanoseconds.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
