//! Large uploads to a folder: each is a file beside the objects until it is complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::StorageError;
use super::folder::conflict;
use crate::http::body::Incoming;
use crate::lease::receipt;

/// The folder of the files, which no list shows.
pub(super) const UPLOADS: &str = ".tenon-uploads";

/// A complete upload. Dropping it deletes the file, unless it was published.
pub(super) struct Staged(PathBuf);

impl Staged {
    /// Writes the first bytes of an upload and all that follow to a file.
    pub(super) async fn of(root: &Path, first: &Bytes, mut upload: Incoming) -> Result<Self, StorageError> {
        let folder = root.join(UPLOADS);
        tokio::fs::create_dir_all(&folder).await.map_err(failed)?;
        let staged = Self(folder.join(receipt()));
        let mut file = tokio::fs::File::create_new(&staged.0).await.map_err(failed)?;
        file.write_all(first).await.map_err(failed)?;
        while let Some(piece) = upload.next().await? {
            file.write_all(&piece).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        file.sync_all().await.map_err(failed)?;
        Ok(staged)
    }

    /// Puts the file in the place of an object.
    pub(super) async fn publish(self, to: PathBuf) -> Result<(), StorageError> {
        let moved = tokio::task::spawn_blocking(move || {
            let parent = to.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(parent)?;
            std::fs::rename(&self.0, &to)?;
            // The new name outlives a crash, too.
            File::open(parent)?.sync_all()
        });
        moved.await.map_err(|error| StorageError::Internal(error.to_string()))?.map_err(|error| conflict(failed(error)))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Once published, there is none of this name.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn failed(error: io::Error) -> StorageError {
    StorageError::Internal(format!("storage: {error}"))
}
