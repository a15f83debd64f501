//! Scans of page tables for written pages: `PAGEMAP_SCAN` (Linux 6.7, Documentation/admin-guide/mm/pagemap.rst).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use crate::per_process::PerProcess;
use crate::region::{Region, page_size};

/// `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: libc::Ioctl = 0xc060_6610_u32 as libc::Ioctl;

/// Categories of pages.
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO: u64 = 1 << 5;

/// Pages to find: in none of the categories `not`, in all of `all`, and in one of `any` unless it is 0.
#[derive(Clone, Copy)]
struct Kind {
    not: u64,
    all: u64,
    any: u64,
}

/// Private pages over zeros. The kernel's page of zeros does not count, because it is there after a mere read. `PAGE_IS_WRITTEN` is
/// not asked for: it is about tracking by userfaultfd, and elsewhere its value may change.
const OVER_ZEROS: Kind = Kind { not: FILE | ZERO, all: 0, any: PRESENT | SWAPPED };

/// Private pages over a file. The page of zeros counts: a read maps the file's page, so zeros come only from the
/// kernel. It merges pages that were overwritten with zeros (KSM with `use_zero_pages`).
const OVER_FILE: Kind = Kind { not: FILE, all: 0, any: PRESENT | SWAPPED };

/// Pages of the mapped file.
const OF_FILE: Kind = Kind { not: 0, all: FILE | PRESENT, any: 0 };

/// Maximum number of runs that one scan finds.
const RUNS: usize = 256;

/// `struct pm_scan_arg`.
#[repr(C)]
struct Arguments {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

/// The descriptor of this process's page tables.
///
/// A descriptor of `/proc/self/pagemap` belongs to the process that opened it. A forked child would scan its parent's
/// pages, and miss those that it wrote itself. So a child opens its own.
struct Pagemap {
    /// The descriptor plus one.
    stored: PerProcess,
}

/// Stored value before the first open.
const CLOSED: i32 = 0;

/// Stored value when the system shows no page tables.
const UNAVAILABLE: i32 = -1;

/// None where a fork cannot be detected.
static PAGEMAP: LazyLock<Option<Pagemap>> =
    LazyLock::new(|| PerProcess::new().map(|stored| Pagemap { stored }).map_err(report).ok());

impl Pagemap {
    /// Returns the descriptor for this process, and opens it on the first call.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let stored = match self.stored.number().load(Ordering::Acquire) {
            CLOSED => self.open(),
            stored => stored,
        };
        // SAFETY: a stored descriptor is never closed.
        (stored != UNAVAILABLE).then(|| unsafe { BorrowedFd::borrow_raw(stored - 1) })
    }

    /// Opens a descriptor and stores it, unless another thread did so first. A child never closes its parent's
    /// descriptor, because the program may have given that number to another file.
    #[cold]
    fn open(&self) -> i32 {
        let opened = File::open("/proc/self/pagemap").map(OwnedFd::from).and_then(|file| {
            if finds_written_pages(file.as_fd())? {
                Ok(file)
            } else {
                Err(io::Error::other("a scan does not find the pages that were written"))
            }
        });
        let opened = opened.map_err(report).ok();
        let stored = opened.as_ref().map_or(UNAVAILABLE, |file| file.as_raw_fd() + 1);
        match self.stored.number().compare_exchange(CLOSED, stored, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                let _ = opened.map(IntoRawFd::into_raw_fd);
                stored
            }
            Err(first) => first,
        }
    }
}

/// Reports whether a scan of three pages finds the one that is written, and not the one that is read.
fn finds_written_pages(pagemap: BorrowedFd<'_>) -> io::Result<bool> {
    let pages = Region::reserve(3 * page_size())?;
    pages.allow(0, 3 * page_size())?;
    let (start, mut found) = (pages.start(), Vec::new());
    // SAFETY: the pages are readable and writable, and nobody else has them.
    unsafe {
        start.add(page_size()).write_volatile(1);
        start.add(2 * page_size()).read_volatile();
    }
    scan_with(pagemap, OVER_ZEROS, start.addr()..start.addr() + 3 * page_size(), |run| found.push(run))?;
    let written = start.addr() + page_size();
    Ok(matches!(found.as_slice(), [run] if *run == (written..written + page_size())))
}

fn report(error: io::Error) {
    tracing::debug!("memories are given back to the system instead of being reset: {error}");
}

pub(crate) fn pagemap() -> Option<BorrowedFd<'static>> {
    PAGEMAP.as_ref()?.descriptor()
}

/// The mapping below the written pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    Zeros,
    File,
}

/// Number of calls of [`written`] in this process and those that it was forked from.
#[cfg(test)]
pub(crate) static SCANS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Calls `found` with each run of pages in a range of addresses that differ from the mapping below, up to `most` bytes.
/// False when there are more, or when the system cannot report them: any page may differ then.
pub(crate) fn written(range: Range<usize>, below: Below, most: usize, mut found: impl FnMut(Range<usize>)) -> bool {
    #[cfg(test)]
    SCANS.fetch_add(1, Ordering::Relaxed);
    let kind = match below {
        Below::Zeros => OVER_ZEROS,
        Below::File => OVER_FILE,
    };
    let Some(pagemap) = pagemap() else { return false };
    let (mut at, mut bytes) = (range.start, 0);
    while at < range.end {
        let scanned = scan_with(pagemap, kind, at..range.end, |run| {
            bytes += run.len();
            if bytes <= most {
                found(run);
            }
        });
        match scanned {
            Ok(end) if end > at && bytes <= most => at = end,
            _ => return false,
        }
    }
    true
}

/// Calls `found` with each run of pages in a range that belong to the mapped file, as far as the system reports them.
pub(crate) fn of_file(range: Range<usize>, mut found: impl FnMut(Range<usize>)) {
    let Some(pagemap) = pagemap() else { return };
    let mut at = range.start;
    while at < range.end {
        match scan_with(pagemap, OF_FILE, at..range.end, &mut found) {
            Ok(end) if end > at => at = end,
            _ => return,
        }
    }
}

/// Runs one scan, and returns the address at which it stopped.
fn scan_with(
    pagemap: BorrowedFd<'_>,
    Kind { not, all, any }: Kind,
    range: Range<usize>,
    mut found: impl FnMut(Range<usize>),
) -> io::Result<usize> {
    let mut runs = [PageRegion::default(); RUNS];
    let mut arguments = Arguments {
        size: size_of::<Arguments>() as u64,
        flags: 0,
        start: range.start as u64,
        end: range.end as u64,
        walk_end: 0,
        vec: runs.as_mut_ptr() as u64,
        vec_len: RUNS as u64,
        max_pages: 0,
        category_inverted: not,
        category_mask: all | not,
        category_anyof_mask: any,
        return_mask: 0,
    };
    // SAFETY: the structure has the layout of the request, and room for as many runs as it says.
    let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN, &raw mut arguments) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    for run in &runs[..count.min(RUNS)] {
        found(usize::try_from(run.start).unwrap_or(0)..usize::try_from(run.end).unwrap_or(0));
    }
    Ok(usize::try_from(arguments.walk_end).unwrap_or(0))
}
