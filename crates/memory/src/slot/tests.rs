//! Tests of resets that know by the count of page faults which pages were written.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::*;
use crate::running::{has_scans, in_a_child};
use crate::scan::SCANS;

const PAGES: usize = 32;

/// Makes a slot whose memory has an image in its second quarter.
fn slot() -> (Slot, Arc<Image>) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&vec![5; PAGES / 4 * page_size()]).unwrap();
    // SAFETY: the file has no name, and this process no longer writes to it.
    let image = unsafe {
        Image::of_file(
            file,
            0,
            PAGES / 4 * page_size(),
            PAGES / 4 * page_size(),
            PAGES * page_size(),
            PAGES * page_size(),
        )
    };
    let (mut slot, image) = (Slot::new(2 * PAGES * page_size()).unwrap(), Arc::new(image.unwrap()));
    // SAFETY: the slot is new.
    unsafe { slot.prepare(Some(&image), PAGES * page_size()).unwrap() };
    (slot, image)
}

fn write(slot: &Slot, page: usize, byte: u8) {
    assert!((page + 1) * page_size() <= slot.accessible);
    // SAFETY: the page is accessible, and nobody else uses it.
    unsafe { slot.start().add(page * page_size() + 7).write_volatile(byte) };
}

fn read(slot: &Slot, page: usize) -> u8 {
    // SAFETY: the page is accessible, and nobody else writes to it.
    unsafe { slot.start().add(page * page_size() + 7).read_volatile() }
}

fn reset(slot: &mut Slot) {
    // SAFETY: nobody uses the slot.
    unsafe { slot.reset().unwrap() };
}

/// Requires the content that a new memory has.
fn require_fresh(slot: &Slot) {
    for page in 0..slot.accessible / page_size() {
        let fresh = if (PAGES / 4..PAGES / 2).contains(&page) { 5 } else { 0 };
        assert_eq!(read(slot, page), fresh, "page {page}");
    }
}

/// Counts the resets that scan among `resets` ones, each behind `request`.
fn scans(slot: &mut Slot, resets: u32, mut request: impl FnMut(&Slot, u32)) -> u32 {
    let mut scans = 0;
    for number in 0..resets {
        request(slot, number);
        let before = SCANS.load(Ordering::Relaxed);
        reset(slot);
        scans += u32::from(SCANS.load(Ordering::Relaxed) != before);
        require_fresh(slot);
    }
    scans
}

#[test]
fn a_reset_scans_only_behind_page_faults() {
    if !has_scans() {
        return;
    }
    let (mut slot, _image) = slot();
    in_a_child(|| {
        let same = |slot: &Slot, _| [0, 9, 31].iter().for_each(|page| write(slot, *page, 1));
        // The first requests fault, also on what the test itself uses first.
        scans(&mut slot, 3 * LOOK, same);
        assert_eq!(scans(&mut slot, 10 * LOOK, same), 10, "only looks scan");
        // A page that was not written before.
        let other = |slot: &Slot, number: u32| write(slot, number as usize % PAGES, 1);
        assert!(scans(&mut slot, 10, other) >= 7);
        // Pages that were read only are not the slot's own.
        scans(&mut slot, LOOK, |slot, _| drop((0..PAGES).map(|page| read(slot, page)).collect::<Vec<_>>()));
        write(&slot, 20, 1);
        reset(&mut slot);
        require_fresh(&slot);
    });
}

/// A memory may grow to pages that are an earlier memory's: writing to them is no page fault.
#[test]
fn pages_that_a_smaller_memory_grows_to_are_reset() {
    let mut slot = Slot::new(2 * PAGES * page_size()).unwrap();
    in_a_child(|| {
        for _ in 0..3 * LOOK {
            // SAFETY: the slot is new, or was reset.
            unsafe { slot.prepare(None, PAGES * page_size()).unwrap() };
            assert_eq!(read(&slot, PAGES - 1), 0);
            write(&slot, PAGES - 1, 1);
            reset(&mut slot);
            for _ in 0..3 {
                // SAFETY: the slot was reset.
                unsafe { slot.prepare(None, PAGES / 2 * page_size()).unwrap() };
                write(&slot, 0, 1);
                reset(&mut slot);
            }
            slot.grow(PAGES * page_size()).unwrap();
            write(&slot, PAGES - 1, 1);
            reset(&mut slot);
        }
    });
}

/// A system may fail to count a page fault. A look finds the page then, and all slots scan from then on.
#[test]
fn a_page_that_no_fault_has_shown_ends_the_trust_in_them() {
    if !has_scans() {
        return;
    }
    let (mut slot, _image) = slot();
    in_a_child(|| {
        scans(&mut slot, LOOK, |slot, _| write(slot, 3, 1));
        assert!(slot.written.faults.is_some());
        let mut left_over = 0;
        for _ in 0..LOOK {
            write(&slot, 3, 1);
            slot.written.runs.clear();
            reset(&mut slot);
            left_over += u32::from(read(&slot, 3) != 0);
        }
        assert!(left_over > 0, "without its run, the page is not restored");
        assert_eq!(Faults::now(), None);
        assert_eq!(scans(&mut slot, LOOK, |slot, _| write(slot, 3, 1)), LOOK);
    });
}

/// The system may make a part of the pages accessible before it refuses the others. A child has pages that differ enough for that.
#[test]
fn pages_that_a_memory_could_not_grow_to_stay_inaccessible() {
    let mut slot = Slot::new(1024 * page_size()).unwrap();
    // SAFETY: the slot is new.
    unsafe { slot.prepare(None, 100 * page_size()).unwrap() };
    (0..100).for_each(|page| write(&slot, page, 1));
    in_a_child(|| {
        reset(&mut slot);
        // SAFETY: the slot was reset.
        unsafe { slot.prepare(None, page_size()).unwrap() };
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let data = status.lines().find_map(|line| line.strip_prefix("VmData:")?.strip_suffix("kB")).unwrap();
        let enough = 1024 * data.trim().parse::<u64>().unwrap() + 200 * page_size() as u64;
        let limited = libc::rlimit { rlim_cur: enough, rlim_max: libc::RLIM_INFINITY };
        let unlimited = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, ..limited };
        // SAFETY: the structure is this function's.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limited) }, 0);
        let mut kept = unlimited;
        // SAFETY: the structure is this function's.
        assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_DATA, &raw mut kept) }, 0);
        if kept.rlim_cur != enough {
            writeln!(std::io::stderr(), "skipped: the system, such as qemu, ignores RLIMIT_DATA").unwrap();
            return;
        }
        assert!(slot.grow(1024 * page_size()).is_err());
        // SAFETY: the structure is this function's, and the call only reads it.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const unlimited) }, 0);
        let (start, end) = (slot.start().addr() + page_size(), slot.start().addr() + 1024 * page_size());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let writable = maps.lines().filter(|line| {
            let mut addresses = line.split([' ', '-']).map(|part| usize::from_str_radix(part, 16).unwrap_or(0));
            let (from, to) = (addresses.next().unwrap(), addresses.next().unwrap());
            from < end && to > start && line.contains(" rw")
        });
        assert_eq!(writable.collect::<Vec<_>>(), [""; 0]);
    });
}
