//! The properties of a folder's objects, in a small database beside them, because a file system stores no headers.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::open_uploads::{self, Uploads};
use super::path::RESERVED;
use super::{Kept, StorageError};
use crate::ServicesError;
use crate::sqlite_file::SqliteFile;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS types (
        path TEXT PRIMARY KEY, etag TEXT NOT NULL, content_type TEXT NOT NULL, headers TEXT
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS keys (name TEXT PRIMARY KEY, key BLOB NOT NULL) WITHOUT ROWID;";

/// Bytes of the key that signs addresses.
const KEY_BYTES: usize = 32;

/// Headers by path, each with the ETag of the object that they were stored with.
#[derive(Clone)]
pub(crate) struct Types(SqliteFile);

/// Facts about the folder, from the database.
pub(crate) struct Opened {
    /// The key that signs addresses.
    pub(crate) key: Vec<u8>,
    /// The time at which the folder became a store.
    pub(crate) since: SystemTime,
    /// The open uploads in parts.
    pub(super) uploads: Uploads,
}

impl Types {
    /// Opens the database.
    pub(crate) fn open(root: &Path) -> Result<(Self, Opened), ServicesError> {
        let path = &root.join(format!("{RESERVED}types.db"));
        let file = SqliteFile::open(path, &[SCHEMA, open_uploads::SCHEMA].concat())?;
        let uploads = Uploads::new(file.clone(), root);
        let opened = file.set_up(path, |db| {
            // A file of an earlier version has content types only.
            let known = db.prepare("SELECT 1 FROM pragma_table_info('types') WHERE name = 'headers'")?.exists([])?;
            if !known {
                db.execute_batch("ALTER TABLE types ADD COLUMN headers TEXT")?;
            }
            uploads.clear(db)?;
            Ok(Opened { key: key_of(db)?, since: since(db)?, uploads })
        })?;
        Ok((Self(file), opened))
    }

    /// The properties of an object; none when another program wrote it.
    pub(crate) async fn get(&self, path: &str, etag: &str) -> Result<Option<Kept>, StorageError> {
        let (path, etag) = (path.to_owned(), etag.to_owned());
        let get = self.0.call(move |db| {
            db.prepare_cached("SELECT content_type, headers FROM types WHERE path = ? AND etag = ?")?
                .query_row(params![path, etag], |row| kept(row, 0))
                .optional()
        });
        get.await.map_err(StorageError::Internal)
    }

    /// The properties of several objects, with their ETags.
    pub(crate) async fn all(&self, paths: Vec<String>) -> Result<HashMap<String, (String, Kept)>, StorageError> {
        let all = self.0.call(move |db| {
            let mut statement = db.prepare_cached("SELECT etag, content_type, headers FROM types WHERE path = ?")?;
            let mut found = HashMap::with_capacity(paths.len());
            for path in paths {
                let row = statement.query_row(params![path], |row| Ok((row.get(0)?, kept(row, 1)?))).optional()?;
                found.extend(row.map(|row| (path, row)));
            }
            Ok(found)
        });
        all.await.map_err(StorageError::Internal)
    }

    pub(crate) async fn set(&self, path: &str, etag: &str, kept: &Kept) -> Result<(), StorageError> {
        let row = (path.to_owned(), etag.to_owned(), kept.content_type.clone(), kept.headers_json());
        let set = self.0.call(move |db| {
            db.prepare_cached("INSERT OR REPLACE INTO types (path, etag, content_type, headers) VALUES (?, ?, ?, ?)")?
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

/// Reads the columns `content_type` and `headers`, from `first` on.
pub(super) fn kept(row: &Row<'_>, first: usize) -> rusqlite::Result<Kept> {
    let headers: Option<String> = row.get(first + 1)?;
    let headers = headers.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(Kept { content_type: row.get(first)?, headers })
}

fn since(db: &Connection) -> rusqlite::Result<SystemTime> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    db.execute("INSERT OR IGNORE INTO keys (name, key) VALUES ('since', CAST(? AS BLOB))", params![now.to_string()])?;
    let sql = "SELECT CAST(CAST(key AS TEXT) AS INTEGER) FROM keys WHERE name = 'since'";
    let since: i64 = db.query_row(sql, [], |row| row.get(0))?;
    Ok(UNIX_EPOCH + Duration::from_secs(since.unsigned_abs()))
}

fn key_of(db: &Connection) -> rusqlite::Result<Vec<u8>> {
    let mut key = vec![0; KEY_BYTES];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut key).map_err(|_| rusqlite::Error::InvalidQuery)?;
    // Another process may have made one.
    db.execute("INSERT OR IGNORE INTO keys (name, key) VALUES ('url', ?)", params![key])?;
    db.query_row("SELECT key FROM keys WHERE name = 'url'", [], |row| row.get(0))
}
