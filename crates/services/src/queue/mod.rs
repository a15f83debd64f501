//! Queues: messages that are delivered at least once, in order where they have a key, and laid aside when nobody can handle
//! them.
//!
//! A store keeps messages and leases; whoever consumes asks for some, handles them, and says what became of each. A lease ends
//! by itself, so that the messages of a consumer that was killed are delivered again.

mod message;
mod postgres;
mod redis;
mod routes;
mod service;
mod sqlite;

use std::time::Duration;

pub(crate) use self::redis::RedisQueue;
pub(crate) use message::{Counts, Lease, Leased, NewMessage, Settled};
pub(crate) use postgres::PostgresQueue;
pub(crate) use routes::routes;
pub(crate) use service::KIND;
pub(crate) use sqlite::SqliteQueue;

use crate::store_error::StoreError;

/// What follows the name of a queue in that of its dead letters.
pub(crate) const DEAD: &str = ".dead";

/// Where messages are kept.
pub(crate) trait QueueStore: Clone + Send + Sync + 'static {
    /// Keeps messages, all or none, and gives their ids.
    fn send(
        &self,
        queue: String,
        messages: Vec<NewMessage>,
    ) -> impl Future<Output = Result<Vec<i64>, StoreError>> + Send;

    /// Leases messages that are due, the oldest first. Of those with one key only the oldest is given, and the next one when
    /// that is done or dead. A message whose last attempt has ended without a word is dead.
    fn lease(&self, queue: String, lease: Lease) -> impl Future<Output = Result<Vec<Leased>, StoreError>> + Send;

    /// Deletes a message that was handled; whether the lease was still this one.
    fn done(&self, queue: String, id: i64, receipt: String) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Delivers a message again after a delay, or lays it aside when it has had `max_attempts`.
    fn retry(
        &self,
        queue: String,
        id: i64,
        receipt: String,
        delay: Duration,
        max_attempts: u32,
    ) -> impl Future<Output = Result<Settled, StoreError>> + Send;

    /// What every queue has in it, by name.
    fn counts(&self) -> impl Future<Output = Result<Vec<Counts>, StoreError>> + Send;

    /// Whether the store answers.
    fn ping(&self) -> impl Future<Output = Result<(), String>> + Send;
}
