//! Linux: a clock of nanoseconds, and a nice value.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// By how much the system prefers the server's own threads.
const NICE: i32 = 5;

/// The processor time of this thread.
pub(crate) fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Lets the process' other threads run before this one.
pub(crate) fn prefer_others() {
    let own = rustix::process::getpriority_process(None);
    let less = own.and_then(|own| rustix::process::setpriority_process(None, own.saturating_add(NICE)));
    if let Err(error) = less {
        tracing::debug!("guests that compute have the server's own priority: {error}");
    }
}
