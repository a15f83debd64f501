//! Queues in a SQLite file.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::value::RawValue;
use tenon_service::lease::iso;
use tenon_service::sqlite_file::SqliteFile;
use tenon_service::store_error::{StoreError, StoreFailure};
use tenon_service::{Limits, ServicesError};
use tenon_sqlite::{Connection, Error, Row};

use super::{Counts, DEAD, Lease, Leased, NewMessage, QueueStore, Settled};

/// Times are milliseconds since 1970. A message with a receipt is leased until it is due.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, body TEXT NOT NULL, key TEXT,
        attempts INTEGER NOT NULL DEFAULT 0, sent_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL, receipt TEXT
    );
    CREATE INDEX IF NOT EXISTS messages_by_due ON messages (queue, due_ms);
    CREATE INDEX IF NOT EXISTS messages_without_key ON messages (queue, due_ms) WHERE key IS NULL;
    CREATE INDEX IF NOT EXISTS messages_by_key ON messages (queue, key, id) WHERE key IS NOT NULL;";

const CONTENT: &str = "SELECT body, key, sent_ms FROM messages WHERE id = ?";

const BURY: &str = "UPDATE messages SET queue = queue || ?, receipt = NULL, due_ms = ? WHERE id = ?";

/// Finds the messages that have been due the longest, only the oldest of each key.
const DUE: &str = "SELECT id, bytes, attempts FROM (
        SELECT id, octet_length(body) AS bytes, attempts, queue, key FROM messages WHERE queue = ?1 AND due_ms <= ?2 ORDER BY due_ms, id LIMIT 500) AS m
    WHERE key IS NULL OR NOT EXISTS (
        SELECT 1 FROM messages AS e WHERE e.queue = m.queue AND e.key = m.key AND e.id < m.id)
    LIMIT ?3";

/// Reports whether [`DUE`] may have missed messages.
const IS_MORE: &str = "SELECT count(*) = 500 FROM (SELECT 1 FROM messages WHERE queue = ? AND due_ms <= ? LIMIT 500)";

/// Finds all messages without a key, and the oldest one of each key, and skips those waiting behind it.
const DUE_HEADS: &str = "WITH RECURSIVE keys(key) AS (
        SELECT min(key) FROM messages WHERE queue = ?1 AND key IS NOT NULL
        UNION ALL
        SELECT (SELECT min(key) FROM messages WHERE queue = ?1 AND key > keys.key) FROM keys WHERE key IS NOT NULL),
    heads(id) AS (
        SELECT (SELECT min(id) FROM messages WHERE queue = ?1 AND key = keys.key) FROM keys WHERE key IS NOT NULL)
    SELECT id, octet_length(body), attempts FROM messages WHERE id IN (
        SELECT id FROM heads UNION ALL SELECT id FROM (
            SELECT id FROM messages WHERE queue = ?1 AND key IS NULL AND due_ms <= ?2 ORDER BY due_ms, id LIMIT ?3))
    AND due_ms <= ?2 ORDER BY due_ms, id LIMIT ?3";

/// Queues in a SQLite file.
#[derive(Clone)]
pub(crate) struct SqliteQueue(SqliteFile);

impl SqliteQueue {
    pub(crate) fn open(path: &Path, limits: &Limits, cache: Option<&Path>) -> Result<Self, ServicesError> {
        SqliteFile::open(path, SCHEMA, limits.max_body_bytes, cache).map(Self)
    }
}

fn now() -> i64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// A due message, before it is leased.
struct Due {
    id: i64,
    /// Bytes of its body.
    bytes: usize,
    attempts: u32,
}

fn due(row: &Row<'_>) -> Result<Due, Error> {
    let bytes: i64 = row.read(1)?;
    Ok(Due { id: row.read(0)?, bytes: usize::try_from(bytes).unwrap_or_default(), attempts: row.read(2)? })
}

fn bury(db: &mut Connection, id: i64) -> Result<(), Error> {
    db.execute(BURY, &[DEAD.into(), now().into(), id.into()]).map(drop)
}

/// Leases the messages that a query finds, besides those that are taken, until the limit of bytes.
fn take(db: &mut Connection, query: &str, queue: &str, lease: &Lease, taken: &mut Vec<Leased>) -> Result<(), Error> {
    let max = lease.max - taken.len();
    let now = now();
    let due = db.all(query, &[queue.into(), now.into(), i64::try_from(max).unwrap_or(1).into()], due)?;
    let mut bytes: usize = taken.iter().map(|message| message.body.get().len()).sum();
    for Due { id, bytes: more, attempts } in due {
        if attempts >= lease.max_attempts {
            bury(db, id)?;
            continue;
        }
        if !taken.is_empty() && bytes + more > lease.max_bytes {
            break;
        }
        let (body, key, sent_ms): (String, Option<String>, i64) =
            db.one(CONTENT, &[id.into()], |row| Ok((row.read(0)?, row.read(1)?, row.read(2)?)))?;
        // Another program made this body invalid JSON, so it can't be delivered.
        let Ok(body) = RawValue::from_string(body) else {
            bury(db, id)?;
            continue;
        };
        bytes += more;
        let sql = "UPDATE messages SET attempts = attempts + 1, receipt = ?, due_ms = ? WHERE id = ?";
        let until = now.saturating_add(millis(lease.visibility));
        db.execute(sql, &[(&lease.receipt).into(), until.into(), id.into()])?;
        let (sent_at, receipt) = (iso(sent_ms), lease.receipt.clone());
        taken.push(Leased { id, body, key, attempts: attempts + 1, sent_at, receipt });
    }
    Ok(())
}

impl QueueStore for SqliteQueue {
    async fn send(&self, queue: String, messages: Vec<NewMessage>) -> Result<Vec<i64>, StoreError> {
        let send = self.0.call(move |db| {
            db.writing(|db| {
                let mut ids = Vec::with_capacity(messages.len());
                for message in &messages {
                    let now = now();
                    let due = now.saturating_add(millis(message.delay));
                    let sql =
                        "INSERT INTO messages (queue, body, key, sent_ms, due_ms) VALUES (?, ?, ?, ?, ?) RETURNING id";
                    let (body, key) = (message.body.get(), message.key.as_ref());
                    let values = [(&queue).into(), body.into(), key.into(), now.into(), due.into()];
                    ids.push(db.one(sql, &values, |row| row.read(0))?);
                }
                Ok(ids)
            })
        });
        Ok(send.await?)
    }

    async fn lease(&self, queue: String, lease: Lease) -> Result<Vec<Leased>, StoreError> {
        let take = self.0.call(move |db| {
            db.writing(|db| {
                let mut taken = Vec::new();
                take(db, DUE, &queue, &lease, &mut taken)?;
                let is_more =
                    |db: &mut Connection| db.one(IS_MORE, &[(&queue).into(), now().into()], |row| row.read::<bool>(0));
                if taken.len() < lease.max && is_more(db)? {
                    take(db, DUE_HEADS, &queue, &lease, &mut taken)?;
                }
                taken.sort_by_key(|message| message.id);
                Ok(taken)
            })
        });
        Ok(take.await?)
    }

    async fn done(&self, queue: String, id: i64, receipt: String) -> Result<bool, StoreError> {
        let done = self.0.call(move |db| {
            let sql = "DELETE FROM messages WHERE id = ? AND queue = ? AND receipt = ?";
            Ok(db.execute(sql, &[id.into(), (&queue).into(), (&receipt).into()])? > 0)
        });
        Ok(done.await?)
    }

    async fn retry(
        &self,
        queue: String,
        id: i64,
        receipt: String,
        delay: Duration,
        max_attempts: u32,
    ) -> Result<Settled, StoreError> {
        let retry = self.0.call(move |db| {
            db.writing(|db| {
                let sql = "SELECT attempts FROM messages WHERE id = ? AND queue = ? AND receipt = ?";
                let values = [id.into(), (&queue).into(), (&receipt).into()];
                let attempts: Option<u32> = db.find(sql, &values, |row| row.read(0))?;
                Ok(match attempts {
                    None => Settled::Lost,
                    Some(attempts) if attempts >= max_attempts => {
                        bury(db, id)?;
                        Settled::Dead
                    }
                    Some(_) => {
                        let sql = "UPDATE messages SET receipt = NULL, due_ms = ? WHERE id = ?";
                        db.execute(sql, &[now().saturating_add(millis(delay)).into(), id.into()])?;
                        Settled::Again
                    }
                })
            })
        });
        Ok(retry.await?)
    }

    async fn counts(&self) -> Result<Vec<Counts>, StoreError> {
        let counts = self.0.call(move |db| {
            let sql = "SELECT queue, sum(due_ms <= ?1), sum(due_ms > ?1 AND receipt IS NULL),
                sum(due_ms > ?1 AND receipt IS NOT NULL) FROM messages GROUP BY queue ORDER BY queue";
            db.all(sql, &[now().into()], |row| {
                Ok(Counts { name: row.read(0)?, ready: row.read(1)?, delayed: row.read(2)?, leased: row.read(3)? })
            })
        });
        Ok(counts.await?)
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.0.call(|db| db.one("SELECT 1", &[], |_| Ok(()))).await
    }
}
