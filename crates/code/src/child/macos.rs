//! A thread of the child that watches its memory and its parent.
//!
//! macOS has neither a limit of a process's private memory nor a signal when a parent ends. So the thread looks at both many times a
//! second, and ends the process. Between two looks the process can exceed the limit by what it touches in that time.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, Signal, getppid, getrlimit, setrlimit};

use super::NO_MEMORY;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes of memory that this process may have.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// The bond of a child with its parent: the child makes it.
pub(super) struct Tie;

impl Tie {
    #[allow(clippy::unnecessary_wraps, reason = "it may fail on other systems")]
    pub(super) fn to(_: &Child) -> io::Result<Self> {
        Ok(Self)
    }
}

/// Ends this process soon after the one that started it.
pub(super) fn end_with_parent() {
    let parent = getppid();
    let watch = move || {
        loop {
            if getppid() != parent {
                std::process::exit(1);
            }
            if footprint().is_some_and(|bytes| bytes > MOST.load(Ordering::Relaxed)) {
                let _ = writeln!(io::stderr(), "{NO_MEMORY} more than the limit failed");
                std::process::abort();
            }
            thread::sleep(PAUSE);
        }
    };
    if let Err(error) = thread::Builder::new().name("watch".into()).spawn(watch) {
        tracing::error!("the compiler process cannot be watched: {error}");
        // Without the thread there is no limit.
        std::process::exit(1);
    }
}

/// Limits this process from here on. Ends it when its memory cannot be limited; another limit that cannot be set is logged.
pub(super) fn bound(memory: u64, seconds: u64) {
    let Some(used) = footprint() else {
        let _ = writeln!(io::stderr(), "its memory cannot be measured: {}", io::Error::last_os_error());
        std::process::exit(1);
    };
    MOST.store(used.saturating_add(memory), Ordering::Relaxed);
    for (resource, most) in [(Resource::Cpu, seconds), (Resource::Core, 0)] {
        let maximum = getrlimit(resource).maximum;
        let current = Some(maximum.map_or(most, |maximum| most.min(maximum)));
        if let Err(error) = setrlimit(resource, Rlimit { current, maximum }) {
            tracing::warn!("{resource:?} cannot be limited: {error}");
        }
    }
}

/// Returns the private memory of this process, compressed and swapped pages included.
fn footprint() -> Option<u64> {
    // SAFETY: all bits zero are a valid `rusage_info_v2`.
    let mut usage: libc::rusage_info_v2 = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is the one of this flavor, and is this function's.
    let read = unsafe { libc::proc_pid_rusage(libc::getpid(), libc::RUSAGE_INFO_V2, (&raw mut usage).cast()) };
    (read == 0).then_some(usage.ri_phys_footprint)
}

/// Reports whether a process ended because it used up its processor time.
pub(super) fn is_out_of_time(ended: ExitStatus) -> bool {
    ended.signal() == Some(Signal::XCPU.as_raw())
}
