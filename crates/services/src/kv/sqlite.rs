//! Keys in a SQLite file.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use rusqlite::{OptionalExtension, params};

use super::{Entry, Key, KvStore, StoreError};
use crate::ServicesError;
use crate::sqlite_file::SqliteFile;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS entries (
        key BLOB PRIMARY KEY, value BLOB NOT NULL, content_type TEXT, expires_ms INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_ms) WHERE expires_ms IS NOT NULL;";

/// How many entries whose time is over a write clears away: more than it makes, so that they do not pile up.
const CLEARED_BY_A_WRITE: i64 = 16;

/// Keys in a SQLite file.
#[derive(Clone)]
pub(crate) struct SqliteKv(SqliteFile);

impl SqliteKv {
    pub(crate) fn open(path: &Path) -> Result<Self, ServicesError> {
        SqliteFile::open(path, SCHEMA).map(Self)
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl KvStore for SqliteKv {
    async fn get(&self, key: Key) -> Result<Option<Entry>, StoreError> {
        let sql = "SELECT value, content_type FROM entries WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)";
        let read = self.0.call(move |db| {
            let mut statement = db.prepare_cached(sql)?;
            let entry = statement.query_row(params![key.as_bytes(), now()], |row| {
                Ok(Entry { value: Bytes::from(row.get::<_, Vec<u8>>(0)?), content_type: row.get(1)? })
            });
            entry.optional()
        });
        read.await
    }

    async fn put(&self, key: Key, entry: Entry, ttl: Option<Duration>) -> Result<(), StoreError> {
        let put = self.0.call(move |db| {
            let expires = ttl.map(|ttl| now().saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)));
            let transaction = db.transaction()?;
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO entries (key, value, content_type, expires_ms) VALUES (?, ?, ?, ?)",
                )?
                .execute(params![key.as_bytes(), &entry.value[..], entry.content_type, expires])?;
            transaction
                .prepare_cached(
                    "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_ms <= ? LIMIT ?)",
                )?
                .execute(params![now(), CLEARED_BY_A_WRITE])?;
            transaction.commit()
        });
        put.await
    }

    async fn delete(&self, key: Key) -> Result<bool, StoreError> {
        let delete = self.0.call(move |db| {
            let sql = "DELETE FROM entries WHERE key = ? RETURNING expires_ms IS NULL OR expires_ms > ?";
            let mut statement = db.prepare_cached(sql)?;
            let lived = statement.query_row(params![key.as_bytes(), now()], |row| row.get(0)).optional()?;
            Ok(lived.unwrap_or(false))
        });
        delete.await
    }

    async fn list(&self, prefix: Key, after: Option<Key>, limit: usize) -> Result<Vec<Key>, StoreError> {
        let list = self.0.call(move |db| {
            let sql = "SELECT key FROM entries
                WHERE key >= ?1 AND (?2 IS NULL OR key < ?2) AND (?3 IS NULL OR key > ?3)
                  AND (expires_ms IS NULL OR expires_ms > ?4)
                ORDER BY key LIMIT ?5";
            let mut statement = db.prepare_cached(sql)?;
            let end = prefix.behind_prefix();
            // What stands behind `after` begins there: the index is entered at the later of the two.
            let begin = after.as_ref().map_or(&prefix, |after| after.max(&prefix));
            let rows = statement.query_map(
                params![
                    begin.as_bytes(),
                    end.as_ref().map(Key::as_bytes),
                    after.as_ref().map(Key::as_bytes),
                    now(),
                    i64::try_from(limit).unwrap_or(i64::MAX)
                ],
                |row| row.get(0).map(Key::from_store),
            )?;
            rows.collect()
        });
        list.await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.0.call(|db| db.query_row("SELECT 1", [], |_| Ok(()))).await
    }
}
