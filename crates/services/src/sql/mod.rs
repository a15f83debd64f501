//! SQL: statements with parameters in, rows as JSON out.

mod base64;
mod policy;
pub(crate) mod postgres;
mod result;
mod routes;
pub(crate) mod sqlite;
mod statement;

use crate::http::problem::Problem;
use axum::http::StatusCode;

pub use policy::{SqlAccess, SqlParser};
pub(crate) use result::{Cell, Outcome, ResultWriter, too_large};
pub(crate) use routes::routes;
pub(crate) use statement::Statement;

/// What is said of blanks and comments, which databases take for a statement in ways of their own.
const NO_STATEMENT: &str = "there is no statement in this text";

/// Why statements have no result.
#[derive(Debug)]
pub(crate) enum SqlError {
    /// The database refused the statement, or the statement does not fit its parameters: 400 with this text.
    Statement(String),
    /// The sidecar does not allow the statement: 403 with this text.
    Forbidden(String),
    /// More rows, or more bytes, than one answer may have: 400 with this text.
    TooMuch(String),
    /// It took longer than allowed: 504.
    TimedOut,
    /// No connection came free in time, or the database is locked: 503.
    Busy,
    /// Anything else; it is logged, and a client is told of none of it: 500.
    Internal(String),
}

impl From<SqlError> for Problem {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Statement(detail) | SqlError::TooMuch(detail) => Self::bad_request(detail),
            SqlError::Forbidden(detail) => Self::new(StatusCode::FORBIDDEN, detail),
            SqlError::TimedOut => {
                Self::new(StatusCode::GATEWAY_TIMEOUT, "the statement was interrupted: it ran longer than allowed")
            }
            SqlError::Busy => Self::busy(),
            SqlError::Internal(text) => Self::internal(text),
        }
    }
}

/// A statement of a batch that failed, and why. Statements are counted from 0.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) statement: usize,
    pub(crate) error: SqlError,
}

impl Failed {
    /// For what concerns all statements alike.
    pub(crate) fn before(error: SqlError) -> Self {
        Self { statement: 0, error }
    }
}

/// Whether statements stand alone or all or none of them happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One statement, which the database commits by itself.
    Single,
    /// One transaction, rolled back at the first failure.
    Transaction,
}

/// A database.
pub(crate) trait SqlStore: Clone + Send + Sync + 'static {
    /// Runs statements one after the other on one connection.
    fn run(&self, statements: Vec<Statement>, mode: Mode) -> impl Future<Output = Result<Vec<Outcome>, Failed>> + Send;

    /// Whether the database answers.
    fn ping(&self) -> impl Future<Output = Result<(), String>> + Send;
}
