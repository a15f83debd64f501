//! Windows cannot map a file into the middle of an instance's memory. So databases have rollback journals there
//! ([`JOURNAL_MODE`](crate::JOURNAL_MODE)), and one that has a write-ahead log cannot be opened.

use std::path::Path;

use crate::codes;
use crate::files::Mode;

/// Memory that all connections share: there is none.
pub(crate) enum SharedMemory {}

impl SharedMemory {
    pub(crate) fn open(path: &Path, _: Mode) -> Result<Self, i32> {
        tracing::warn!("a database with a write-ahead log cannot be opened on Windows: {}", path.display());
        Err(codes::IOERR_SHMOPEN)
    }

    /// # Safety
    ///
    /// None is needed.
    pub(crate) unsafe fn map(&mut self, _: usize, _: *mut u8, _: bool) -> Result<(), i32> {
        match *self {}
    }

    pub(crate) fn unmap(&mut self, _: bool) -> Result<(), i32> {
        match *self {}
    }

    pub(crate) fn lock(&self, _: i32, _: i32, _: i32) -> i32 {
        match *self {}
    }
}
