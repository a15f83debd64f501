//! Key-value: bytes with a content type and, if wanted, a time to live.

mod key;
mod redis;
mod routes;
mod sqlite;

use std::time::Duration;

use bytes::Bytes;

pub(crate) use self::redis::RedisKv;
pub(crate) use key::Key;
pub(crate) use routes::routes;
pub(crate) use sqlite::SqliteKv;

/// What is kept under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) value: Bytes,
    pub(crate) content_type: Option<String>,
}

/// A failure of the store itself; it is logged, and a client is told of none of it.
pub(crate) type StoreError = String;

/// Where keys are kept. An entry whose time is over is absent, whether or not it was deleted.
pub(crate) trait KvStore: Clone + Send + Sync + 'static {
    /// What is kept under a key.
    fn get(&self, key: Key) -> impl Future<Output = Result<Option<Entry>, StoreError>> + Send;

    /// Keeps an entry, for `ttl` if one is given, in place of what was there.
    fn put(&self, key: Key, entry: Entry, ttl: Option<Duration>)
    -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Whether there was something to delete.
    fn delete(&self, key: Key) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// At most `limit` keys that begin with `prefix` and stand behind `after`, in the order of their bytes.
    fn list(
        &self,
        prefix: Key,
        after: Option<Key>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Key>, StoreError>> + Send;

    /// Whether the store answers.
    fn ping(&self) -> impl Future<Output = Result<(), StoreError>> + Send;
}
