//! Resource limits, and a signal when the parent ends.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

/// The bond of a child with its parent: the child makes it.
pub(super) struct Tie;

impl Tie {
    #[allow(clippy::unnecessary_wraps, reason = "it may fail on other systems")]
    pub(super) fn to(_: &Child) -> io::Result<Self> {
        Ok(Self)
    }
}

/// Makes the system kill this process when the thread that started it ends.
pub(super) fn end_with_parent() {
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
        tracing::warn!("the compiler process outlives its parent: {error}");
    }
}

/// Limits this process from here on. A limit that cannot be set is logged.
pub(super) fn bound(memory: u64, seconds: u64) {
    let used = data_bytes().unwrap_or_default();
    for (resource, most) in
        [(Resource::Data, used.saturating_add(memory)), (Resource::Cpu, seconds), (Resource::Core, 0)]
    {
        let maximum = getrlimit(resource).maximum;
        let current = Some(maximum.map_or(most, |maximum| most.min(maximum)));
        if let Err(error) = setrlimit(resource, Rlimit { current, maximum }) {
            tracing::warn!("{resource:?} cannot be limited: {error}");
        }
    }
}

/// Returns the writable private memory of this process, which `RLIMIT_DATA` counts (`proc_pid_status(5)`).
fn data_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Reports whether a process ended because it used up its processor time.
pub(super) fn is_out_of_time(ended: ExitStatus) -> bool {
    ended.signal() == Some(Signal::XCPU.as_raw())
}
