//! Keys in Redis: an entry is one hash of value (`v`), content type (`t`), ETag (`e`) and metadata (`m`), so that
//! eviction and expiry remove it as a whole. Every write is one script, which Redis runs atomically, and whose first
//! write `maxmemory` can refuse.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ::redis::cmd;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use tenon_service::redis_link::{RedisLink, slot_of};
use tenon_service::store_error::{StoreError, StoreFailure};

use super::{
    COUNTER_TYPE, Changed, Condition, Counted, Entry, Found, Increment, Key, KvStore, MAX_COUNT, Metadata, OLD_ETAG,
    Put,
};

/// KEYS: entries. ARGV: limit of their values' bytes. Returns each one's fields and remaining milliseconds; nothing but
/// the number of bytes beyond the limit.
const READ: &str = r"
local read, sum = {}, 0
for _, key in ipairs(KEYS) do sum = sum + redis.call('HSTRLEN', key, 'v') end
if sum > tonumber(ARGV[1]) then return {sum, read} end
for i, key in ipairs(KEYS) do
  read[i] = {redis.call('HMGET', key, 'v', 't', 'e', 'm'), redis.call('PTTL', key)}
end
return {sum, read}";

/// KEYS: entries. Returns the total bytes of their values.
const LENGTH: &str = r"
local sum = 0
for _, key in ipairs(KEYS) do sum = sum + redis.call('HSTRLEN', key, 'v') end
return sum";

/// Begins a script with conditions: `etag` is that of the entry, and `holds(at)` evaluates the arguments from `at` on, which
/// are the number of ETags to match or -1, the number of those not to match or -1, and those ETags with quotes, or `*`.
macro_rules! conditional {
    ($script:literal) => {
        concat!(
            r#"
local etag = redis.call('HGET', KEYS[1], 'e')
if not etag and redis.call('EXISTS', KEYS[1]) == 1 then etag = '0' end
local function holds(at)
  local match, none = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local function any(from, count)
    for i = from, from + count - 1 do
      if etag and (ARGV[i] == '*' or ARGV[i] == '"' .. etag .. '"') then return true end
    end
    return false
  end
  if match >= 0 and not any(at + 2, match) then return false end
  return none < 0 or not any(at + 2 + math.max(match, 0), none)
end"#,
            $script
        )
    };
}

/// KEYS: entry. ARGV: value, content type, ETag, lifetime in ms or "", metadata or "", conditions.
const PUT: &str = conditional!(
    r"
if not holds(6) then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 't', ARGV[2], 'e', ARGV[3])
if ARGV[4] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
if ARGV[5] == '' then redis.call('HDEL', KEYS[1], 'm') else redis.call('HSET', KEYS[1], 'm', ARGV[5]) end
return 1"
);

/// KEYS: entry. ARGV: lifetime in ms, conditions.
const TOUCH: &str = conditional!(
    r"
if not etag then return 'absent' end
if not holds(2) then return 'failed' end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 'done'"
);

/// KEYS: entry. ARGV: conditions.
const DELETE: &str = conditional!(
    r"
if not etag then return 'absent' end
if not holds(1) then return 'failed' end
redis.call('DEL', KEYS[1])
return 'done'"
);

/// KEYS: entries. ARGV: for each its value, content type, ETag, lifetime in ms or "", and metadata or "". When its
/// memory is used up, Redis refuses the first write or none, so that all or none are stored.
const PUT_MANY: &str = r"
for i, key in ipairs(KEYS) do
  local at = 5 * (i - 1)
  redis.call('HSET', key, 'v', ARGV[at + 1], 't', ARGV[at + 2], 'e', ARGV[at + 3])
  if ARGV[at + 4] == '' then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ARGV[at + 4]) end
  if ARGV[at + 5] == '' then redis.call('HDEL', key, 'm') else redis.call('HSET', key, 'm', ARGV[at + 5]) end
end
return 1";

/// KEYS: entry. ARGV: increment, lifetime in ms or "", smallest or "", largest or "", largest of all, ETag, content
/// type, conditions. Lua's numbers are doubles, which represent counters exactly.
const INCREMENT: &str = conditional!(
    r"
local v = redis.call('HGET', KEYS[1], 'v')
if v and not (string.match(v, '^%-?%d+$') and math.abs(tonumber(v)) <= tonumber(ARGV[5])) then return {'none', ''} end
local n = v and tonumber(v) or 0
local sum = n + tonumber(ARGV[1])
if math.abs(sum) > tonumber(ARGV[5]) or (ARGV[3] ~= '' and sum < tonumber(ARGV[3]))
  or (ARGV[4] ~= '' and sum > tonumber(ARGV[4])) then
  return {'beyond', string.format('%.0f', n)}
end
if not holds(8) then return {'failed', ''} end
local text = string.format('%.0f', sum)
if v then redis.call('HSET', KEYS[1], 'v', text, 'e', ARGV[6])
else
  redis.call('HSET', KEYS[1], 'v', text, 'e', ARGV[6], 't', ARGV[7])
  if ARGV[2] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
end
return {'value', text}"
);

/// Slots of a cluster that are read at once.
const SLOTS_AT_ONCE: usize = 16;

/// Keys in Redis, under one prefix.
#[derive(Clone)]
pub(crate) struct RedisKv {
    link: RedisLink,
    /// The prefix of entries' names.
    prefix: Vec<u8>,
}

/// The fields, and the remaining milliseconds.
type Read = ((Option<Vec<u8>>, Option<String>, Option<String>, Option<String>), i64);

impl RedisKv {
    pub(crate) fn new(link: RedisLink, prefix: &str) -> Self {
        Self { link, prefix: format!("{prefix}kv:").into_bytes() }
    }

    fn entry(&self, key: &Key) -> Vec<u8> {
        [&self.prefix, key.as_bytes()].concat()
    }

    /// Reads entries whose keys are in one slot.
    async fn read(&self, entries: &[Vec<u8>], max_bytes: usize) -> Result<Found, StoreError> {
        let (sum, read): (usize, Vec<Read>) =
            self.link.ask(cmd("EVAL").arg(READ).arg(entries.len()).arg(entries).arg(max_bytes)).await?;
        if sum > max_bytes {
            return Ok(Found::Larger(sum));
        }
        Ok(Found::Entries(read.into_iter().map(entry_of).collect()))
    }

    /// Groups entries by server: one script may name the entries of a group, which are indexes.
    fn groups(&self, entries: &[Vec<u8>]) -> Vec<Vec<usize>> {
        if !self.link.has_slots() {
            return vec![(0..entries.len()).collect()];
        }
        let mut groups = HashMap::<_, Vec<usize>>::new();
        for (place, entry) in entries.iter().enumerate() {
            groups.entry(slot_of(entry)).or_default().push(place);
        }
        groups.into_values().collect()
    }
}

fn entry_of(((value, content_type, etag, metadata), left): Read) -> Option<Entry> {
    Some(Entry {
        value: Bytes::from(value?),
        content_type: content_type.filter(|text| !text.is_empty()),
        etag: etag.unwrap_or_else(|| OLD_ETAG.to_owned()),
        ttl: u64::try_from(left).ok().map(Duration::from_millis),
        metadata: Metadata::of_text(metadata),
    })
}

impl Condition {
    /// The arguments of a script: two numbers of tags, -1 without the condition, and the tags.
    fn arguments(&self) -> Vec<String> {
        let any = || vec!["*".to_owned()];
        let if_match = self.if_match.as_ref().map(|tags| tags.strong().map_or_else(any, owned));
        let if_none_match = self.if_none_match.as_ref().map(|tags| tags.all().map_or_else(any, owned));
        let count =
            |tags: &Option<Vec<String>>| tags.as_ref().map_or_else(|| "-1".into(), |tags| tags.len().to_string());
        let counts = [count(&if_match), count(&if_none_match)];
        counts.into_iter().chain(if_match.into_iter().flatten()).chain(if_none_match.into_iter().flatten()).collect()
    }
}

fn owned<'a>(tags: impl Iterator<Item = &'a str>) -> Vec<String> {
    tags.map(str::to_owned).collect()
}

/// The result of a script that changes an entry.
fn changed(result: String) -> Result<Changed, StoreError> {
    match result.as_str() {
        "done" => Ok(Changed::Done),
        "absent" => Ok(Changed::Absent),
        "failed" => Ok(Changed::Failed),
        _ => Err(StoreFailure::new("Redis: a script has another result").into()),
    }
}

fn millis(ttl: Option<Duration>) -> String {
    ttl.map_or_else(String::new, |ttl| ttl.as_millis().to_string())
}

impl KvStore for RedisKv {
    async fn get(&self, keys: Vec<Key>, max_bytes: usize) -> Result<Found, StoreError> {
        let entries: Vec<Vec<u8>> = keys.iter().map(|key| self.entry(key)).collect();
        if !self.link.has_slots() || entries.len() == 1 {
            return self.read(&entries, max_bytes).await;
        }
        let groups: Vec<(Vec<usize>, Vec<Vec<u8>>)> = self
            .groups(&entries)
            .into_iter()
            .map(|places| {
                let entries = places.iter().filter_map(|place| entries.get(*place).cloned()).collect();
                (places, entries)
            })
            .collect();
        let lengths: Vec<_> = groups
            .iter()
            .map(|(_, entries)| async move {
                self.link.ask::<usize>(cmd("EVAL").arg(LENGTH).arg(entries.len()).arg(entries)).await
            })
            .collect();
        let lengths: Vec<usize> = stream::iter(lengths).buffered(SLOTS_AT_ONCE).try_collect().await?;
        let sum = lengths.iter().sum::<usize>();
        if sum > max_bytes {
            return Ok(Found::Larger(sum));
        }
        // No group may grow meanwhile.
        let read: Vec<_> = groups
            .iter()
            .zip(lengths)
            .map(|((places, entries), length)| async move {
                Ok::<_, StoreError>((places, self.read(entries, length).await?))
            })
            .collect();
        let read: Vec<(&Vec<usize>, Found)> = stream::iter(read).buffer_unordered(SLOTS_AT_ONCE).try_collect().await?;
        let mut found = vec![None; entries.len()];
        for (places, read) in read {
            let Found::Entries(entries) = read else { return Ok(Found::Larger(max_bytes.saturating_add(1))) };
            for (place, entry) in places.iter().zip(entries) {
                found[*place] = entry;
            }
        }
        Ok(Found::Entries(found))
    }

    async fn put(&self, key: Key, put: Put) -> Result<bool, StoreError> {
        let mut command = cmd("EVAL");
        command.arg(PUT).arg(1).arg(self.entry(&key)).arg(&put.value[..]).arg(put.content_type.unwrap_or_default());
        command.arg(put.etag).arg(millis(put.ttl)).arg(put.metadata.to_text().unwrap_or_default());
        command.arg(put.condition.arguments());
        self.link.ask(&command).await
    }

    async fn put_many(&self, entries: Vec<(Key, Put)>) -> Result<(), StoreError> {
        let mut command = cmd("EVAL");
        command.arg(PUT_MANY).arg(entries.len());
        for (key, _) in &entries {
            command.arg(self.entry(key));
        }
        for (_, put) in entries {
            command.arg(&put.value[..]).arg(put.content_type.unwrap_or_default()).arg(put.etag).arg(millis(put.ttl));
            command.arg(put.metadata.to_text().unwrap_or_default());
        }
        self.link.ask::<i64>(&command).await.map(drop)
    }

    async fn touch(&self, key: Key, ttl: Duration, condition: Condition) -> Result<Changed, StoreError> {
        let mut command = cmd("EVAL");
        command.arg(TOUCH).arg(1).arg(self.entry(&key)).arg(millis(Some(ttl))).arg(condition.arguments());
        changed(self.link.ask(&command).await?)
    }

    async fn increment(&self, key: Key, by: Increment) -> Result<Counted, StoreError> {
        let text = |number: Option<i64>| number.map_or_else(String::new, |number| number.to_string());
        let mut command = cmd("EVAL");
        command.arg(INCREMENT).arg(1).arg(self.entry(&key)).arg(by.by).arg(millis(by.ttl));
        command.arg(text(by.min)).arg(text(by.max)).arg(MAX_COUNT).arg(by.etag).arg(COUNTER_TYPE);
        command.arg(by.condition.arguments());
        let (became, value): (String, String) = self.link.ask(&command).await?;
        let value = || value.parse().map_err(|_| StoreFailure::new("Redis: a counter must be a number"));
        Ok(match became.as_str() {
            "value" => Counted::Value(value()?),
            "beyond" => Counted::Beyond(value()?),
            "failed" => Counted::Failed,
            _ => Counted::NoNumber,
        })
    }

    async fn delete(&self, key: Key, condition: Condition) -> Result<Changed, StoreError> {
        let mut command = cmd("EVAL");
        command.arg(DELETE).arg(1).arg(self.entry(&key)).arg(condition.arguments());
        changed(self.link.ask(&command).await?)
    }

    async fn list(&self, prefix: Key, after: Option<Key>, limit: usize) -> Result<Vec<Key>, StoreError> {
        // Redis scans names in no order, so the first ones of a page are kept during the whole scan.
        let pattern = [escape(&self.entry(&prefix)), b"*".to_vec()].concat();
        let mut found = BTreeSet::new();
        let visit = |name: Vec<u8>| {
            let Some(key) = name.strip_prefix(&self.prefix[..]) else { return };
            let key = Key::from_store(key.to_vec());
            if after.as_ref().is_some_and(|after| key <= *after) {
                return;
            }
            found.insert(key);
            if found.len() > limit {
                found.pop_last();
            }
        };
        self.link.scan(&pattern, visit).await?;
        Ok(found.into_iter().collect())
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.link.ping().await
    }
}

/// Escapes bytes for `MATCH`, so that the pattern matches only them.
fn escape(bytes: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if b"*?[]^-\\".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use axum::http::header::{IF_MATCH, IF_NONE_MATCH};

    use super::*;

    #[test]
    fn conditions_are_arguments() {
        let arguments =
            |name, value: &str| Condition::of(&[(name, value.parse().unwrap())].into_iter().collect()).arguments();
        assert_eq!(arguments(IF_MATCH, "\"a\", W/\"b\", \"*\""), ["2", "-1", "\"a\"", "\"*\""]);
        assert_eq!(arguments(IF_NONE_MATCH, "\"a\", W/\"b\""), ["-1", "2", "\"a\"", "\"b\""]);
        assert_eq!(arguments(IF_NONE_MATCH, "*"), ["-1", "1", "*"]);
        assert_eq!(Condition::default().arguments(), ["-1", "-1"]);
    }

    #[test]
    fn patterns_stand_for_themselves() {
        assert_eq!(escape(b"a*[b]?\\"), b"a\\*\\[b\\]\\?\\\\");
    }
}
