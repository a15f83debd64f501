//! Listening on a Unix socket.

use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use tokio::net::UnixListener;

use super::serve::Listener;
use crate::ServicesError;

impl Listener {
    /// A Unix socket with the given mode. It replaces the file of a server that is gone, and fails if one answers.
    pub fn unix(path: &Path, mode: u32) -> Result<Self, ServicesError> {
        let fail = |source| ServicesError::listen(path.display().to_string(), source);
        remove_stale(path).map_err(fail)?;
        // Bound under another name and moved once its mode is set, so that no client connects in between.
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let _ = fs::remove_file(&beside);
        let listener = UnixListener::bind(&beside).map_err(fail)?;
        let placed = fs::set_permissions(&beside, fs::Permissions::from_mode(mode))
            .and_then(|()| fs::metadata(&beside))
            .and_then(|metadata| fs::rename(&beside, path).map(|()| metadata.ino()));
        match placed {
            Ok(inode) => Ok(Self::Unix { listener, file: SocketFile { path: path.to_path_buf(), inode } }),
            Err(error) => {
                let _ = fs::remove_file(&beside);
                Err(fail(error))
            }
        }
    }
}

/// A socket's file, deleted on drop, unless another server has replaced it.
pub struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is not a socket"));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
    }
}
