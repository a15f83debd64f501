//! Initial contents of memories.

use std::fs::File;
use std::io;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use crate::content::{Content, Pages};
use crate::original::{Bytes, Original, read_exact_at};
use crate::region::page_size;

/// The content of a memory when its instance starts: bytes of a file at one address, and zeros everywhere else.
pub struct Image {
    file: File,
    offset: u64,
    /// Address of the first byte, and the size of the memory.
    start: usize,
    size: usize,
    /// Initial size that the module declares. Modules that share code may start with larger memories than it declares.
    declared: usize,
    length: usize,
    original: Original,
    #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
    content: Content,
}

impl Image {
    /// Opens the image in `file` from `offset` on, `length` bytes, all multiples of the system's page. It is at the address `start`
    /// of a memory of `size` bytes. The module declares a memory of `declared` bytes, at most `size`.
    ///
    /// # Errors
    ///
    /// An I/O error, when the file cannot be read; `InvalidInput` when the numbers do not fit each other or the file.
    ///
    /// # Safety
    ///
    /// Nobody writes to the file or truncates it while the image, or a memory that starts with it, lives.
    pub unsafe fn of_file(
        file: File,
        offset: u64,
        length: usize,
        start: usize,
        size: usize,
        declared: usize,
    ) -> io::Result<Self> {
        let aligned = offset.is_multiple_of(page_size() as u64)
            && [length, start, size].iter().all(|n| n.is_multiple_of(page_size()));
        let fits = declared <= size && start.checked_add(length).is_some_and(|end| end <= size);
        let is_there =
            offset.checked_add(length as u64).is_some_and(|end| file.metadata().is_ok_and(|file| end <= file.len()));
        if !aligned || !fits || !is_there || length == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the image does not fit"));
        }
        Ok(Self {
            file,
            offset,
            start,
            size,
            declared,
            length,
            original: Original::default(),
            #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
            content: Content::new(length)?,
        })
    }

    /// Returns the size in bytes of the memory that starts with this image.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the initial size in bytes that the module declares. Memories with this image have more: [`Self::size`].
    #[must_use]
    pub fn declared(&self) -> usize {
        self.declared
    }

    /// Releases the bytes of the file that are kept in memory; they are read again on their next use.
    pub fn release(&self) {
        self.original.release();
        #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
        self.content.release();
    }

    /// Reads it all. `into` has its length.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, into, self.offset)
    }

    /// Returns all its bytes. They stay in memory until [`Image::release`].
    pub(crate) fn bytes(&self) -> io::Result<Arc<Bytes>> {
        self.original.of(&self.file, self.offset, self.length)
    }

    #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
    pub(crate) fn file(&self) -> (BorrowedFd<'_>, u64) {
        (self.file.as_fd(), self.offset)
    }

    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Returns its length in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
    pub(crate) fn content(&self) -> Pages<'_> {
        self.content.of(&self.file, self.offset)
    }
}
