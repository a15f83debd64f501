//! Files beside the objects of a folder that are not yet part of one: large uploads, and parts of uploads.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tenon_service::http::body::Incoming;
use tenon_service::lease::secret_id;
use tokio::io::AsyncWriteExt;

use super::StorageError;
use super::folder_errors::{failed, gone, not_moved};

/// The folder of large uploads, which lists omit.
pub(super) const UPLOADS: &str = ".tenon-uploads";

/// A complete file. Dropping it deletes the file, unless it was published or kept.
pub(super) struct Staged(Option<PathBuf>);

impl Staged {
    /// Writes a body to a file of the folder: its first bytes, and then each further piece, which is also passed to a
    /// callback.
    pub(super) async fn of(
        folder: &Path,
        first: &[u8],
        mut body: Incoming,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Self, StorageError> {
        tokio::fs::create_dir_all(&folder).await.map_err(failed)?;
        let path = folder.join(secret_id().map_err(failed)?);
        let staged = Self(Some(path.clone()));
        let mut file = tokio::fs::File::create_new(&path).await.map_err(failed)?;
        file.write_all(first).await.map_err(failed)?;
        while let Some(piece) = body.next().await? {
            each(&piece);
            file.write_all(&piece).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        file.sync_all().await.map_err(failed)?;
        // Makes its name survive a crash, too.
        tokio::fs::File::open(folder).await.map_err(failed)?.sync_all().await.map_err(failed)?;
        Ok(staged)
    }

    /// Joins the parts of an upload, or copies the file of an object.
    pub(super) async fn joined(root: &Path, files: Vec<PathBuf>) -> Result<Self, StorageError> {
        let folder = root.join(UPLOADS);
        let joined = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&folder)?;
            let path = folder.join(secret_id()?);
            let staged = Self(Some(path.clone()));
            join(&files, &path).map(|()| staged)
        });
        joined.await.map_err(|error| StorageError::Internal(error.to_string()))?.map_err(gone)
    }

    /// The name of the file in its folder.
    pub(super) fn name(&self) -> String {
        let name = self.0.as_deref().and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Leaves the file where it is.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }

    /// Moves the file to an object's path.
    pub(super) async fn publish(self, to: PathBuf) -> Result<(), StorageError> {
        let moved = tokio::task::spawn_blocking(move || {
            let parent = to.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(parent)?;
            std::fs::rename(self.0.as_deref().unwrap_or(Path::new("")), &to)?;
            // Makes the new name survive a crash, too.
            File::open(parent)?.sync_all()
        });
        moved.await.map_err(|error| StorageError::Internal(error.to_string()))?.map_err(not_moved)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After publishing, the old name does not exist.
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Joins files into a new one that outlives a crash.
fn join(files: &[PathBuf], to: &Path) -> io::Result<()> {
    let mut joined = File::create_new(to)?;
    for file in files {
        io::copy(&mut File::open(file)?, &mut joined)?;
    }
    joined.sync_all()
}
