//! Reserved address space.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};

/// Bytes of a page. Where the system's pages are larger, mapping fails and loading a module reports that.
pub(crate) const PAGE: usize = 4096;

/// A mapping, which is unmapped when this value is dropped.
pub(crate) struct Region {
    start: NonNull<u8>,
    length: usize,
    /// False once the system may make huge pages of its zeros.
    has_small_pages: AtomicBool,
}

// SAFETY: it is a range of addresses; its owners decide who reads and writes there.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves addresses that cannot be read or written yet.
    pub(crate) fn reserve(length: usize) -> io::Result<Self> {
        // SAFETY: the system chooses addresses where nothing is mapped.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
        }?;
        // A mapping never starts at 0 unless the caller asks for it.
        let start = NonNull::new(start.cast()).unwrap_or(NonNull::dangling());
        let region = Self { start, length, has_small_pages: AtomicBool::new(true) };
        region.keep_pages_small(0, length);
        Ok(region)
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

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
    fn keep_pages_small(&self, at: usize, length: usize) {
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

    /// Makes part of the region readable and writable.
    pub(crate) fn allow(&self, at: usize, length: usize) -> io::Result<()> {
        // SAFETY: this takes nothing away from those who use the part.
        unsafe { self.protect(at, length, MprotectFlags::READ | MprotectFlags::WRITE) }
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

    /// Sets the protection of part of the region.
    ///
    /// # Safety
    ///
    /// Nobody uses that part in a way that the new protection forbids.
    unsafe fn protect(&self, at: usize, length: usize, flags: MprotectFlags) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the part is within the region, which this value owns. The caller promises the rest.
        unsafe { mprotect(self.start().add(at).cast(), length, flags) }?;
        Ok(())
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

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nobody uses it after this.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
