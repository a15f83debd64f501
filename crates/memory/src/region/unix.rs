//! Mappings without a file.

use std::io;
use std::ptr;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Reserves addresses that cannot be read or written yet.
pub(super) fn reserve(length: usize) -> io::Result<*mut u8> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: the system chooses addresses where nothing is mapped.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), length, ProtFlags::empty(), flags) }?;
    Ok(start.cast())
}

/// Makes addresses readable and writable.
///
/// # Safety
///
/// They are reserved.
pub(super) unsafe fn allow(start: *mut u8, length: usize) -> io::Result<()> {
    // SAFETY: by the caller's promise these addresses are reserved, so nothing else is mapped there.
    Ok(unsafe { mprotect(start.cast(), length, MprotectFlags::READ | MprotectFlags::WRITE) }?)
}

/// Gives the addresses back.
///
/// # Safety
///
/// They are those of one `reserve`, and nobody uses them after this.
pub(super) unsafe fn release(start: *mut u8, length: usize) {
    // SAFETY: by the caller's promise the addresses are one reservation, which nobody uses after this.
    let _ = unsafe { munmap(start.cast(), length) };
}
