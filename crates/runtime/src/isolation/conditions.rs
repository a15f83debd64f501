//! Additional conditions of a campaign: no scan of page tables, memory pressure.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time between two rounds of paging out, at least.
const PAUSE: Duration = Duration::from_millis(2);

/// The request number of `PAGEMAP_SCAN`.
const PAGEMAP_SCAN: u32 = 0xc060_6610;

/// Fields of `struct seccomp_data`: the number of the system call, and the low half of its second argument.
const NUMBER: u32 = 0;
const SECOND: u32 = 24;

/// Makes the system refuse `PAGEMAP_SCAN` for all threads of this process from now on, as a kernel before 6.7 does.
pub(super) fn refuse_scans() -> io::Result<()> {
    let load =
        |at| libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: at };
    let skip_unless = |value, count| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: count,
        k: value,
    };
    let give = |value| libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: value };
    let ioctl = u32::try_from(libc::SYS_ioctl).map_err(io::Error::other)?;
    let mut filter = [
        load(NUMBER),
        skip_unless(ioctl, 3),
        load(SECOND),
        skip_unless(PAGEMAP_SCAN, 1),
        give(libc::SECCOMP_RET_ERRNO | libc::ENOTTY.cast_unsigned()),
        give(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter is a whole program that lives until the call is over; it takes nothing away but one request.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
                &raw const program,
            ) != 0
    };
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Pages this process' memory out, again and again, until it is dropped.
pub(super) struct Pressure {
    stop: Arc<AtomicBool>,
    rounds: Arc<AtomicU64>,
    /// The most bytes of this process that were swapped out behind a round.
    swapped: Arc<AtomicU64>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Pressure {
    pub(super) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let [rounds, most] = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let (stopped, counted, noted) = (Arc::clone(&stop), Arc::clone(&rounds), Arc::clone(&most));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let began = Instant::now();
                page_out();
                counted.fetch_add(1, Ordering::Relaxed);
                noted.fetch_max(swapped(), Ordering::Relaxed);
                // Requests go on in between: with swap space, paging out takes as long as the disk does.
                thread::sleep(PAUSE.max(4 * began.elapsed()));
            }
        });
        Self { stop, rounds, swapped: most, thread: Some(thread) }
    }

    /// How often everything was paged out.
    pub(super) fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// The most bytes of this process that were swapped out at once. Zero where the system has no swap space.
    pub(super) fn swapped(&self) -> u64 {
        self.swapped.load(Ordering::Relaxed)
    }
}

impl Drop for Pressure {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Asks the system to page out this process's private writable mappings, including guests' memories and images' pages.
/// Without swap space only pages of files go.
fn page_out() {
    for line in fs::read_to_string("/proc/self/maps").unwrap_or_default().lines() {
        let mut fields = line.split(' ');
        let (Some(range), Some("rw-p")) = (fields.next(), fields.next()) else { continue };
        let Some((start, end)) = range.split_once('-') else { continue };
        let address = |text| usize::from_str_radix(text, 16).unwrap_or(0);
        let (start, end) = (address(start), address(end));
        // SAFETY: paging out changes no content of memory; the system reports ranges that are unmapped by now.
        let _ = unsafe { libc::madvise(start as *mut _, end.saturating_sub(start), libc::MADV_PAGEOUT) };
    }
}

/// Bytes of this process that are swapped out.
fn swapped() -> u64 {
    kilobytes("/proc/self/status", "VmSwap:") * 1024
}

/// Bytes of swap space that the system has.
pub(super) fn swap_space() -> u64 {
    kilobytes("/proc/meminfo", "SwapTotal:") * 1024
}

/// A number of kilobytes in a file of the system.
fn kilobytes(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}
