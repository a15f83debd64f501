//! SQL: statements with parameters in, rows as JSON out.

pub(crate) mod base64;
mod error;
pub(crate) mod exact;
mod policy;
pub(crate) mod postgres;
mod request;
mod result;
mod routes;
pub(crate) mod sqlite;
mod statement;

pub(crate) use error::{Failed, Reported, SqlError};
pub use policy::{SqlAccess, SqlParser};
pub(crate) use request::{Answer, Isolation, Keyed, Mode, SqlRequest};
pub(crate) use result::{Cell, Outcome, ResultWriter, too_large};
pub(crate) use routes::routes;
pub(crate) use statement::Statement;

/// What is said of blanks and comments, which databases take for a statement in ways of their own.
const NO_STATEMENT: &str = "there is no statement in this text";

/// A database.
pub(crate) trait SqlStore: Clone + Send + Sync + 'static {
    /// Runs the statements of a request one after the other on one connection. Nothing that they write stays unless there is
    /// an answer.
    fn run(&self, request: SqlRequest) -> impl Future<Output = Result<Answer, Failed>> + Send;

    /// Whether the database answers.
    fn ping(&self) -> impl Future<Output = Result<(), String>> + Send;
}
