//! The content types of a folder's objects: a file system keeps none, so they are in a small database beside.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{OptionalExtension, params};

use super::StorageError;
use crate::ServicesError;
use crate::sqlite_file::SqliteFile;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS types (
        path TEXT PRIMARY KEY, etag TEXT NOT NULL, content_type TEXT NOT NULL
    ) WITHOUT ROWID;";

/// Content types by path, each with the ETag of the object that it was stored with.
#[derive(Clone)]
pub(crate) struct Types(SqliteFile);

impl Types {
    pub(crate) fn open(path: &Path) -> Result<Self, ServicesError> {
        SqliteFile::open(path, SCHEMA).map(Self)
    }

    /// The type of an object; none when it was put there by other hands.
    pub(crate) async fn get(&self, path: &str, etag: &str) -> Result<Option<String>, StorageError> {
        let (path, etag) = (path.to_owned(), etag.to_owned());
        let get = self.0.call(move |db| {
            db.prepare_cached("SELECT content_type FROM types WHERE path = ? AND etag = ?")?
                .query_row(params![path, etag], |row| row.get(0))
                .optional()
        });
        get.await.map_err(StorageError::Internal)
    }

    /// The types and ETags of many paths.
    pub(crate) async fn all(&self, paths: Vec<String>) -> Result<HashMap<String, (String, String)>, StorageError> {
        let all = self.0.call(move |db| {
            let mut statement = db.prepare_cached("SELECT etag, content_type FROM types WHERE path = ?")?;
            let mut found = HashMap::with_capacity(paths.len());
            for path in paths {
                let row = statement.query_row(params![path], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
                found.extend(row.map(|row| (path, row)));
            }
            Ok(found)
        });
        all.await.map_err(StorageError::Internal)
    }

    pub(crate) async fn set(&self, path: &str, etag: &str, content_type: &str) -> Result<(), StorageError> {
        let row = (path.to_owned(), etag.to_owned(), content_type.to_owned());
        let set = self.0.call(move |db| {
            db.prepare_cached("INSERT OR REPLACE INTO types (path, etag, content_type) VALUES (?, ?, ?)")?
                .execute(row)
                .map(drop)
        });
        set.await.map_err(StorageError::Internal)
    }

    pub(crate) async fn remove(&self, path: &str) -> Result<(), StorageError> {
        let path = path.to_owned();
        let remove = self
            .0
            .call(move |db| db.prepare_cached("DELETE FROM types WHERE path = ?")?.execute(params![path]).map(drop));
        remove.await.map_err(StorageError::Internal)
    }
}
