//! Files with the rights of their folder, whose entries NTFS writes to the disk itself.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;

/// Permissions of a new file: it inherits those of its folder.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mode(());

/// Returns the permissions of a file.
pub(super) fn mode_of(_: &Path) -> Option<Mode> {
    None
}

pub(super) fn open(path: &Path, create: bool, _: Mode) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path)
}

pub(super) fn read_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(into, offset)
}

pub(super) fn write_all_at(file: &File, mut from: &[u8], mut offset: u64) -> io::Result<()> {
    while !from.is_empty() {
        let written = file.seek_write(from, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        from = &from[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Does nothing: NTFS keeps a journal of its entries, in which a removed file comes after what was written before.
#[allow(clippy::unnecessary_wraps, reason = "it may fail on other systems")]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
