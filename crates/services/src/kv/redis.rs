//! Keys in Redis: each entry is a hash of value and content type. Redis lists its keys in no order and none by prefix, so
//! there is a sorted set of them beside, and one of when they expire. Every step is one script, which Redis runs as a whole.

use std::time::Duration;

use ::redis::aio::ConnectionManager;
use ::redis::{Cmd, FromRedisValue, RedisError, cmd};
use bytes::Bytes;

use super::{Entry, Key, KvStore, StoreError};

/// KEYS: entry, names, expiries. ARGV: name, value, content type or "", lifetime in ms or "", entries' prefix.
const PUT: &str = r"
redis.call('DEL', KEYS[1])
if ARGV[3] == '' then redis.call('HSET', KEYS[1], 'v', ARGV[2])
else redis.call('HSET', KEYS[1], 'v', ARGV[2], 't', ARGV[3]) end
redis.call('ZADD', KEYS[2], 0, ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[4] == '' then redis.call('ZREM', KEYS[3], ARGV[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[1])
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 16)) do
  redis.call('ZREM', KEYS[3], name)
  if redis.call('EXISTS', ARGV[5] .. name) == 0 then redis.call('ZREM', KEYS[2], name) end
end
return 1";

/// KEYS: entry, names, expiries. ARGV: name.
const DELETE: &str = r"
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return redis.call('DEL', KEYS[1])";

/// KEYS: names. ARGV: from, to (as ZRANGEBYLEX has them), limit, entries' prefix.
const LIST: &str = r"
local found, from = {}, ARGV[1]
while #found < tonumber(ARGV[3]) do
  local names = redis.call('ZRANGEBYLEX', KEYS[1], from, ARGV[2], 'LIMIT', 0, 256)
  for _, name in ipairs(names) do
    if redis.call('EXISTS', ARGV[4] .. name) == 1 then found[#found + 1] = name end
    if #found == tonumber(ARGV[3]) then break end
  end
  if #names < 256 then break end
  from = '(' .. names[#names]
end
return found";

/// Keys in Redis, all of them under one prefix.
#[derive(Clone)]
pub(crate) struct RedisKv {
    connection: ConnectionManager,
    prefix: String,
}

impl RedisKv {
    pub(crate) fn new(connection: ConnectionManager, prefix: &str) -> Self {
        Self { connection, prefix: prefix.to_string() }
    }

    fn entry(&self, key: &Key) -> Vec<u8> {
        [self.entries().as_bytes(), key.as_bytes()].concat()
    }

    fn entries(&self) -> String {
        format!("{}kv:", self.prefix)
    }

    fn names(&self) -> String {
        format!("{}names", self.prefix)
    }

    fn expiries(&self) -> String {
        format!("{}expiries", self.prefix)
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        command.query_async(&mut self.connection.clone()).await.map_err(|error: RedisError| format!("Redis: {error}"))
    }
}

impl KvStore for RedisKv {
    async fn get(&self, key: Key) -> Result<Option<Entry>, StoreError> {
        let (value, content_type): (Option<Vec<u8>>, Option<String>) =
            self.ask(cmd("HMGET").arg(self.entry(&key)).arg("v").arg("t")).await?;
        Ok(value.map(|value| Entry { value: Bytes::from(value), content_type }))
    }

    async fn put(&self, key: Key, entry: Entry, ttl: Option<Duration>) -> Result<(), StoreError> {
        let mut command = cmd("EVAL");
        command.arg(PUT).arg(3).arg(self.entry(&key)).arg(self.names()).arg(self.expiries());
        command.arg(key.as_bytes()).arg(&entry.value[..]).arg(entry.content_type.unwrap_or_default());
        command.arg(ttl.map_or_else(String::new, |ttl| ttl.as_millis().to_string())).arg(self.entries());
        self.ask::<i64>(&command).await.map(drop)
    }

    async fn delete(&self, key: Key) -> Result<bool, StoreError> {
        let mut command = cmd("EVAL");
        command.arg(DELETE).arg(3).arg(self.entry(&key)).arg(self.names()).arg(self.expiries()).arg(key.as_bytes());
        self.ask(&command).await
    }

    async fn list(&self, prefix: Key, after: Option<Key>, limit: usize) -> Result<Vec<Key>, StoreError> {
        let bound = |sign: &[u8], key: &Key| [sign, key.as_bytes()].concat();
        let from = match after {
            Some(after) if after >= prefix => bound(b"(", &after),
            _ => bound(b"[", &prefix),
        };
        let to = prefix.behind_prefix().map_or_else(|| b"+".to_vec(), |end| bound(b"(", &end));
        let mut command = cmd("EVAL");
        command.arg(LIST).arg(1).arg(self.names()).arg(from).arg(to).arg(limit).arg(self.entries());
        Ok(self.ask::<Vec<Vec<u8>>>(&command).await?.into_iter().map(Key::from_store).collect())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.ask::<String>(&cmd("PING")).await.map(drop)
    }
}
