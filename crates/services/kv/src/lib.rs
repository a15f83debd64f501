//! Key-value: bytes with a content type and, if wanted, a time to live.

mod key;
mod metadata;
mod redis;
#[cfg(test)]
mod route_tests;
mod routes;
mod service;
mod sqlite;

use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use bytes::Bytes;
use tenon_service::http::entity_tags::EntityTags;
use tenon_service::store_error::{StoreError, StoreFailure};

pub(crate) use self::redis::RedisKv;
pub(crate) use key::Key;
pub(crate) use metadata::Metadata;
pub(crate) use routes::routes;
pub use service::KIND;
pub(crate) use sqlite::SqliteKv;

/// A stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) value: Bytes,
    pub(crate) content_type: Option<String>,
    pub(crate) metadata: Metadata,
    /// Changes with every write; without the quotes.
    pub(crate) etag: String,
    /// Remaining time to live.
    pub(crate) ttl: Option<Duration>,
}

/// A value to store.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    pub(crate) value: Bytes,
    pub(crate) content_type: Option<String>,
    pub(crate) metadata: Metadata,
    /// The entry's new ETag.
    pub(crate) etag: String,
    pub(crate) ttl: Option<Duration>,
    pub(crate) condition: Condition,
}

/// Preconditions of a request on an entry (RFC 9110, section 13.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) if_match: Option<EntityTags>,
    pub(crate) if_none_match: Option<EntityTags>,
}

impl Condition {
    /// Reads `If-Match` and `If-None-Match`.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self { if_match: EntityTags::of(headers, &IF_MATCH), if_none_match: EntityTags::of(headers, &IF_NONE_MATCH) }
    }

    /// Reports whether it holds for the entry with this ETag, or for an absent one.
    pub(crate) fn holds(&self, etag: Option<&str>) -> bool {
        let etag = etag.map(|etag| format!("\"{etag}\""));
        let etag = etag.as_deref();
        self.if_match.as_ref().is_none_or(|tags| etag.is_some_and(|etag| tags.match_strongly(etag)))
            && !self.if_none_match.as_ref().is_some_and(|tags| etag.is_some_and(|etag| tags.match_weakly(etag)))
    }
}

/// A change of a counter.
#[derive(Clone, Debug)]
pub(crate) struct Increment {
    pub(crate) by: i64,
    /// The time to live of a new counter; an existing one keeps its own.
    pub(crate) ttl: Option<Duration>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    /// The entry's new ETag.
    pub(crate) etag: String,
    pub(crate) condition: Condition,
}

impl Increment {
    /// The sum, if it is within the bounds and exact in JSON.
    pub(crate) fn applied_to(&self, value: i64) -> Option<i64> {
        let sum = value.checked_add(self.by)?;
        let within = self.min.is_none_or(|min| sum >= min) && self.max.is_none_or(|max| sum <= max);
        (within && sum.abs() <= MAX_COUNT).then_some(sum)
    }
}

/// The result of changing a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Value(i64),
    /// It would leave its bounds, and keeps this value.
    Beyond(i64),
    /// The stored value is not a whole number.
    NoNumber,
    /// The entry does not meet the conditions.
    Failed,
}

/// The result of changing an entry that must exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    Done,
    Absent,
    /// The entry does not meet the conditions.
    Failed,
}

/// The largest counter, which every JSON reader represents exactly.
pub(crate) const MAX_COUNT: i64 = (1 << 53) - 1;

/// The content type of a counter.
pub(crate) const COUNTER_TYPE: &str = "text/plain; charset=utf-8";

/// The ETag of entries that an earlier version wrote.
pub(crate) const OLD_ETAG: &str = "0";

/// The whole number in a stored value.
pub(crate) fn number(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let number: i64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (digits.iter().all(u8::is_ascii_digit) && number.abs() <= MAX_COUNT).then_some(number)
}

/// The result of reading entries.
#[derive(Debug)]
pub(crate) enum Found {
    /// An entry for each key, if it exists.
    Entries(Vec<Option<Entry>>),
    /// The values have this many bytes together, which is more than asked for.
    Larger(usize),
}

/// A store of keys. An expired entry is absent, even before it is deleted.
pub(crate) trait KvStore: Clone + Send + Sync + 'static {
    /// The entries of keys, unless their values exceed `max_bytes` together.
    fn get(&self, keys: Vec<Key>, max_bytes: usize) -> impl Future<Output = Result<Found, StoreError>> + Send;

    /// Stores an entry in place of the former one, if the condition holds.
    fn put(&self, key: Key, put: Put) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Stores several entries, all or none, without conditions.
    fn put_many(&self, entries: Vec<(Key, Put)>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Sets an entry's time to live, if the condition holds.
    fn touch(
        &self,
        key: Key,
        ttl: Duration,
        condition: Condition,
    ) -> impl Future<Output = Result<Changed, StoreError>> + Send;

    /// Adds to a counter, which is 0 when absent, if the condition holds.
    fn increment(&self, key: Key, by: Increment) -> impl Future<Output = Result<Counted, StoreError>> + Send;

    /// Deletes a key, if the condition holds.
    fn delete(&self, key: Key, condition: Condition) -> impl Future<Output = Result<Changed, StoreError>> + Send;

    /// At most `limit` keys with `prefix` and after `after`, in the order of their bytes.
    fn list(
        &self,
        prefix: Key,
        after: Option<Key>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Key>, StoreError>> + Send;

    /// Checks that the store responds.
    fn ping(&self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_whole_numbers_that_json_has() {
        for (text, count) in [("0", 0), ("-5", -5), ("9007199254740991", MAX_COUNT)] {
            assert_eq!(number(text.as_bytes()), Some(count));
        }
        for text in ["", "-", "+5", " 5", "5.0", "x", "9007199254740992", "99999999999999999999"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn counters_keep_to_their_bounds() {
        let by =
            |by, min, max| Increment { by, ttl: None, min, max, etag: String::new(), condition: Condition::default() };
        assert_eq!(by(-1, Some(0), None).applied_to(1), Some(0));
        assert_eq!(by(-1, Some(0), None).applied_to(0), None);
        assert_eq!(by(1, None, Some(5)).applied_to(5), None);
        assert_eq!(by(1, None, None).applied_to(MAX_COUNT), None);
        assert_eq!(by(i64::MAX, None, None).applied_to(1), None);
    }

    #[test]
    fn conditions() {
        let condition = |name, value: &str| Condition::of(&[(name, value.parse().unwrap())].into_iter().collect());
        let absent = condition(IF_NONE_MATCH, "*");
        assert!(absent.holds(None) && !absent.holds(Some("a")));
        let other = condition(IF_NONE_MATCH, "W/\"a\"");
        assert!(other.holds(None) && other.holds(Some("b")) && !other.holds(Some("a")));
        let same = condition(IF_MATCH, "\"a\", \"b\", W/\"c\"");
        assert!(same.holds(Some("b")) && !same.holds(Some("c")) && !same.holds(None));
        assert!(!condition(IF_MATCH, "\"*\"").holds(Some("a")));
        assert!(Condition::default().holds(None));
    }
}
