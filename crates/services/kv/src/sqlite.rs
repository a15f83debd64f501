//! Keys in a SQLite file.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tenon_service::sqlite_file::SqliteFile;
use tenon_service::store_error::StoreFailure;
use tenon_service::{Limits, ServicesError};
use tenon_sqlite::{Connection, Error, Row};

use super::{
    COUNTER_TYPE, Changed, Condition, Counted, Entry, Found, Increment, Key, KvStore, Metadata, OLD_ETAG, Put,
    StoreError, number,
};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS entries (
        key BLOB PRIMARY KEY, value BLOB NOT NULL, content_type TEXT, expires_ms INTEGER, etag TEXT, metadata TEXT
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_ms) WHERE expires_ms IS NOT NULL;";

/// Number of expired entries that a write deletes: more than it makes, so that they do not accumulate.
const CLEARED_BY_A_WRITE: i64 = 16;

/// Keys in a SQLite file.
#[derive(Clone)]
pub(crate) struct SqliteKv(SqliteFile);

impl SqliteKv {
    pub(crate) fn open(path: &Path, limits: &Limits, cache: Option<&Path>) -> Result<Self, ServicesError> {
        let file = SqliteFile::open(path, SCHEMA, limits.max_body_bytes, cache)?;
        // A file of an earlier version has no ETags, or no metadata.
        file.set_up(path, |db| {
            for column in ["etag", "metadata"] {
                let sql = "SELECT 1 FROM pragma_table_info('entries') WHERE name = ?";
                if db.find(sql, &[column.into()], |_| Ok(()))?.is_none() {
                    db.run_script(&format!("ALTER TABLE entries ADD COLUMN {column} TEXT"))?;
                }
            }
            Ok(())
        })?;
        Ok(Self(file))
    }

    /// Changes an entry in a transaction, if there is one and the condition holds.
    async fn change(
        &self,
        key: Key,
        condition: Condition,
        change: impl FnOnce(&mut Connection, &Key) -> Result<u64, Error> + Send + 'static,
    ) -> Result<Changed, StoreError> {
        let change = self.0.call(move |db| {
            db.writing(|db| {
                let Some(etag) = etag_of(db, &key)? else { return Ok(Changed::Absent) };
                if !condition.holds(Some(&etag)) {
                    return Ok(Changed::Failed);
                }
                change(db, &key)?;
                Ok(Changed::Done)
            })
        });
        Ok(change.await?)
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The expiry of an entry with this time to live.
fn end_of(ttl: Option<Duration>) -> Option<i64> {
    ttl.map(|ttl| now().saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)))
}

/// The bytes of an entry's value, which SQLite knows without reading it.
fn size(db: &mut Connection, key: &Key) -> Result<usize, Error> {
    let sql = "SELECT octet_length(value) FROM entries WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)";
    let size = db.find(sql, &[key.as_bytes().into(), now().into()], |row| row.read::<i64>(0))?;
    Ok(size.and_then(|size| usize::try_from(size).ok()).unwrap_or_default())
}

fn read(db: &mut Connection, key: &Key) -> Result<Option<Entry>, Error> {
    let now = now();
    let sql = "SELECT value, content_type, etag, expires_ms, metadata FROM entries
        WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)";
    let entry = |row: &Row<'_>| {
        let left = |end: i64| Duration::from_millis(u64::try_from(end.saturating_sub(now)).unwrap_or_default());
        Ok(Entry {
            value: Bytes::from(row.read::<Vec<u8>>(0)?),
            content_type: row.read(1)?,
            etag: row.read::<Option<String>>(2)?.unwrap_or_else(|| OLD_ETAG.to_owned()),
            ttl: row.read::<Option<i64>>(3)?.map(left),
            metadata: Metadata::of_text(row.read(4)?),
        })
    };
    db.find(sql, &[key.as_bytes().into(), now.into()], entry)
}

/// The ETag of an entry; none when it is absent.
fn etag_of(db: &mut Connection, key: &Key) -> Result<Option<String>, Error> {
    let sql = "SELECT coalesce(etag, ?) FROM entries WHERE key = ? AND (expires_ms IS NULL OR expires_ms > ?)";
    db.find(sql, &[OLD_ETAG.into(), key.as_bytes().into(), now().into()], |row| row.read(0))
}

fn write(db: &mut Connection, key: &Key, put: &Put) -> Result<(), Error> {
    let Put { value, content_type, etag, ttl, metadata, condition: _ } = put;
    let sql = "INSERT OR REPLACE INTO entries (key, value, content_type, expires_ms, etag, metadata)
        VALUES (?, ?, ?, ?, ?, ?)";
    let metadata = metadata.to_text();
    let row = [
        key.as_bytes().into(),
        value[..].into(),
        content_type.as_ref().into(),
        end_of(*ttl).into(),
        etag.into(),
        metadata.as_ref().into(),
    ];
    db.execute(sql, &row)?;
    let sql = "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_ms <= ? LIMIT ?)";
    db.execute(sql, &[now().into(), CLEARED_BY_A_WRITE.into()]).map(drop)
}

fn count(db: &mut Connection, key: &Key, by: Increment) -> Result<Counted, Error> {
    let current = read(db, key)?;
    let value = match &current {
        None => 0,
        Some(entry) => match number(&entry.value) {
            Some(value) => value,
            None => return Ok(Counted::NoNumber),
        },
    };
    let Some(sum) = by.applied_to(value) else { return Ok(Counted::Beyond(value)) };
    if !by.condition.holds(current.as_ref().map(|entry| entry.etag.as_str())) {
        return Ok(Counted::Failed);
    }
    let text = sum.to_string();
    if current.is_some() {
        let sql = "UPDATE entries SET value = ?, etag = ? WHERE key = ?";
        db.execute(sql, &[text.as_bytes().into(), (&by.etag).into(), key.as_bytes().into()])?;
    } else {
        let begun = Put {
            value: text.into(),
            content_type: Some(COUNTER_TYPE.to_owned()),
            metadata: Metadata::default(),
            etag: by.etag,
            ttl: by.ttl,
            condition: Condition::default(),
        };
        write(db, key, &begun)?;
    }
    Ok(Counted::Value(sum))
}

impl KvStore for SqliteKv {
    async fn get(&self, keys: Vec<Key>, max_bytes: usize) -> Result<Found, StoreError> {
        let get = self.0.call(move |db| {
            // A transaction, so that all entries are of one state of the file.
            db.reading(|db| {
                let mut bytes = 0;
                for key in &keys {
                    bytes += size(db, key)?;
                }
                if bytes > max_bytes {
                    return Ok(Found::Larger(bytes));
                }
                keys.iter().map(|key| read(db, key)).collect::<Result<_, _>>().map(Found::Entries)
            })
        });
        Ok(get.await?)
    }

    async fn put(&self, key: Key, put: Put) -> Result<bool, StoreError> {
        let put = self.0.call(move |db| {
            db.writing(|db| {
                let conditional = put.condition.if_match.is_some() || put.condition.if_none_match.is_some();
                if conditional {
                    let current = etag_of(db, &key)?;
                    if !put.condition.holds(current.as_deref()) {
                        return Ok(false);
                    }
                }
                write(db, &key, &put)?;
                Ok(true)
            })
        });
        Ok(put.await?)
    }

    async fn put_many(&self, entries: Vec<(Key, Put)>) -> Result<(), StoreError> {
        let put = self.0.call(move |db| db.writing(|db| entries.iter().try_for_each(|(key, put)| write(db, key, put))));
        Ok(put.await?)
    }

    async fn touch(&self, key: Key, ttl: Duration, condition: Condition) -> Result<Changed, StoreError> {
        let touch = self.change(key, condition, move |db, key| {
            let sql = "UPDATE entries SET expires_ms = ? WHERE key = ?";
            db.execute(sql, &[end_of(Some(ttl)).into(), key.as_bytes().into()])
        });
        touch.await
    }

    async fn increment(&self, key: Key, by: Increment) -> Result<Counted, StoreError> {
        let increment = self.0.call(move |db| db.writing(|db| count(db, &key, by)));
        Ok(increment.await?)
    }

    async fn delete(&self, key: Key, condition: Condition) -> Result<Changed, StoreError> {
        let delete = self.change(key, condition, |db, key| {
            db.execute("DELETE FROM entries WHERE key = ?", &[key.as_bytes().into()])
        });
        delete.await
    }

    async fn list(&self, prefix: Key, after: Option<Key>, limit: usize) -> Result<Vec<Key>, StoreError> {
        let list = self.0.call(move |db| {
            let sql = "SELECT key FROM entries
                WHERE key >= ?1 AND (?2 IS NULL OR key < ?2) AND (?3 IS NULL OR key > ?3)
                  AND (expires_ms IS NULL OR expires_ms > ?4)
                ORDER BY key LIMIT ?5";
            let end = prefix.behind_prefix();
            // The scan starts at the later of the prefix and `after`.
            let begin = after.as_ref().map_or(&prefix, |after| after.max(&prefix));
            let values = [
                begin.as_bytes().into(),
                end.as_ref().map(Key::as_bytes).into(),
                after.as_ref().map(Key::as_bytes).into(),
                now().into(),
                i64::try_from(limit).unwrap_or(i64::MAX).into(),
            ];
            db.all(sql, &values, |row| row.read(0).map(Key::from_store))
        });
        Ok(list.await?)
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.0.call(|db| db.one("SELECT 1", &[], |_| Ok(()))).await
    }
}
