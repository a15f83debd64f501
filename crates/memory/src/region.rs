//! Reserved address space.

#[cfg(unix)]
#[path = "region/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "region/windows.rs"]
mod system;

use std::io;
use std::ptr::NonNull;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use std::sync::atomic::AtomicBool;

#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use rustix::mm::{MprotectFlags, mprotect};

/// Bytes of the largest page of any system.
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
pub(crate) const LARGEST_PAGE: usize = 64 * 1024;

/// Returns the bytes of a page of this system.
#[cfg(any(target_arch = "x86_64", windows))]
pub(crate) const fn page_size() -> usize {
    4096
}

/// Returns the bytes of a page of this system: 4, 16 or 64 KiB.
#[cfg(not(any(target_arch = "x86_64", windows)))]
#[inline]
pub(crate) fn page_size() -> usize {
    rustix::param::page_size()
}

/// A mapping, which is unmapped when this value is dropped.
pub(crate) struct Region {
    start: NonNull<u8>,
    pub(super) length: usize,
    /// False once the system may make huge pages of its zeros.
    #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
    pub(super) has_small_pages: AtomicBool,
}

// SAFETY: it is a range of addresses; its owners decide who reads and writes there.
unsafe impl Send for Region {}
// SAFETY: the methods with `&self` read no memory of the range; those that change its mapping are unsafe or only add rights.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves addresses that cannot be read or written yet.
    pub(crate) fn reserve(length: usize) -> io::Result<Self> {
        let start = system::reserve(length)?;
        // A mapping never starts at 0 unless the caller asks for it.
        let start = NonNull::new(start).unwrap_or(NonNull::dangling());
        let region = Self {
            start,
            length,
            #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
            has_small_pages: AtomicBool::new(true),
        };
        #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
        region.keep_pages_small(0, length);
        Ok(region)
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Makes part of the region readable and writable.
    pub(crate) fn allow(&self, at: usize, length: usize) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the part is within the region, which this value owns, and nothing is taken away from those who use it.
        unsafe { system::allow(self.start().add(at), length) }
    }

    /// Sets the protection of part of the region.
    ///
    /// # Safety
    ///
    /// Nobody uses that part in a way that the new protection forbids.
    #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
    pub(super) unsafe fn protect(&self, at: usize, length: usize, flags: MprotectFlags) -> io::Result<()> {
        assert!(at.checked_add(length).is_some_and(|end| end <= self.length));
        if length == 0 {
            return Ok(());
        }
        // SAFETY: the part is within the region, which this value owns. The caller promises the rest.
        unsafe { mprotect(self.start().add(at).cast(), length, flags) }?;
        Ok(())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nobody uses it after this.
        unsafe { system::release(self.start(), self.length) };
    }
}
