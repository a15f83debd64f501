//! Windows: a clock that advances with the system's timer, by up to 16 ms at a time, and a priority class.

use std::io;
use std::time::Duration;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{
    GetCurrentThread, GetThreadTimes, SetThreadPriority, THREAD_PRIORITY_BELOW_NORMAL,
};

/// The processor time of this thread.
pub(crate) fn processor_time() -> Duration {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the handle is this thread's, and the times are this function's.
    let read = unsafe { GetThreadTimes(GetCurrentThread(), created, ended, kernel, user) };
    if read == 0 { Duration::ZERO } else { duration(times[2]) + duration(times[3]) }
}

/// A duration in units of 100 ns.
fn duration(time: FILETIME) -> Duration {
    let ticks = (u64::from(time.dwHighDateTime) << 32) | u64::from(time.dwLowDateTime);
    Duration::from_micros(ticks / 10) + Duration::from_nanos(ticks % 10 * 100)
}

/// Lets the process' other threads run before this one.
pub(crate) fn prefer_others() {
    // SAFETY: the handle is this thread's.
    if unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL) } == 0 {
        let error = io::Error::last_os_error();
        tracing::debug!("guests that compute have the server's own priority: {error}");
    }
}
