//! Initial contents of memories.

use std::fs::File;
use std::io;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use std::os::fd::{AsFd, BorrowedFd};

#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use crate::content::{Content, Pages};
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

    /// Releases the cached pages of the file; they are read again on their next use.
    pub fn release(&self) {
        #[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
        self.content.release();
    }

    /// Reads it all. `into` has its length.
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<()> {
        self.read_at(0, into)
    }

    /// Reads a part of it, from `at` on.
    pub(crate) fn read_at(&self, at: usize, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, into, self.offset + at as u64)
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

#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !into.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, into, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (into, offset) = (&mut into[read..], offset + read as u64),
        }
    }
    Ok(())
}
