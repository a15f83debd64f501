//! SQL: statements with parameters in, rows as JSON out.

mod error;
pub(crate) mod exact;
mod policy;
pub(crate) mod postgres;
mod request;
mod result;
mod routes;
mod service;
pub(crate) mod sqlite;
mod statement;
#[cfg(test)]
mod tests;
mod transactions;

use tenon_service::store_error::StoreFailure;
use tokio::time::Instant;

pub(crate) use error::{Failed, Reported, SqlError};
pub(crate) use policy::SqlAccess;
pub(crate) use request::{Isolation, Keyed, Mode, SqlAnswer, SqlRequest};
pub(crate) use result::{Cell, Outcome, ResultWriter, RowForm, too_large};
pub(crate) use routes::routes;
pub use service::KIND;
pub(crate) use statement::Statement;

/// The text of `{"float":"…"}`, the form of a parameter that is not a JSON number. None for every other value.
fn float_of_parameter(value: &serde_json::Value) -> Option<&str> {
    value.as_object().filter(|object| object.len() == 1)?.get("float")?.as_str()
}

/// The error of blanks and comments, which each database treats differently.
const NO_STATEMENT: &str = "there is no statement in this text";

/// A database.
pub(crate) trait SqlStore: Clone + Send + Sync + 'static {
    /// Limit of parameters in one statement.
    const MAX_PARAMS: usize;

    /// Runs the statements of a request one after the other on one connection. Their changes are committed only if
    /// there is an answer.
    fn run(&self, request: SqlRequest) -> impl Future<Output = Result<SqlAnswer, Failed>> + Send;

    /// A transaction that is open between requests. Dropping it rolls back.
    type Transaction: Send + 'static;

    /// The number of transactions that may be open at the same time.
    fn max_transactions(&self) -> usize;

    /// Begins a transaction. Without `foreign_keys` it enforces none, and its commit requires that none is newly violated.
    fn begin(
        &self,
        isolation: Option<Isolation>,
        foreign_keys: bool,
    ) -> impl Future<Output = Result<Self::Transaction, SqlError>> + Send;

    /// Runs the statements of a request in a transaction. A failure rolls it back.
    fn run_in(
        &self,
        transaction: Self::Transaction,
        request: SqlRequest,
        deadline: Instant,
    ) -> impl Future<Output = Result<(SqlAnswer, Self::Transaction), Failed>> + Send;

    /// Commits a transaction.
    fn commit(&self, transaction: Self::Transaction) -> impl Future<Output = Result<(), SqlError>> + Send;

    /// Rolls a transaction back.
    fn roll_back(&self, transaction: Self::Transaction) -> impl Future<Output = ()> + Send;

    /// Checks that the database responds.
    fn ping(&self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
}
