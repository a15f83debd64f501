//! Answers under idempotency keys, in a table of the database itself: written in the transaction of the request.

use std::time::{SystemTime, UNIX_EPOCH};

use tenon_sqlite::{Connection, Error, Value};

use crate::Keyed;
use crate::request::KEPT;

const SCHEMA: [&str; 2] = [
    "CREATE TABLE IF NOT EXISTS tenon_idempotency (
       key TEXT PRIMARY KEY, request TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS tenon_idempotency_at ON tenon_idempotency (at)",
];

/// Number of expired answers that a request deletes: more than it adds.
const CLEARED: i64 = 16;

/// A stored answer.
pub(super) struct Found {
    pub(super) request: String,
    pub(super) answer: String,
}

/// The answer under a key, unless it has expired.
pub(super) fn find(db: &mut Connection, key: &str) -> Result<Option<Found>, Error> {
    for sql in SCHEMA {
        db.query(sql, &[])?;
    }
    let sql = "SELECT request, answer FROM tenon_idempotency WHERE key = ? AND at > ?";
    let rows = db.query(sql, &[key.into(), oldest().into()])?;
    Ok(rows.into_iter().next().and_then(|row| match <[Value; 2]>::try_from(row) {
        Ok([Value::Text(request), Value::Text(answer)]) => Some(Found { request, answer }),
        _ => None,
    }))
}

/// Stores an answer.
pub(super) fn keep(db: &mut Connection, keyed: &Keyed, answer: &str) -> Result<(), Error> {
    let sql = "DELETE FROM tenon_idempotency WHERE key IN (SELECT key FROM tenon_idempotency WHERE at <= ? LIMIT ?)";
    db.query(sql, &[oldest().into(), CLEARED.into()])?;
    let sql = "INSERT OR REPLACE INTO tenon_idempotency (key, request, answer, at) VALUES (?, ?, ?, ?)";
    let values = [keyed.key.as_str().into(), keyed.request.as_str().into(), answer.into(), now().into()];
    db.query(sql, &values).map(drop)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// The oldest time, in seconds since 1970, whose answers are still kept.
fn oldest() -> i64 {
    now().saturating_sub(i64::try_from(KEPT.as_secs()).unwrap_or(i64::MAX))
}
