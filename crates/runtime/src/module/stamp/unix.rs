//! Inode and time of change.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The identity of a file's content. Another file, and one that was written to, has another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = std::fs::metadata(path)?;
        let changed = (found.ctime(), found.ctime_nsec());
        Ok(Self { device: found.dev(), inode: found.ino(), size: found.size(), changed })
    }
}
