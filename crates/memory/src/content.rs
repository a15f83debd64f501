//! Cache of an image's pages, for restoring.
//!
//! A request writes to a few hundred of an image's thousands of pages, and the next one mostly to the same. Copying
//! from a mapping of the file would make all of it resident, because the system also maps neighboring pages. So each
//! page is read on its first use, and kept.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use crate::region::{Region, page_size};

/// Bytes of a file, read page by page on first use.
pub(crate) struct Content {
    pages: Region,
    /// For each page, true after it was read.
    read: Vec<AtomicBool>,
    /// Held while a page of the file is read.
    reading: Mutex<()>,
    /// Held for reading while pages are copied, and for writing while they are released.
    used: RwLock<()>,
}

/// Access to the content, which prevents its release.
pub(crate) struct Pages<'a> {
    content: &'a Content,
    file: &'a File,
    offset: u64,
    _used: RwLockReadGuard<'a, ()>,
}

impl Content {
    /// Reserves room for `length` bytes, a multiple of a page.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        let pages = Region::reserve(length)?;
        pages.allow(0, length)?;
        let read = (0..length / page_size()).map(|_| AtomicBool::new(false)).collect();
        Ok(Self { pages, read, reading: Mutex::default(), used: RwLock::default() })
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.length()
    }

    /// Grants access to the content, which is `file` from `offset` on.
    pub(crate) fn of<'a>(&'a self, file: &'a File, offset: u64) -> Pages<'a> {
        Pages { content: self, file, offset, _used: self.used.read().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Releases the pages; they are read again on their next use.
    pub(crate) fn release(&self) {
        let _alone = self.used.write().unwrap_or_else(PoisonError::into_inner);
        for read in &self.read {
            read.store(false, Ordering::Relaxed);
        }
        // SAFETY: the exclusive lock is held, so nobody uses the pages.
        if let Err(error) = unsafe { self.pages.give_back(0, self.pages.length()) } {
            tracing::debug!("the memory of an image cannot be released: {error}");
        }
    }
}

impl Pages<'_> {
    pub(crate) fn len(&self) -> usize {
        self.content.len()
    }

    /// Copies bytes of the content, from `at` on.
    pub(crate) fn copy(&self, at: usize, into: &mut [u8]) -> io::Result<()> {
        into.copy_from_slice(self.bytes(at..at + into.len())?);
        Ok(())
    }

    /// Returns whether `bytes` equals the content from `at` on.
    pub(crate) fn equals(&self, at: usize, bytes: &[u8]) -> io::Result<bool> {
        Ok(self.bytes(at..at + bytes.len())? == bytes)
    }

    fn bytes(&self, range: Range<usize>) -> io::Result<&[u8]> {
        assert!(range.end <= self.len());
        for index in range.start / page_size()..range.end.div_ceil(page_size()) {
            if !self.content.read[index].load(Ordering::Acquire) {
                self.read(index)?;
            }
        }
        // SAFETY: the range is within the region. Its pages were read, and are not written to while this value lives.
        Ok(unsafe { std::slice::from_raw_parts(self.content.pages.start().add(range.start), range.len()) })
    }

    #[cold]
    fn read(&self, index: usize) -> io::Result<()> {
        let _reading = self.content.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let read = &self.content.read[index];
        if read.load(Ordering::Relaxed) {
            return Ok(());
        }
        // SAFETY: the page is within the region and nobody else uses it: the lock for reading pages is held, and only
        // pages that were read are copied.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(self.content.pages.start().add(index * page_size()), page_size()) };
        self.file.read_exact_at(bytes, self.offset + (index * page_size()) as u64)?;
        read.store(true, Ordering::Release);
        Ok(())
    }
}
