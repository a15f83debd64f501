//! Reserved address space, as only Linux can change it.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous};

use crate::region::Region;

impl Region {
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Maps a file copy-on-write over part of the region.
    ///
    /// # Safety
    ///
    /// Nobody uses that part.
    pub(crate) unsafe fn map_file(
        &self,
        at: usize,
        length: usize,
        file: BorrowedFd<'_>,
        offset: u64,
    ) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: the part is within the region, which this value owns. The caller promises that nobody uses it.
        unsafe { mmap(self.start().add(at).cast(), length, ProtFlags::READ | ProtFlags::WRITE, flags, file, offset) }?;
        Ok(())
    }

    /// Maps zeros over part of the region, which is readable and writable if `accessible`.
    ///
    /// # Safety
    ///
    /// Nobody uses that part.
    pub(crate) unsafe fn map_zeros(&self, at: usize, length: usize, accessible: bool) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        let protection = if accessible { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::empty() };
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: the part is within the region, which this value owns. The caller promises that nobody uses it.
        unsafe { mmap_anonymous(self.start().add(at).cast(), length, protection, flags) }?;
        self.keep_pages_small(at, length);
        Ok(())
    }

    /// Disables huge pages, so that one written byte makes one page resident instead of 512.
    pub(super) fn keep_pages_small(&self, at: usize, length: usize) {
        // SAFETY: the part is within the region. The call changes the size of its pages and not their content.
        let kept = unsafe { madvise(self.start().add(at).cast(), length, Advice::LinuxNoHugepage) };
        // The system has no huge pages when it does not know the advice.
        if kept.is_err_and(|error| error != rustix::io::Errno::INVAL) {
            self.has_small_pages.store(false, Ordering::Relaxed);
        }
    }

    /// Reports whether the system makes no huge pages of its zeros. Writing to a page that became part of one is no page fault.
    pub(crate) fn has_small_pages(&self) -> bool {
        self.has_small_pages.load(Ordering::Relaxed)
    }

    /// Makes part of the region inaccessible.
    ///
    /// # Safety
    ///
    /// Nobody uses that part.
    pub(crate) unsafe fn deny(&self, at: usize, length: usize) -> io::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.protect(at, length, MprotectFlags::empty()) }
    }

    /// Makes the whole region zero in forked processes.
    pub(crate) fn wipe_on_fork(&self) -> io::Result<()> {
        // SAFETY: the region is this value's; nothing changes in this process.
        unsafe { madvise(self.start().cast(), self.length, Advice::LinuxWipeOnFork) }?;
        Ok(())
    }

    /// Drops the written pages of part of the region, which then has the content of its mapping.
    ///
    /// # Safety
    ///
    /// Nobody uses that part.
    pub(crate) unsafe fn give_back(&self, at: usize, length: usize) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the part is within the region, which this value owns. The caller promises that nobody uses it.
        unsafe { madvise(self.start().add(at).cast(), length, Advice::LinuxDontNeed) }?;
        Ok(())
    }
}
