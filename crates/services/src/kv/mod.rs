//! Key-value: bytes with a content type and, if wanted, a time to live.

mod key;
mod metadata;
mod redis;
mod routes;
mod service;
mod sqlite;

use std::time::Duration;

use bytes::Bytes;

pub(crate) use self::redis::RedisKv;
use crate::store_error::StoreError;
pub(crate) use key::Key;
pub(crate) use metadata::Metadata;
pub(crate) use routes::routes;
pub(crate) use service::KIND;
pub(crate) use sqlite::SqliteKv;

/// What is kept under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) value: Bytes,
    pub(crate) content_type: Option<String>,
    pub(crate) metadata: Metadata,
    /// Another one after every write; without the quotes.
    pub(crate) etag: String,
    /// The time that is left.
    pub(crate) ttl: Option<Duration>,
}

/// What is to be kept under a key.
#[derive(Clone, Debug)]
pub(crate) struct Put {
    pub(crate) value: Bytes,
    pub(crate) content_type: Option<String>,
    pub(crate) metadata: Metadata,
    /// The entry's ETag from now on.
    pub(crate) etag: String,
    pub(crate) ttl: Option<Duration>,
    pub(crate) condition: Condition,
}

/// What must be so for a write (RFC 9110, section 13.1): ETags without quotes, `*` for any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) if_match: Option<Vec<String>>,
    pub(crate) if_none_match: Option<Vec<String>>,
}

impl Condition {
    /// Whether it holds for the entry with this ETag, or for none.
    pub(crate) fn holds(&self, etag: Option<&str>) -> bool {
        let any = |tags: &[String]| etag.is_some_and(|etag| tags.iter().any(|tag| tag == "*" || tag == etag));
        self.if_match.as_deref().is_none_or(any) && !self.if_none_match.as_deref().is_some_and(any)
    }
}

/// What is added to a counter.
#[derive(Clone, Debug)]
pub(crate) struct Increment {
    pub(crate) by: i64,
    /// The time of a counter that begins; one that counts keeps its own.
    pub(crate) ttl: Option<Duration>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
    /// The entry's ETag from now on.
    pub(crate) etag: String,
}

impl Increment {
    /// The sum, if it is within the bounds and a number that JSON has exactly.
    pub(crate) fn applied_to(&self, value: i64) -> Option<i64> {
        let sum = value.checked_add(self.by)?;
        let within = self.min.is_none_or(|min| sum >= min) && self.max.is_none_or(|max| sum <= max);
        (within && sum.abs() <= MAX_COUNT).then_some(sum)
    }
}

/// What became of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Value(i64),
    /// It would leave its bounds, and is still this.
    Beyond(i64),
    /// What is kept under the key is no whole number.
    NoNumber,
}

/// The largest counter: what every JSON reader has exactly.
pub(crate) const MAX_COUNT: i64 = (1 << 53) - 1;

/// The content type of a counter.
pub(crate) const COUNTER_TYPE: &str = "text/plain; charset=utf-8";

/// The ETag of entries that an earlier version has written.
pub(crate) const OLD_ETAG: &str = "0";

/// The whole number that a value spells, as counters are kept.
pub(crate) fn number(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let number: i64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (digits.iter().all(u8::is_ascii_digit) && number.abs() <= MAX_COUNT).then_some(number)
}

/// Where keys are kept. An entry whose time is over is absent, whether or not it was deleted.
pub(crate) trait KvStore: Clone + Send + Sync + 'static {
    /// What is kept under a key.
    fn get(&self, key: Key) -> impl Future<Output = Result<Option<Entry>, StoreError>> + Send;

    /// What is kept under each of many keys; none when it comes to more than `max_bytes` together.
    fn get_many(
        &self,
        keys: Vec<Key>,
        max_bytes: usize,
    ) -> impl Future<Output = Result<Option<Vec<Option<Entry>>>, StoreError>> + Send;

    /// Keeps an entry in place of what was there, if the condition holds.
    fn put(&self, key: Key, put: Put) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Keeps many entries, all or none, whatever was there. Their conditions are not looked at.
    fn put_many(&self, entries: Vec<(Key, Put)>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Gives an entry this time from now on; whether there is one.
    fn touch(&self, key: Key, ttl: Duration) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Adds to a counter, which is 0 where nothing is kept.
    fn increment(&self, key: Key, by: Increment) -> impl Future<Output = Result<Counted, StoreError>> + Send;

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
    fn ping(&self) -> impl Future<Output = Result<(), String>> + Send;
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
        let by = |by, min, max| Increment { by, ttl: None, min, max, etag: String::new() };
        assert_eq!(by(-1, Some(0), None).applied_to(1), Some(0));
        assert_eq!(by(-1, Some(0), None).applied_to(0), None);
        assert_eq!(by(1, None, Some(5)).applied_to(5), None);
        assert_eq!(by(1, None, None).applied_to(MAX_COUNT), None);
        assert_eq!(by(i64::MAX, None, None).applied_to(1), None);
    }

    #[test]
    fn conditions() {
        let of = |tags: &[&str]| Some(tags.iter().map(|tag| (*tag).to_owned()).collect());
        let absent = Condition { if_none_match: of(&["*"]), ..Condition::default() };
        assert!(absent.holds(None) && !absent.holds(Some("a")));
        let same = Condition { if_match: of(&["a", "b"]), ..Condition::default() };
        assert!(same.holds(Some("b")) && !same.holds(Some("c")) && !same.holds(None));
        assert!(Condition::default().holds(None));
    }
}
