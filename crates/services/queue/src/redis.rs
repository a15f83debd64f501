//! Queues in Redis, and the reasons against its streams.
//!
//! A message is in one hash, and in the sorted set of its state: ready, delayed or leased. Messages with a key are in
//! the order of their keys as well. Each step is one script, which Redis runs atomically, so that a killed sidecar
//! leaves no step half done. All names of a queue and of its dead letters have one hash tag, and so one slot of a
//! cluster.
//!
//! A stream with a consumer group guarantees less than a queue. It delivers in the order of the stream, whatever the
//! key. It knows when an entry was delivered and not until when, so neither a timeout for each lease nor a delay for
//! each retry fits in. It accepts an acknowledgement from a consumer whose lease another one has by now. And the ids of
//! a stream only grow, whereas dead letters keep theirs.
//!
//! `maxmemory` can refuse the first write of a script that sends messages, but not of one that consumes them: a full
//! Redis refuses new messages, and delivers those that it has.

use std::sync::LazyLock;
use std::time::Duration;

use ::redis::{Cmd, FromRedisValue, cmd};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::value::RawValue;
use tenon_service::ServicesError;
use tenon_service::lease::iso;
use tenon_service::redis_link::RedisLink;
use tenon_service::store_error::{StoreError, StoreFailure};

use super::{Counts, DEAD, Lease, Leased, NewMessage, QueueStore, Settled};

/// Time that an empty queue is listed for counting.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// Number of queues counted at once.
const COUNTED_AT_ONCE: usize = 16;

/// The prelude of all scripts of a queue. KEYS: those of [`Names::keys`].
///
/// A message has a number in its queue, in the order of sending. Its entry in `messages` is id, time and body; in
/// `leases` it is the number of deliveries, a space, and id and receipt while there is a lease. `order` has members of
/// key, NUL and number, so that the first one of a key is found by its bytes.
const PRELUDE: &str = r"
local own = {messages = KEYS[2], keys = KEYS[3], leases = KEYS[4], ready = KEYS[5], delayed = KEYS[6], leased = KEYS[7],
  order = KEYS[8], numbers = KEYS[1]}
local dead = {messages = KEYS[10], keys = KEYS[11], leases = KEYS[12], ready = KEYS[13], delayed = KEYS[14], leased = KEYS[15],
  order = KEYS[16], numbers = KEYS[9]}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function place(key, number) return key .. '\0' .. string.format('%016.0f', number) end
local function first(q, key)
  local found = redis.call('ZRANGEBYLEX', q.order, '[' .. key .. '\0', '(' .. key .. '\1', 'LIMIT', 0, 1)[1]
  return found and string.format('%.0f', tonumber(string.sub(found, #key + 2)))
end
local function is_first(q, number)
  local key = redis.call('HGET', q.keys, number)
  return not key or first(q, key) == number
end
local function put(q, number, message, key, due)
  redis.call('HSET', q.messages, number, message)
  if key then
    redis.call('HSET', q.keys, number, key)
    redis.call('ZADD', q.order, 0, place(key, number))
  end
  if due then redis.call('ZADD', q.delayed, due, number)
  elseif not key or first(q, key) == number then redis.call('ZADD', q.ready, number, number) end
end
local function drop(q, number)
  redis.call('ZREM', q.ready, number)
  redis.call('ZREM', q.delayed, number)
  redis.call('ZREM', q.leased, number)
  redis.call('HDEL', q.messages, number)
  redis.call('HDEL', q.leases, number)
  local key = redis.call('HGET', q.keys, number)
  if not key then return end
  redis.call('HDEL', q.keys, number)
  redis.call('ZREM', q.order, place(key, number))
  local following = first(q, key)
  if following and not redis.call('ZSCORE', q.delayed, following) and not redis.call('ZSCORE', q.leased, following) then
    redis.call('ZADD', q.ready, following, following)
  end
end
local function attempts_of(q, number)
  return tonumber(string.match(redis.call('HGET', q.leases, number) or '', '^%d+') or 0)
end
local function bury(number)
  local message, key = redis.call('HGET', own.messages, number), redis.call('HGET', own.keys, number)
  local attempts = attempts_of(own, number)
  drop(own, number)
  local there = string.format('%.0f', redis.call('INCR', dead.numbers))
  put(dead, there, message, key, nil)
  redis.call('HSET', dead.leases, there, attempts .. ' ')
end
";

/// ARGV: id of the first message; for each its key or "", its delay in ms, and its body.
const SEND: &str = r"
local count = (#ARGV - 1) / 3
local before = redis.call('INCRBY', own.numbers, count) - count
for i = 1, count do
  local key, delay, body = ARGV[3 * i - 1], tonumber(ARGV[3 * i]), ARGV[3 * i + 1]
  local message = string.format('%.0f %.0f ', ARGV[1] + i - 1, now) .. body
  put(own, string.format('%.0f', before + i), message, key ~= '' and key, delay > 0 and now + delay)
end
return count";

/// ARGV: limit of messages, of their total bytes (the first may have more), visibility in ms, attempts, receipt, steps.
/// Returns for each message its number, message, key or "", and deliveries.
const LEASE: &str = r"
local max, bytes, visibility, attempts, steps = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
for _, number in ipairs(redis.call('ZRANGEBYSCORE', own.delayed, '-inf', now, 'LIMIT', 0, steps)) do
  redis.call('ZREM', own.delayed, number)
  if is_first(own, number) then redis.call('ZADD', own.ready, number, number) end
end
for _, number in ipairs(redis.call('ZRANGEBYSCORE', own.leased, '-inf', now, 'LIMIT', 0, steps)) do
  redis.call('ZREM', own.leased, number)
  redis.call('ZADD', own.ready, number, number)
end
local taken = {}
for _ = 1, steps do
  local number = #taken < max and redis.call('ZRANGE', own.ready, 0, 0)[1]
  if not number then break end
  local size = redis.call('HSTRLEN', own.messages, number)
  if #taken > 0 and size > bytes then break end
  redis.call('ZREM', own.ready, number)
  if size == 0 then drop(own, number)
  elseif is_first(own, number) then
    local before = attempts_of(own, number)
    if before >= attempts then bury(number)
    else
      local message = redis.call('HGET', own.messages, number)
      local id = string.match(message, '^%d+') or ''
      redis.call('ZADD', own.leased, now + visibility, number)
      redis.call('HSET', own.leases, number, (before + 1) .. ' ' .. id .. ':' .. ARGV[5])
      taken[#taken + 1] = {number, message, redis.call('HGET', own.keys, number) or '', before + 1}
      bytes = bytes - size
    end
  end
end
return taken";

/// ARGV: number, id and receipt. Returns whether the lease was valid.
const DONE: &str = r"
local lease = redis.call('HGET', own.leases, ARGV[1]) or ''
if string.match(lease, '^%d+ (.+)$') ~= ARGV[2] then return 0 end
drop(own, ARGV[1])
return 1";

/// ARGV: number, id and receipt, delay in ms, attempts.
const RETRY: &str = r"
local number = ARGV[1]
local before, lease = string.match(redis.call('HGET', own.leases, number) or '', '^(%d+) (.+)$')
if lease ~= ARGV[2] then return 'lost' end
if tonumber(before) >= tonumber(ARGV[4]) then
  bury(number)
  return 'dead'
end
redis.call('ZREM', own.leased, number)
redis.call('ZREM', own.ready, number)
redis.call('HSET', own.leases, number, before .. ' ')
local delay = tonumber(ARGV[3])
if delay > 0 then redis.call('ZADD', own.delayed, now + delay, number)
else redis.call('ZADD', own.ready, number, number) end
return 'again'";

/// Counts the ready, delayed and leased messages of a queue and of its dead letters. Deletes the names of an empty
/// queue.
const COUNTS: &str = r"
local counts = {}
for i, q in ipairs({own, dead}) do
  local all = redis.call('HLEN', q.messages)
  if all == 0 then redis.call('DEL', q.numbers) end
  counts[i] = {all, redis.call('ZCOUNT', q.delayed, '(' .. now, '+inf'), redis.call('ZCOUNT', q.leased, '(' .. now, '+inf')}
end
return counts";

/// KEYS: names of queues, last id. ARGV: number of ids, name of the queue. The first of the ids.
///
/// Ids are microseconds since 1970, or the last id plus one if that is larger. So none is repeated even when Redis
/// loses the last one, which matters because a handler may have stored an id.
const REGISTER: &str = r"
local time = redis.call('TIME')
local first = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2]) or 0) + 1)
redis.call('SET', KEYS[2], string.format('%.0f', first + ARGV[1] - 1))
redis.call('ZADD', KEYS[1], time[1], ARGV[2])
return string.format('%.0f', first)";

/// KEYS: names of queues. ARGV: name of an empty queue, seconds until it is forgotten.
const FORGET: &str = r"
local last = redis.call('ZSCORE', KEYS[1], ARGV[1])
if last and last + ARGV[2] < tonumber(redis.call('TIME')[1]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
return 0";

/// Limit of messages that one lease skips: dead ones, and those of a key with a leased message.
const STEPS: usize = 1000;

/// A script of a queue.
fn script(text: &str) -> String {
    [PRELUDE, text].concat()
}

static SEND_SCRIPT: LazyLock<String> = LazyLock::new(|| script(SEND));
static LEASE_SCRIPT: LazyLock<String> = LazyLock::new(|| script(LEASE));
static DONE_SCRIPT: LazyLock<String> = LazyLock::new(|| script(DONE));
static RETRY_SCRIPT: LazyLock<String> = LazyLock::new(|| script(RETRY));
static COUNTS_SCRIPT: LazyLock<String> = LazyLock::new(|| script(COUNTS));

/// Queues in Redis, under one prefix.
#[derive(Clone)]
pub(crate) struct RedisQueue {
    link: RedisLink,
    names: Names,
}

/// All names in Redis.
#[derive(Clone)]
struct Names {
    prefix: String,
}

impl Names {
    /// The names of queues, and the last id.
    fn shared(&self) -> [String; 2] {
        ["names", "id"].map(|what| format!("{}{{queues}}:{what}", self.prefix))
    }

    /// The names of a queue, and those of its dead letters. A dead letter queue has no dead letters of its own.
    fn keys(&self, queue: &str) -> [String; 16] {
        let own = own_of(queue);
        let base = |dead: &str| format!("{}queue:{{{own}}}{dead}", self.prefix);
        let (here, there) = (base(queue.strip_prefix(own).unwrap_or_default()), base(DEAD));
        const WHAT: [&str; 8] = ["numbers", "messages", "keys", "leases", "ready", "delayed", "leased", "order"];
        std::array::from_fn(|i| match WHAT.get(i) {
            Some(what) => format!("{here}:{what}"),
            None => format!("{there}:{}", WHAT[i - WHAT.len()]),
        })
    }
}

/// The name of a queue without the suffix of dead letters.
fn own_of(queue: &str) -> &str {
    queue.strip_suffix(DEAD).unwrap_or(queue)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A receipt begins with the message's number, with which the message is found.
fn receipt_of(number: &str, receipt: &str) -> String {
    format!("{number}.{receipt}")
}

/// A message that [`LEASE`] returns.
type Taken = (String, Vec<u8>, String, u32);

impl RedisQueue {
    /// Connects, and refuses a Redis that evicts names.
    pub(crate) async fn connect(link: RedisLink, prefix: &str) -> Result<Self, ServicesError> {
        match link.info("memory").await {
            Ok(servers) => servers.iter().try_for_each(|info| check_policy(info))?,
            Err(error) => {
                tracing::warn!("Redis does not show its maxmemory-policy, which must be noeviction: {error:?}");
            }
        }
        let names = Names { prefix: prefix.to_owned() };
        Ok(Self { link, names })
    }

    async fn run<T: FromRedisValue>(
        &self,
        script: &str,
        queue: &str,
        args: impl FnOnce(&mut Cmd),
    ) -> Result<T, StoreError> {
        let keys = self.names.keys(queue);
        let mut command = cmd("EVAL");
        command.arg(script).arg(keys.len()).arg(&keys);
        args(&mut command);
        self.link.ask(&command).await
    }

    /// Makes a message a dead letter when it is not valid JSON: another program changed it, and it can't be delivered.
    async fn bury(&self, queue: &str, number: &str, lease: String) -> Result<(), StoreError> {
        let args = |command: &mut Cmd| {
            command.arg(number).arg(lease).arg(0).arg(if queue.ends_with(DEAD) { u32::MAX } else { 0 });
        };
        self.run::<String>(&RETRY_SCRIPT, queue, args).await.map(drop)
    }

    async fn counts_of(&self, own: String) -> Result<Vec<Counts>, StoreError> {
        let counts: Vec<(i64, i64, i64)> = self.run(&COUNTS_SCRIPT, &own, |_| {}).await?;
        let dead = format!("{own}{DEAD}");
        let named = [own, dead].into_iter().zip(counts);
        let counts = named.filter(|(_, (all, ..))| *all > 0).map(|(name, (all, delayed, leased))| Counts {
            name,
            ready: (all - delayed - leased).max(0),
            delayed,
            leased,
        });
        Ok(counts.collect())
    }
}

/// Refuses the policies that evict names without a time to live. The others keep queues intact.
fn check_policy(info: &str) -> Result<(), ServicesError> {
    let policy = info.lines().find_map(|line| line.trim().strip_prefix("maxmemory_policy:")).unwrap_or_default();
    if !policy.starts_with("allkeys") {
        return Ok(());
    }
    let reason = format!(
        "its maxmemory-policy is {policy}, by which it would delete messages that nobody has handled: set it to noeviction, \
         or to volatile-lru if caches with a time to live share this Redis"
    );
    Err(ServicesError::Backend { what: "Redis", reason })
}

impl QueueStore for RedisQueue {
    async fn send(&self, queue: String, messages: Vec<NewMessage>) -> Result<Vec<i64>, StoreError> {
        let mut register = cmd("EVAL");
        register.arg(REGISTER).arg(2).arg(&self.names.shared()).arg(messages.len()).arg(own_of(&queue));
        let first: i64 = self.link.ask(&register).await?;
        let args = |command: &mut Cmd| {
            command.arg(first);
            for message in &messages {
                command
                    .arg(message.key.as_deref().unwrap_or_default())
                    .arg(millis(message.delay))
                    .arg(message.body.get());
            }
        };
        let sent: i64 = self.run(&SEND_SCRIPT, &queue, args).await?;
        Ok((first..first + sent).collect())
    }

    async fn lease(&self, queue: String, lease: Lease) -> Result<Vec<Leased>, StoreError> {
        let args = |command: &mut Cmd| {
            command.arg(lease.max).arg(lease.max_bytes).arg(millis(lease.visibility)).arg(lease.max_attempts);
            command.arg(&lease.receipt).arg(STEPS + lease.max);
        };
        let taken: Vec<Taken> = self.run(&LEASE_SCRIPT, &queue, args).await?;
        let mut messages = Vec::with_capacity(taken.len());
        for (number, message, key, attempts) in taken {
            let Some((id, sent, body)) = read(&message) else {
                let id: String =
                    message.iter().map(|byte| char::from(*byte)).take_while(char::is_ascii_digit).collect();
                self.bury(&queue, &number, format!("{id}:{}", lease.receipt)).await?;
                continue;
            };
            let receipt = receipt_of(&number, &lease.receipt);
            let key = Some(key).filter(|key| !key.is_empty());
            messages.push(Leased { id, body, key, attempts, sent_at: iso(sent), receipt });
        }
        Ok(messages)
    }

    async fn done(&self, queue: String, id: i64, receipt: String) -> Result<bool, StoreError> {
        let Some((number, receipt)) = receipt.split_once('.') else { return Ok(false) };
        let args = |command: &mut Cmd| {
            command.arg(number).arg(format!("{id}:{receipt}"));
        };
        self.run(&DONE_SCRIPT, &queue, args).await
    }

    async fn retry(
        &self,
        queue: String,
        id: i64,
        receipt: String,
        delay: Duration,
        max_attempts: u32,
    ) -> Result<Settled, StoreError> {
        let Some((number, receipt)) = receipt.split_once('.') else { return Ok(Settled::Lost) };
        let args = |command: &mut Cmd| {
            command.arg(number).arg(format!("{id}:{receipt}")).arg(millis(delay)).arg(max_attempts);
        };
        let settled: String = self.run(&RETRY_SCRIPT, &queue, args).await?;
        Ok(match settled.as_str() {
            "again" => Settled::Again,
            "dead" => Settled::Dead,
            _ => Settled::Lost,
        })
    }

    async fn counts(&self) -> Result<Vec<Counts>, StoreError> {
        let [names, _] = self.names.shared();
        let queues: Vec<String> = self.link.ask(cmd("ZRANGE").arg(&names).arg(0).arg(-1)).await?;
        let names = &names;
        let counted: Vec<_> = queues
            .into_iter()
            .map(|queue| async move {
                let counts = self.counts_of(queue.clone()).await?;
                if counts.is_empty() {
                    let mut forget = cmd("EVAL");
                    forget.arg(FORGET).arg(1).arg(names).arg(queue).arg(REMEMBERED.as_secs());
                    self.link.ask::<i64>(&forget).await?;
                }
                Ok::<_, StoreError>(counts)
            })
            .collect();
        let counted: Vec<Vec<Counts>> = stream::iter(counted).buffer_unordered(COUNTED_AT_ONCE).try_collect().await?;
        let mut counts: Vec<Counts> = counted.into_iter().flatten().collect();
        counts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(counts)
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.link.ping().await
    }
}

/// Reads id, milliseconds since 1970, and body.
fn read(message: &[u8]) -> Option<(i64, i64, Box<RawValue>)> {
    let text = std::str::from_utf8(message).ok()?;
    let mut parts = text.splitn(3, ' ');
    let (id, sent) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((id, sent, RawValue::from_string(parts.next()?.to_owned()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_of_a_queue_have_one_hash_tag() {
        let names = Names { prefix: "tenon:".to_owned() };
        let (own, dead) = (names.keys("mail"), names.keys("mail.dead"));
        assert_eq!(
            (own[0].as_str(), own[8].as_str()),
            ("tenon:queue:{mail}:numbers", "tenon:queue:{mail}.dead:numbers")
        );
        assert_eq!((dead[1].as_str(), dead[9].as_str()), (own[9].as_str(), own[9].as_str()));
        assert!(own.iter().chain(&dead).all(|name| name.contains("{mail}")));
    }

    #[test]
    fn policies() {
        for policy in ["noeviction", "volatile-lru", "volatile-ttl"] {
            assert!(check_policy(&format!("# Memory\r\nmaxmemory_policy:{policy}\r\n")).is_ok(), "{policy}");
        }
        let error = check_policy("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n").unwrap_err().to_string();
        assert!(error.contains("allkeys-lru") && error.contains("noeviction"), "{error}");
    }
}
