//! The open uploads of a folder, in the database beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tenon_service::sqlite_file::SqliteFile;
use tenon_sqlite::{Connection, Error};

use super::types::kept;
use super::uploads::{Part, UploadId};
use super::{Kept, ObjectPath, StorageError};

/// The folder with a folder for each upload, which lists omit.
const PARTS: &str = ".tenon-parts";

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
    pub(super) fn folder_of(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// Runs a function with the database.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.file.call(work).await.map_err(StorageError::from)
    }

    /// The properties for the object of an upload.
    pub(super) async fn find(&self, path: &ObjectPath, id: &UploadId) -> Result<Kept, StorageError> {
        let (path, id) = (path.as_str().to_owned(), id.as_str().to_owned());
        let found = self.call(move |db| {
            let sql = "SELECT content_type, headers FROM uploads WHERE id = ? AND path = ?";
            db.find(sql, &[(&id).into(), (&path).into()], |row| kept(row, 0))
        });
        found.await?.ok_or(StorageError::NoUpload)
    }

    /// The parts with their files.
    pub(super) async fn parts(&self, id: &UploadId) -> Result<Vec<(Part, String)>, StorageError> {
        let id = id.as_str().to_owned();
        self.call(move |db| {
            let sql = "SELECT part, etag, size, file FROM parts WHERE upload = ? ORDER BY part";
            db.all(sql, &[(&id).into()], |row| {
                let size: i64 = row.read(2)?;
                Ok((Part { number: row.read(0)?, etag: row.read(1)?, size: size.unsigned_abs() }, row.read(3)?))
            })
        })
        .await
    }

    /// Deletes an upload and its parts.
    pub(super) async fn remove(&self, path: &ObjectPath, id: &UploadId) -> Result<(), StorageError> {
        let (path, upload) = (path.as_str().to_owned(), id.as_str().to_owned());
        let removed = self.call(move |db| {
            db.writing(|db| {
                let sql = "DELETE FROM uploads WHERE id = ? AND path = ?";
                let removed = db.execute(sql, &[(&upload).into(), (&path).into()])?;
                if removed > 0 {
                    db.execute("DELETE FROM parts WHERE upload = ?", &[(&upload).into()])?;
                }
                Ok(removed)
            })
        });
        if removed.await? == 0 {
            return Err(StorageError::NoUpload);
        }
        let folder = self.folder_of(id.as_str());
        let _ = tokio::task::spawn_blocking(move || delete(&folder)).await;
        Ok(())
    }

    /// Deletes the rest of ended uploads, at the start.
    pub(super) fn clear(&self, db: &mut Connection) -> Result<(), Error> {
        // Listed before the uploads, because another process may begin one.
        let folders: Vec<_> = fs::read_dir(&self.folder).into_iter().flatten().flatten().collect();
        forget_abandoned(db)?;
        for folder in folders {
            let sql = "SELECT 1 FROM uploads WHERE id = ?";
            let name = folder.file_name();
            if db.find(sql, &[(&*name.to_string_lossy()).into()], |_| Ok(()))?.is_none() {
                delete(&folder.path());
            }
        }
        Ok(())
    }
}

/// Deletes the uploads without a part in the last day, and returns their ids.
pub(super) fn forget_abandoned(db: &mut Connection) -> Result<Vec<String>, Error> {
    let sql = "DELETE FROM uploads WHERE touched < ? RETURNING id";
    let forgotten = db.all(sql, &[(now() - KEPT_SECONDS).into()], |row| row.read(0))?;
    if !forgotten.is_empty() {
        db.execute("DELETE FROM parts WHERE upload NOT IN (SELECT id FROM uploads)", &[])?;
    }
    Ok(forgotten)
}

/// Deletes the folder of an upload.
pub(super) fn delete(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("storage: the parts of an upload could not be deleted: {error}");
        }
        _ => {}
    }
}

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs().cast_signed())
}
