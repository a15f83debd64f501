//! Uploads in parts to a folder: each part is a file beside the objects, and the database maps it to its upload.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::folder::FolderStore;
use super::staged::{Staged, failed};
use super::types::kept;
use super::uploads::{Part, UploadId, UploadStore};
use super::{Conditions, Kept, ObjectPath, StorageError, Written};
use crate::http::body::Incoming;
use crate::http::problem::Problem;
use crate::lease::secret_id;
use crate::sqlite_file::SqliteFile;

/// The folder with a folder for each upload, which lists omit.
const PARTS: &str = ".tenon-parts";

/// Limit of open uploads.
const MAX_UPLOADS: i64 = 1000;

/// Seconds after its last part until an upload expires.
const KEPT_SECONDS: i64 = 24 * 3600;

pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS uploads (
        id TEXT PRIMARY KEY, path TEXT NOT NULL, content_type TEXT NOT NULL, headers TEXT, touched INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS parts (
        upload TEXT NOT NULL, part INTEGER NOT NULL, etag TEXT NOT NULL, size INTEGER NOT NULL, file TEXT NOT NULL,
        PRIMARY KEY (upload, part)
    ) WITHOUT ROWID;";

/// The open uploads of a folder.
#[derive(Clone)]
pub(super) struct Uploads {
    file: SqliteFile,
    folder: PathBuf,
}

impl Uploads {
    pub(super) fn new(file: SqliteFile, root: &Path) -> Self {
        Self { file, folder: root.join(PARTS) }
    }

    /// The folder of an upload's parts. The id comes from the database.
    fn folder_of(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.file.call(work).await.map_err(StorageError::Internal)
    }

    /// The properties for the object of an upload.
    async fn find(&self, path: &ObjectPath, id: &UploadId) -> Result<Kept, StorageError> {
        let (path, id) = (path.as_str().to_owned(), id.as_str().to_owned());
        let found = self.call(move |db| {
            db.prepare_cached("SELECT content_type, headers FROM uploads WHERE id = ? AND path = ?")?
                .query_row(params![id, path], |row| kept(row, 0))
                .optional()
        });
        found.await?.ok_or(StorageError::NoUpload)
    }

    /// The parts with their files.
    async fn parts(&self, id: &UploadId) -> Result<Vec<(Part, String)>, StorageError> {
        let id = id.as_str().to_owned();
        self.call(move |db| {
            let mut statement =
                db.prepare_cached("SELECT part, etag, size, file FROM parts WHERE upload = ? ORDER BY part")?;
            let part = |row: &rusqlite::Row<'_>| {
                let size: i64 = row.get(2)?;
                Ok((Part { number: row.get(0)?, etag: row.get(1)?, size: size.unsigned_abs() }, row.get(3)?))
            };
            statement.query_map(params![id], part)?.collect()
        })
        .await
    }

    /// Deletes an upload and its parts.
    async fn remove(&self, path: &ObjectPath, id: &UploadId) -> Result<(), StorageError> {
        let (path, upload) = (path.as_str().to_owned(), id.as_str().to_owned());
        let removed = self.call(move |db| {
            let transaction = db.transaction()?;
            let removed =
                transaction.execute("DELETE FROM uploads WHERE id = ? AND path = ?", params![upload, path])?;
            if removed > 0 {
                transaction.execute("DELETE FROM parts WHERE upload = ?", params![upload])?;
            }
            transaction.commit()?;
            Ok(removed)
        });
        if removed.await? == 0 {
            return Err(StorageError::NoUpload);
        }
        let folder = self.folder_of(id.as_str());
        let _ = tokio::task::spawn_blocking(move || delete(&folder)).await;
        Ok(())
    }

    /// Deletes the rest of ended uploads, at the start.
    pub(super) fn clear(&self, db: &Connection) -> rusqlite::Result<()> {
        // Listed before the uploads, because another process may begin one.
        let folders: Vec<_> = fs::read_dir(&self.folder).into_iter().flatten().flatten().collect();
        forget_abandoned(db)?;
        let mut find = db.prepare("SELECT 1 FROM uploads WHERE id = ?")?;
        for folder in folders {
            if !find.exists(params![folder.file_name().to_string_lossy()])? {
                delete(&folder.path());
            }
        }
        Ok(())
    }
}

/// Deletes the uploads without a part in the last day, and returns their ids.
fn forget_abandoned(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let forgotten: Vec<String> = db
        .prepare_cached("DELETE FROM uploads WHERE touched < ? RETURNING id")?
        .query_map(params![now() - KEPT_SECONDS], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if !forgotten.is_empty() {
        db.execute("DELETE FROM parts WHERE upload NOT IN (SELECT id FROM uploads)", [])?;
    }
    Ok(forgotten)
}

fn delete(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("storage: the parts of an upload could not be deleted: {error}");
        }
        _ => {}
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed())
}

impl UploadStore for FolderStore {
    async fn begin_upload(&self, path: &ObjectPath, kept: &Kept) -> Result<String, StorageError> {
        let id =
            secret_id().ok_or_else(|| StorageError::Internal("storage: there are no random numbers".to_owned()))?;
        let row = (id.clone(), path.as_str().to_owned(), kept.content_type.clone(), kept.headers_json(), now());
        let begun = self.uploads.call(move |db| {
            let transaction = db.transaction()?;
            let forgotten = forget_abandoned(&transaction)?;
            let sql = "INSERT INTO uploads (id, path, content_type, headers, touched)
                SELECT ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM uploads) < ?";
            let (id, path, content_type, headers, now) = row;
            let begun = transaction.execute(sql, params![id, path, content_type, headers, now, MAX_UPLOADS])?;
            transaction.commit()?;
            Ok((begun == 1, forgotten))
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
        let digest: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let etag = format!("\"{digest}\"");
        let size =
            i64::try_from(size).map_err(|_| StorageError::Internal("storage: a part is too large".to_owned()))?;
        let row = (id.as_str().to_owned(), number, etag.clone(), size, staged.name());
        let kept = self.uploads.call(move |db| {
            let transaction = db.transaction()?;
            let (upload, part) = (&row.0, row.1);
            // The upload may have been completed or aborted since.
            let is_open =
                transaction.execute("UPDATE uploads SET touched = ? WHERE id = ?", params![now(), upload])? == 1;
            let find = "SELECT file FROM parts WHERE upload = ? AND part = ?";
            let earlier: Option<String> =
                transaction.query_row(find, params![upload, part], |row| row.get(0)).optional()?;
            if is_open {
                let sql = "INSERT OR REPLACE INTO parts (upload, part, etag, size, file) VALUES (?, ?, ?, ?, ?)";
                transaction.execute(sql, row)?;
            }
            transaction.commit()?;
            Ok((is_open, earlier))
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

/// Joins files into a new one that outlives a crash.
pub(super) fn join(files: &[PathBuf], to: &Path) -> io::Result<()> {
    let mut joined = File::create_new(to)?;
    for file in files {
        io::copy(&mut File::open(file)?, &mut joined)?;
    }
    joined.sync_all()
}

/// The error of an upload's file, which another request may have deleted.
pub(super) fn gone(error: io::Error) -> StorageError {
    if error.kind() == io::ErrorKind::NotFound { StorageError::NoUpload } else { failed(error) }
}
