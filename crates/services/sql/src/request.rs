//! A request of a database, and its answer.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tenon_service::http::charge::Charge;
use tenon_service::http::problem::Problem;

use super::{Outcome, SqlError, Statement, exact};

/// Time that an answer is kept.
pub(crate) const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Limit of characters of an idempotency key.
const MAX_KEY: usize = 255;

pub(crate) const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The mode of a request's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One statement.
    Single,
    /// One transaction, rolled back at the first failure.
    Transaction,
}

/// The isolation level of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Isolation {
    /// Reads `isolation` of a batch: the SQL standard's names, in any case, with spaces, `_` or `-` between the words.
    pub(crate) fn from_json(value: &Value) -> Result<Option<Self>, Problem> {
        let wrong = || {
            Problem::bad_request(
                "`isolation` must be \"read uncommitted\", \"read committed\", \"repeatable read\" or \"serializable\"",
            )
        };
        if value.is_null() {
            return Ok(None);
        }
        let name = value.as_str().ok_or_else(wrong)?.to_ascii_lowercase().replace(['_', '-'], " ");
        Ok(Some(match name.as_str() {
            "read uncommitted" => Self::ReadUncommitted,
            "read committed" => Self::ReadCommitted,
            "repeatable read" => Self::RepeatableRead,
            "serializable" => Self::Serializable,
            _ => return Err(wrong()),
        }))
    }

    /// The level in SQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

/// Reads `foreign_keys` of a batch or a transaction: true unless it is false.
pub(crate) fn foreign_keys_of(body: &Value) -> Result<bool, Problem> {
    match &body["foreign_keys"] {
        Value::Null => Ok(true),
        Value::Bool(enforced) => Ok(*enforced),
        _ => Err(Problem::bad_request("`foreign_keys` must be true or false")),
    }
}

/// An idempotency key, and its request.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    pub(crate) key: String,
    /// SHA-256 of the route, the body, and the text of numbers that a double rounds, in hexadecimal digits.
    pub(crate) request: String,
}

impl Keyed {
    /// Reads the header `Idempotency-Key`.
    pub(crate) fn of(headers: &HeaderMap, route: &str, body: &Value, text: &[u8]) -> Result<Option<Self>, Problem> {
        let Some(value) = headers.get(KEY_HEADER) else { return Ok(None) };
        let key = value.to_str().unwrap_or_default().trim();
        if key.is_empty() || key.len() > MAX_KEY {
            let detail = format!("`Idempotency-Key` must have 1 to {MAX_KEY} printable ASCII characters");
            return Err(Problem::bad_request(detail));
        }
        let mut hash = Sha256::new();
        hash.update(route);
        hash.update(body.to_string());
        // The parsed body has doubles, which may be the same for different numbers.
        for number in exact::rounded(text) {
            hash.update("\n");
            hash.update(number);
        }
        Ok(Some(Self { key: key.to_owned(), request: hex::encode(hash.finalize()) }))
    }
}

/// The statements of a request.
#[derive(Clone, Debug)]
pub(crate) struct SqlRequest {
    pub(crate) statements: Vec<Statement>,
    pub(crate) mode: Mode,
    pub(crate) isolation: Option<Isolation>,
    /// SQLite: false when foreign keys are not enforced, and the commit requires that none is newly violated.
    pub(crate) foreign_keys: bool,
    pub(crate) keyed: Option<Keyed>,
    /// Writes the answer, before it is committed.
    pub(crate) answer: fn(&[Outcome]) -> String,
    /// The bytes that are held for the request.
    pub(crate) charge: Charge,
}

impl SqlRequest {
    /// Writes the answer, once it is charged.
    pub(crate) fn answer_of(&self, outcomes: &[Outcome]) -> Result<String, SqlError> {
        let columns = |outcome: &Outcome| outcome.columns.iter().map(|name| 6 * name.len() + 8).sum::<usize>();
        let bytes = outcomes.iter().map(|outcome| outcome.rows.len() + columns(outcome)).sum::<usize>();
        // The text moves when it grows.
        self.charge.take(2 * bytes)?;
        Ok((self.answer)(outcomes))
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct SqlAnswer {
    pub(crate) body: String,
    /// The answer is that of an earlier request with the same idempotency key; this one changed nothing.
    pub(crate) replayed: bool,
}
