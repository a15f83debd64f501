//! Address space that this crate has reserved.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};

/// Bytes of a page. Where the system's are larger, mapping fails and modules say so.
pub(crate) const PAGE: usize = 4096;

/// A mapping, which ends with this value.
pub(crate) struct Region {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: it is a range of addresses; who reads and writes there is up to those who hold it.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Addresses that nothing can be read from or written to yet.
    pub(crate) fn reserve(length: usize) -> io::Result<Self> {
        // SAFETY: the system chooses a place where nothing is mapped.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::PRIVATE | MapFlags::NORESERVE)
        }?;
        // A mapping never starts at 0 unless that is asked for.
        let region = Self { start: NonNull::new(start.cast()).unwrap_or(NonNull::dangling()), length };
        region.keep_pages_small(0, length);
        Ok(region)
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Maps a file, whose pages are copied when they are written to, over part of the region.
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
        // SAFETY: the part is within the region, which is this value's; nobody uses it.
        unsafe { mmap(self.start().add(at).cast(), length, ProtFlags::READ | ProtFlags::WRITE, flags, file, offset) }?;
        Ok(())
    }

    /// Maps nothing over part of the region: it is zero, and can be read from and written to when it is `accessible`.
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
        // SAFETY: the part is within the region, which is this value's; nobody uses it.
        unsafe { mmap_anonymous(self.start().add(at).cast(), length, protection, flags) }?;
        self.keep_pages_small(at, length);
        Ok(())
    }

    /// Sees to it that one byte that is written makes one page resident and not, where the system is set so, 512 of them.
    fn keep_pages_small(&self, at: usize, length: usize) {
        // SAFETY: the part is within the region; this changes how it is backed and not what it holds. Where the system
        // has no huge pages, it fails.
        let _ = unsafe { madvise(self.start().add(at).cast(), length, Advice::LinuxNoHugepage) };
    }

    /// Makes part of the region one that can be read from and written to, or one that cannot.
    pub(crate) fn protect(&self, at: usize, length: usize, accessible: bool) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        let flags = if accessible { MprotectFlags::READ | MprotectFlags::WRITE } else { MprotectFlags::empty() };
        // SAFETY: the part is within the region. What can no longer be accessed is what its owner gives up.
        unsafe { mprotect(self.start().add(at).cast(), length, flags) }?;
        Ok(())
    }

    /// Makes the whole region zero in a process that this one forks.
    pub(crate) fn wipe_on_fork(&self) -> io::Result<()> {
        // SAFETY: the region is this value's; nothing changes in this process.
        unsafe { madvise(self.start().cast(), self.length, Advice::LinuxWipeOnFork) }?;
        Ok(())
    }

    /// Gives back to the system what was written to part of the region, which then is what is mapped there.
    ///
    /// # Safety
    ///
    /// Nobody uses that part.
    pub(crate) unsafe fn give_back(&self, at: usize, length: usize) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the part is within the region, which is this value's; nobody uses it.
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
