//! Reserved addresses, whose memory is committed when it is made accessible.

use std::io;
use std::ptr;

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

/// Reserves addresses that cannot be read or written yet.
pub(super) fn reserve(length: usize) -> io::Result<*mut u8> {
    // SAFETY: the system chooses addresses where nothing is.
    let start = unsafe { VirtualAlloc(ptr::null(), length, MEM_RESERVE, PAGE_NOACCESS) };
    if start.is_null() { Err(io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// Makes addresses readable and writable.
///
/// # Safety
///
/// They are reserved.
pub(super) unsafe fn allow(start: *mut u8, length: usize) -> io::Result<()> {
    // SAFETY: by the caller's promise these addresses are reserved, so nothing else is allocated there.
    let allowed = unsafe { VirtualAlloc(start.cast(), length, MEM_COMMIT, PAGE_READWRITE) };
    if allowed.is_null() { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives the addresses back.
///
/// # Safety
///
/// They are those of one `reserve`, and nobody uses them after this.
pub(super) unsafe fn release(start: *mut u8, _: usize) {
    // SAFETY: by the caller's promise the addresses are one reservation, which nobody uses after this.
    unsafe { VirtualFree(start.cast(), 0, MEM_RELEASE) };
}
