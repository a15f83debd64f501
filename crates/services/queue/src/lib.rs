//! Queues: messages that are delivered at least once, in order within a key, and become dead letters when no consumer
//! can handle them.
//!
//! A store keeps messages and leases. A consumer leases messages, handles them, and reports each outcome. A lease
//! expires, so that the messages of a killed consumer are delivered again.

mod message;
mod postgres;
mod redis;
mod routes;
mod service;
mod sqlite;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tenon_service::store_error::{StoreError, StoreFailure};

pub(crate) use self::redis::RedisQueue;
pub(crate) use message::{Counts, Lease, Leased, NewMessage, Settled};
pub(crate) use postgres::PostgresQueue;
pub(crate) use routes::routes;
pub use service::KIND;
pub(crate) use sqlite::SqliteQueue;

/// The suffix of a dead letter queue's name.
pub(crate) const DEAD: &str = ".dead";

/// A store of messages.
pub(crate) trait QueueStore: Clone + Send + Sync + 'static {
    /// Stores messages, all or none, and returns their ids.
    fn send(
        &self,
        queue: String,
        messages: Vec<NewMessage>,
    ) -> impl Future<Output = Result<Vec<i64>, StoreError>> + Send;

    /// Leases due messages, the oldest first. A key has at most one leased message, the oldest; the next one follows when
    /// that is done or dead. A message whose last attempt ended without an outcome is dead.
    fn lease(&self, queue: String, lease: Lease) -> impl Future<Output = Result<Vec<Leased>, StoreError>> + Send;

    /// Deletes a handled message; returns whether the lease was still valid.
    fn done(&self, queue: String, id: i64, receipt: String) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Delivers a message again after a delay, or makes it a dead letter after `max_attempts`.
    fn retry(
        &self,
        queue: String,
        id: i64,
        receipt: String,
        delay: Duration,
        max_attempts: u32,
    ) -> impl Future<Output = Result<Settled, StoreError>> + Send;

    /// The content of every queue, by name.
    fn counts(&self) -> impl Future<Output = Result<Vec<Counts>, StoreError>> + Send;

    /// Checks that the store responds.
    fn ping(&self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
}
