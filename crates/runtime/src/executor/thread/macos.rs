//! macOS: a clock of nanoseconds, and a priority within the class of most threads. A lower class would keep the thread from the
//! quick processors.

use std::io;
use std::time::Duration;

use libc::qos_class_t::QOS_CLASS_DEFAULT;
use rustix::time::{ClockId, clock_gettime};

/// By how much the system prefers the server's own threads, which are at 0.
const BELOW: i32 = -5;

/// The processor time of this thread.
pub(crate) fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Lets the process' other threads run before this one.
pub(crate) fn prefer_others() {
    // SAFETY: it changes this thread only.
    let failed = unsafe { libc::pthread_set_qos_class_self_np(QOS_CLASS_DEFAULT, BELOW) };
    if failed != 0 {
        let error = io::Error::from_raw_os_error(failed);
        tracing::debug!("guests that compute have the server's own priority: {error}");
    }
}
