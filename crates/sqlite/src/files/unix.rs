//! Files with permissions, in folders that are written to the disk on demand.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Permissions of a new file, less those that the process masks.
#[derive(Clone, Copy)]
pub(crate) struct Mode(pub(crate) u32);

impl Default for Mode {
    /// Returns those of a new database.
    fn default() -> Self {
        Self(0o644)
    }
}

/// Returns the permissions of a file.
pub(super) fn mode_of(path: &Path) -> Option<Mode> {
    Some(Mode(path.metadata().ok()?.mode() & 0o777))
}

pub(super) fn open(path: &Path, create: bool, Mode(mode): Mode) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(create).truncate(false).mode(mode).open(path)
}

pub(super) fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(into, offset)
}

pub(super) fn write_all_at(file: &File, from: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(from, offset)
}

/// Writes the entries of a file's folder to the disk, so that a new journal survives a crash, and a removed one does not.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
