//! Uploads in parts to a folder: each part is a file beside the objects, and the database maps it to its upload.

use std::collections::HashMap;
use std::path::PathBuf;

use axum::http::StatusCode;
use sha2::{Digest, Sha256};
use tenon_service::http::body::Incoming;
use tenon_service::http::problem::Problem;
use tenon_service::lease::secret_id;

use super::folder::FolderStore;
use super::open_uploads::{delete, forget_abandoned, now};
use super::staged::Staged;
use super::uploads::{Part, UploadId, UploadStore};
use super::{Conditions, Kept, ObjectPath, StorageError, Written};

/// Limit of open uploads.
const MAX_UPLOADS: i64 = 1000;

impl UploadStore for FolderStore {
    async fn begin_upload(&self, path: &ObjectPath, kept: &Kept) -> Result<String, StorageError> {
        let id = secret_id().map_err(|error| StorageError::Internal(format!("storage: {error}")))?;
        let (upload, path, kept) = (id.clone(), path.as_str().to_owned(), kept.clone());
        let begun = self.uploads.call(move |db| {
            db.writing(|db| {
                let forgotten = forget_abandoned(db)?;
                let sql = "INSERT INTO uploads (id, path, content_type, headers, touched)
                    SELECT ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM uploads) < ?";
                let headers = kept.headers_json();
                let row = [
                    (&upload).into(),
                    (&path).into(),
                    (&kept.content_type).into(),
                    headers.as_ref().into(),
                    now().into(),
                    MAX_UPLOADS.into(),
                ];
                Ok((db.execute(sql, &row)? == 1, forgotten))
            })
        });
        let (is_begun, forgotten) = begun.await?;
        for each in forgotten {
            let folder = self.uploads.folder_of(&each);
            let _ = tokio::task::spawn_blocking(move || delete(&folder)).await;
        }
        if is_begun {
            return Ok(id);
        }
        let detail = format!("{MAX_UPLOADS} uploads are open: complete some, or give them up with DELETE");
        Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail).into())
    }

    async fn put_part(
        &self,
        path: &ObjectPath,
        id: &UploadId,
        number: u16,
        body: Incoming,
    ) -> Result<String, StorageError> {
        self.uploads.find(path, id).await?;
        let folder = self.uploads.folder_of(id.as_str());
        let (mut hash, mut size) = (Sha256::new(), 0);
        let staged = Staged::of(&folder, &[], body, |piece| {
            hash.update(piece);
            size += piece.len();
        });
        let staged = staged.await?;
        let etag = format!("\"{}\"", hex::encode(&hash.finalize()[..16]));
        let size =
            i64::try_from(size).map_err(|_| StorageError::Internal("storage: a part is too large".to_owned()))?;
        let (upload, stored, file) = (id.as_str().to_owned(), etag.clone(), staged.name());
        let kept = self.uploads.call(move |db| {
            db.writing(|db| {
                // The upload may have been completed or aborted since.
                let touch = "UPDATE uploads SET touched = ? WHERE id = ?";
                let is_open = db.execute(touch, &[now().into(), (&upload).into()])? == 1;
                let find = "SELECT file FROM parts WHERE upload = ? AND part = ?";
                let earlier: Option<String> = db.find(find, &[(&upload).into(), number.into()], |row| row.read(0))?;
                if is_open {
                    let sql = "INSERT OR REPLACE INTO parts (upload, part, etag, size, file) VALUES (?, ?, ?, ?, ?)";
                    let row = [(&upload).into(), number.into(), (&stored).into(), size.into(), (&file).into()];
                    db.execute(sql, &row)?;
                }
                Ok((is_open, earlier))
            })
        });
        let (is_open, earlier) = kept.await?;
        if !is_open {
            drop(staged);
            // It may have been deleted before this part came.
            let _ = tokio::fs::remove_dir(&folder).await;
            return Err(StorageError::NoUpload);
        }
        staged.keep();
        if let Some(earlier) = earlier {
            let _ = tokio::fs::remove_file(folder.join(earlier)).await;
        }
        Ok(etag)
    }

    async fn parts(&self, path: &ObjectPath, id: &UploadId) -> Result<Vec<Part>, StorageError> {
        self.uploads.find(path, id).await?;
        Ok(self.uploads.parts(id).await?.into_iter().map(|(part, _)| part).collect())
    }

    async fn complete_upload(
        &self,
        path: &ObjectPath,
        id: &UploadId,
        parts: Vec<Part>,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let kept = self.uploads.find(path, id).await?;
        let folder = self.uploads.folder_of(id.as_str());
        let mut files: HashMap<Part, String> = self.uploads.parts(id).await?.into_iter().collect();
        let files: Option<Vec<PathBuf>> =
            parts.iter().map(|part| files.remove(part).map(|file| folder.join(file))).collect();
        // A part was replaced since it was checked.
        let files = files.ok_or(StorageError::Conflict("the parts have changed meanwhile"))?;
        let staged = Staged::joined(self.root(), files).await?;
        let written = self.publish(path, staged, &kept, conditions).await?;
        // Another request may have completed it as well.
        match self.uploads.remove(path, id).await {
            Ok(()) | Err(StorageError::NoUpload) => Ok(written),
            Err(error) => Err(error),
        }
    }

    async fn abort_upload(&self, path: &ObjectPath, id: &UploadId) -> Result<(), StorageError> {
        self.uploads.remove(path, id).await
    }
}
