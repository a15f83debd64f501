//! The properties of a folder's objects, in a small database beside them, because a file system stores no headers.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenon_service::ServicesError;
use tenon_service::sqlite_file::SqliteFile;
use tenon_sqlite::{Connection, Error, Row};

use super::open_uploads::{self, Uploads};
use super::path::RESERVED;
use super::{Kept, StorageError};

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
    pub(crate) fn open(root: &Path, cache: Option<&Path>) -> Result<(Self, Opened), ServicesError> {
        let path = &root.join(format!("{RESERVED}types.db"));
        let file = SqliteFile::open(path, &[SCHEMA, open_uploads::SCHEMA].concat(), 0, cache)?;
        let uploads = Uploads::new(file.clone(), root);
        let mut random = [0; KEY_BYTES];
        rustls::crypto::ring::default_provider().secure_random.fill(&mut random).map_err(|_| {
            ServicesError::Folder { path: path.clone(), reason: "there are no random numbers".to_owned() }
        })?;
        let opened = file.set_up(path, |db| {
            // A file of an earlier version has content types only.
            let find = "SELECT 1 FROM pragma_table_info('types') WHERE name = 'headers'";
            if db.find(find, &[], |_| Ok(()))?.is_none() {
                db.run_script("ALTER TABLE types ADD COLUMN headers TEXT")?;
            }
            uploads.clear(db)?;
            Ok(Opened { key: key_of(db, &random)?, since: since(db)?, uploads })
        })?;
        Ok((Self(file), opened))
    }

    /// The properties of an object; none when another program wrote it.
    pub(crate) async fn get(&self, path: &str, etag: &str) -> Result<Option<Kept>, StorageError> {
        let (path, etag) = (path.to_owned(), etag.to_owned());
        let get = self.0.call(move |db| {
            let sql = "SELECT content_type, headers FROM types WHERE path = ? AND etag = ?";
            db.find(sql, &[(&path).into(), (&etag).into()], |row| kept(row, 0))
        });
        get.await.map_err(StorageError::from)
    }

    /// The properties of several objects, with their ETags.
    pub(crate) async fn all(&self, paths: Vec<String>) -> Result<HashMap<String, (String, Kept)>, StorageError> {
        let all = self.0.call(move |db| {
            let sql = "SELECT etag, content_type, headers FROM types WHERE path = ?";
            let mut found = HashMap::with_capacity(paths.len());
            for path in paths {
                let row = db.find(sql, &[(&path).into()], |row| Ok((row.read(0)?, kept(row, 1)?)))?;
                found.extend(row.map(|row| (path, row)));
            }
            Ok(found)
        });
        all.await.map_err(StorageError::from)
    }

    pub(crate) async fn set(&self, path: &str, etag: &str, kept: &Kept) -> Result<(), StorageError> {
        let (path, etag, kept) = (path.to_owned(), etag.to_owned(), kept.clone());
        let set = self.0.call(move |db| {
            let sql = "INSERT OR REPLACE INTO types (path, etag, content_type, headers) VALUES (?, ?, ?, ?)";
            let headers = kept.headers_json();
            let row = [(&path).into(), (&etag).into(), (&kept.content_type).into(), headers.as_ref().into()];
            db.execute(sql, &row).map(drop)
        });
        set.await.map_err(StorageError::from)
    }

    pub(crate) async fn remove(&self, path: &str) -> Result<(), StorageError> {
        let path = path.to_owned();
        let remove = self.0.call(move |db| db.execute("DELETE FROM types WHERE path = ?", &[(&path).into()]).map(drop));
        remove.await.map_err(StorageError::from)
    }
}

/// Reads the columns `content_type` and `headers`, from `first` on.
pub(super) fn kept(row: &Row<'_>, first: usize) -> Result<Kept, Error> {
    let headers: Option<String> = row.read(first + 1)?;
    let headers = headers.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(Kept { content_type: row.read(first)?, headers })
}

fn since(db: &mut Connection) -> Result<SystemTime, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string();
    db.execute("INSERT OR IGNORE INTO keys (name, key) VALUES ('since', CAST(? AS BLOB))", &[(&now).into()])?;
    let sql = "SELECT CAST(CAST(key AS TEXT) AS INTEGER) FROM keys WHERE name = 'since'";
    let since: i64 = db.one(sql, &[], |row| row.read(0))?;
    Ok(UNIX_EPOCH + Duration::from_secs(since.unsigned_abs()))
}

/// Reads the key, or stores `random`.
fn key_of(db: &mut Connection, random: &[u8]) -> Result<Vec<u8>, Error> {
    // Another process may have made one.
    db.execute("INSERT OR IGNORE INTO keys (name, key) VALUES ('url', ?)", &[random.into()])?;
    db.one("SELECT key FROM keys WHERE name = 'url'", &[], |row| row.read(0))
}
