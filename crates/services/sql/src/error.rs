//! Errors of statements, and their problem details.

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use tenon_service::http::charge::NoRoom;
use tenon_service::http::problem::Problem;

/// The reason why statements have no result.
#[derive(Debug)]
pub(crate) enum SqlError {
    /// The statement is invalid, or does not fit its parameters: 400 with this text.
    Statement(String),
    /// The sidecar does not allow the statement: 403 with this text.
    Forbidden(String),
    /// The database refused the statement.
    Database(Box<Reported>),
    /// The answer would exceed its limit of rows or bytes: 400 with this text.
    TooMuch(String),
    /// A statement affected another number of rows than the request expects: 409 with this text.
    Unexpected(String),
    /// The idempotency key belongs to another request: 422.
    KeyReused,
    /// There is no such transaction, or it has ended: 404.
    Ended,
    /// The request has an open transaction: 409.
    Nested,
    /// It took longer than allowed: 504.
    TimedOut,
    /// No connection came free in time: 503.
    Busy,
    /// The connection was lost before the commit: 503.
    Lost,
    /// The connection was lost during the commit, which may have succeeded: 503, retryable only with an idempotency
    /// key.
    Unknown {
        /// True when the request has an idempotency key.
        keyed: bool,
    },
    /// Any other error; it is logged, and hidden from the client: 500.
    Internal(String),
}

impl From<NoRoom> for SqlError {
    fn from(_: NoRoom) -> Self {
        Self::Busy
    }
}

/// An error that the database reports.
#[derive(Debug)]
pub(crate) struct Reported {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// The code of the SQL standard, such as 23505 for a duplicate.
    pub(crate) sqlstate: Option<String>,
    pub(crate) constraint: Option<String>,
    pub(crate) table: Option<String>,
    pub(crate) column: Option<String>,
    /// The same request may succeed when it is sent again: it had no effect.
    pub(crate) retryable: bool,
}

impl Reported {
    /// A client's error, 400, with only a message.
    pub(crate) fn of(message: String) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            message,
            sqlstate: None,
            constraint: None,
            table: None,
            column: None,
            retryable: false,
        }
    }
}

const COMMIT_UNKNOWN: &str = "the connection to the database was lost during the commit, which may have happened";
const LOST: &str = "the connection to the database was lost before anything was committed; try again";
const REUSED: &str = "this Idempotency-Key was used for another request";
const ENDED: &str = "there is no such transaction: it was ended, a statement of it failed, or its time was over";
const NESTED: &str = "this request has an open transaction: transactions are not nested; use its `tx`, or end it first";
const LATE: &str = "the statement was interrupted: it ran longer than allowed";

impl From<SqlError> for Problem {
    fn from(error: SqlError) -> Self {
        let unavailable = |detail: &str, retryable: bool| {
            Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
                .with_header(RETRY_AFTER, HeaderValue::from_static("1"))
                .with_member("retryable", retryable)
        };
        match error {
            SqlError::Statement(detail) | SqlError::TooMuch(detail) => {
                Self::bad_request(detail).with_member("retryable", false)
            }
            SqlError::Forbidden(detail) => Self::new(StatusCode::FORBIDDEN, detail).with_member("retryable", false),
            SqlError::Unexpected(detail) => Self::new(StatusCode::CONFLICT, detail).with_member("retryable", false),
            SqlError::KeyReused => Self::new(StatusCode::UNPROCESSABLE_ENTITY, REUSED).with_member("retryable", false),
            SqlError::Ended => Self::new(StatusCode::NOT_FOUND, ENDED).with_member("retryable", false),
            SqlError::Nested => Self::new(StatusCode::CONFLICT, NESTED).with_member("retryable", false),
            SqlError::TimedOut => Self::new(StatusCode::GATEWAY_TIMEOUT, LATE).with_member("retryable", false),
            SqlError::Busy => Self::busy().with_member("retryable", true),
            SqlError::Lost => unavailable(LOST, true),
            SqlError::Unknown { keyed } => unavailable(COMMIT_UNKNOWN, keyed),
            SqlError::Database(reported) => of_reported(*reported),
            SqlError::Internal(text) => Self::internal(text),
        }
    }
}

fn of_reported(reported: Reported) -> Problem {
    let Reported { status, message, sqlstate, constraint, table, column, retryable } = reported;
    let mut problem = Problem::new(status, message);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        problem = problem.with_header(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    let members = [("sqlstate", sqlstate), ("constraint", constraint), ("table", table), ("column", column)];
    for (name, value) in members {
        if let Some(value) = value {
            problem = problem.with_member(name, value);
        }
    }
    problem.with_member("retryable", retryable)
}

/// An error, and the failed statement of a batch.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Counted from 0; none when no statement is at fault.
    pub(crate) statement: Option<usize>,
    pub(crate) error: SqlError,
}

impl Failed {
    /// An error that concerns all statements.
    pub(crate) fn before(error: SqlError) -> Self {
        Self { statement: None, error }
    }

    /// An error of one statement.
    pub(crate) fn of(statement: usize, error: SqlError) -> Self {
        Self { statement: Some(statement), error }
    }
}
