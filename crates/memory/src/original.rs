//! Copy of an image's bytes, with which portable memories are compared.
//!
//! All memories of the image share it. A mapping of the file would be shared with the system's cache as well, but Windows neither
//! replaces nor removes a file that is mapped.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use crate::region::Region;

/// The bytes of an image, read on first use.
#[derive(Default)]
pub(crate) struct Original(Mutex<Option<Arc<Bytes>>>);

/// Bytes that start at a page, as those of a memory do: comparing is fastest so.
pub(crate) struct Bytes {
    region: Region,
    length: usize,
}

impl Original {
    /// Returns the bytes, which are `length` bytes of `file` from `offset` on.
    pub(crate) fn of(&self, file: &File, offset: u64, length: usize) -> io::Result<Arc<Bytes>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = &*kept {
            return Ok(Arc::clone(bytes));
        }
        Ok(Arc::clone(kept.insert(Arc::new(Bytes::read(file, offset, length)?))))
    }

    /// Drops the bytes; they are read again on their next use.
    pub(crate) fn release(&self) {
        // Unmapped outside the lock.
        let released = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(released);
    }
}

impl Bytes {
    fn read(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let region = Region::reserve(length)?;
        region.allow(0, length)?;
        // SAFETY: the region is readable and writable, and nobody else has it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(region.start(), length) };
        read_exact_at(file, bytes, offset)?;
        Ok(Self { region, length })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the region is readable as long as this value lives, and nobody writes to it any more.
        unsafe { std::slice::from_raw_parts(self.region.start(), self.length) }
    }
}

/// Reads bytes of a file without moving its position.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

/// Reads bytes of a file.
#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !into.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, into, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (into, offset) = (&mut into[read..], offset + read as u64),
        }
    }
    Ok(())
}
