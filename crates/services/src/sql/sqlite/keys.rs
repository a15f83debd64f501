//! Answers under idempotency keys, in a table of the database itself: written in the transaction of the request.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, params};

use crate::sql::Keyed;
use crate::sql::request::KEPT;

const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS tenon_idempotency (
    key TEXT PRIMARY KEY, request TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS tenon_idempotency_at ON tenon_idempotency (at)";

/// Number of expired answers that a request deletes: more than it adds.
const CLEARED: i64 = 16;

/// A stored answer.
pub(super) struct Found {
    pub(super) request: String,
    pub(super) answer: String,
}

/// The answer under a key, unless it has expired.
pub(super) fn find(db: &Connection, key: &str) -> rusqlite::Result<Option<Found>> {
    db.execute_batch(SCHEMA)?;
    let sql = "SELECT request, answer FROM tenon_idempotency WHERE key = ? AND at > ?";
    let mut statement = db.prepare(sql)?;
    let read =
        statement.query_row(params![key, oldest()], |row| Ok(Found { request: row.get(0)?, answer: row.get(1)? }));
    read.optional()
}

/// Stores an answer.
pub(super) fn keep(db: &Connection, keyed: &Keyed, answer: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM tenon_idempotency WHERE key IN (SELECT key FROM tenon_idempotency WHERE at <= ? LIMIT ?)";
    db.execute(sql, params![oldest(), CLEARED])?;
    let sql = "INSERT OR REPLACE INTO tenon_idempotency (key, request, answer, at) VALUES (?, ?, ?, ?)";
    db.execute(sql, params![keyed.key, keyed.request, answer, now()]).map(drop)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// The oldest time, in seconds since 1970, whose answers are still kept.
fn oldest() -> i64 {
    now().saturating_sub(i64::try_from(KEPT.as_secs()).unwrap_or(i64::MAX))
}
