//! Job objects: one of the parent's, whose end ends the child, and one of the child's own with its limits.

use std::io::{self, Write};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::process::{Child, ExitStatus};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_NOT_ENOUGH_QUOTA, HANDLE};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT, JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION,
    JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOB_OBJECT_LIMIT_PROCESS_TIME,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Units of a processor time limit in a second: 100 ns each.
const TICKS: u64 = 10_000_000;

/// The bond of a child with its parent: the system ends the child when this is dropped, or the parent ends.
pub(super) struct Tie(#[allow(dead_code, reason = "the job ends when it is dropped")] OwnedHandle);

impl Tie {
    pub(super) fn to(child: &Child) -> io::Result<Self> {
        let limits = limits(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE);
        Ok(Self(job(child.as_raw_handle(), &limits)?))
    }
}

/// Does nothing, because the parent's job ends this process.
pub(super) fn end_with_parent() {}

/// Limits this process from here on. Ends it when that is not possible.
pub(super) fn bound(memory: u64, seconds: u64) {
    let flags =
        JOB_OBJECT_LIMIT_PROCESS_MEMORY | JOB_OBJECT_LIMIT_PROCESS_TIME | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    let mut limits = limits(flags);
    let most = committed().unwrap_or_default().saturating_add(memory);
    limits.ProcessMemoryLimit = usize::try_from(most).unwrap_or(usize::MAX);
    limits.BasicLimitInformation.PerProcessUserTimeLimit =
        i64::try_from(seconds.saturating_mul(TICKS)).unwrap_or(i64::MAX);
    // SAFETY: it only returns a constant, the handle of this process.
    match job(unsafe { GetCurrentProcess() }, &limits) {
        // The job lasts as long as its process.
        Ok(job) => drop(job),
        Err(error) => {
            let _ = writeln!(io::stderr(), "its memory and processor time cannot be limited: {error}");
            std::process::exit(1);
        }
    }
}

fn limits(flags: JOB_OBJECT_LIMIT) -> JOBOBJECT_EXTENDED_LIMIT_INFORMATION {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = flags;
    limits
}

/// Puts a process into a new job.
fn job(process: HANDLE, limits: &JOBOBJECT_EXTENDED_LIMIT_INFORMATION) -> io::Result<OwnedHandle> {
    // SAFETY: both arguments may be null.
    let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was just made, and belongs to nobody else.
    let job = unsafe { OwnedHandle::from_raw_handle(job) };
    let handle = job.as_raw_handle();
    // SAFETY: the structure is the one of this class, and has its size.
    let set = unsafe {
        let bytes = size_of_val(limits) as u32;
        SetInformationJobObject(handle, JobObjectExtendedLimitInformation, ptr::from_ref(limits).cast(), bytes)
    };
    // SAFETY: both handles are open.
    if set == 0 || unsafe { AssignProcessToJobObject(handle, process) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(job)
}

/// Returns the memory that the system has promised to this process, which the limit counts.
fn committed() -> Option<u64> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let bytes = size_of_val(&counters) as u32;
    // SAFETY: the structure is this function's, and has this size.
    let read = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut counters, bytes) };
    (read != 0).then_some(counters.PagefileUsage as u64)
}

/// Reports whether a process ended because it used up its processor time.
pub(super) fn is_out_of_time(ended: ExitStatus) -> bool {
    ended.code() == Some(ERROR_NOT_ENOUGH_QUOTA.cast_signed())
}
