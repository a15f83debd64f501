//! Owners and modes.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Opened, trusted_path};
use crate::private::Private;

/// Makes the folder, and checks it. In or below a shared folder of root's, this user gets a private one.
///
/// # Errors
///
/// When it cannot be made, or another user may write to it.
pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let denied = |reason| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    let resolved = trusted_path::resolve(path)?;
    let path = resolved.folder;
    if let Some(below) = resolved.below {
        return Ok(private(Private::open(&path, &below)?));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    let metadata = fs::symlink_metadata(&path)?;
    if !metadata.is_dir() || !is_trusted_owner(&metadata) {
        return denied("it is not a folder of this user or root");
    }
    if trusted_path::is_shared(&metadata) {
        return Ok(private(Private::open(&path, &[])?));
    }
    // Another user with write access may have planted code.
    if metadata.mode() & 0o022 != 0 {
        return denied("others may write to it; remove it or chmod 700 it");
    }
    // Read access of others does no harm, nor does a read-only file system.
    if metadata.mode() & 0o055 != 0 && metadata.uid() == rustix::process::geteuid().as_raw() {
        let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
    }
    Ok(opened(path, None))
}

fn private(private: Private) -> Opened {
    opened(private.path(), Some(private))
}

fn opened(path: PathBuf, private: Option<Private>) -> Opened {
    let is_read_only = rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).is_err();
    Opened { path, private, is_read_only }
}

/// Returns whether only this user and root can write to a file.
pub(crate) fn is_trusted(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && is_trusted_owner(&metadata) && metadata.mode() & 0o022 == 0)
}

fn is_trusted_owner(metadata: &Metadata) -> bool {
    metadata.uid() == 0 || metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Writes bytes at an offset.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Writes a new file that has no name until it is whole, which costs two thirds of a file that is renamed. False when that cannot be
/// done, because the system has no such files or the name is taken. Nothing is flushed to the disk: a checksum finds a file that the
/// machine's end has cut.
#[cfg(target_os = "linux")]
pub(crate) fn write_unnamed(folder: &Path, path: &Path, content: &[u8]) -> io::Result<bool> {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let Ok(file) = open(folder, flags, Mode::RUSR | Mode::WUSR) else { return Ok(false) };
    let mut file = File::from(file);
    file.write_all(content)?;
    // One look-up of a path less, where the kernel permits it: from Linux 6.10 on, or with CAP_DAC_READ_SEARCH.
    if linkat(&file, "", CWD, path, AtFlags::EMPTY_PATH).is_ok() {
        return Ok(true);
    }
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW).is_ok())
}

/// Gives a file that was written its name, and replaces the file that had that name. A process that has mapped it keeps it.
pub(crate) fn place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    Ok(())
}

/// Removes a file and the notes about it. A process that has mapped the file keeps it.
pub(crate) fn remove(path: &Path, notes: [PathBuf; 2]) {
    for note in notes {
        let _ = fs::remove_file(note);
    }
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let with_mode = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            Folder::open(folder.path())
        };
        assert!(with_mode(0o777).is_err());
        assert!(with_mode(0o720).is_err());
        assert!(with_mode(0o755).is_ok());
        assert_eq!(fs::metadata(folder.path()).unwrap().mode() & 0o777, 0o700);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(Folder::open(&file).is_err());
    }
}
