//! Queues in PostgreSQL. Consumers skip rows that another one is leasing (`SKIP LOCKED`); times are the server's own.

use std::time::Duration;

use futures::TryStreamExt;
use serde_json::value::RawValue;
use sqlx::Row;
use tenon_service::lease::iso;
use tenon_service::postgres_tables::{self, Tables, store_error};
use tenon_service::store_error::{StoreError, StoreFailure};
use tenon_service::{Limits, ServicesError};

use super::{Counts, DEAD, Lease, Leased, NewMessage, QueueStore, Settled};

/// A message with a receipt is leased until it is due.
const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS tenon_queue (
  id bigserial PRIMARY KEY, queue text NOT NULL, body text NOT NULL, key text, attempts int NOT NULL DEFAULT 0,
  sent timestamptz NOT NULL DEFAULT clock_timestamp(), due timestamptz NOT NULL, receipt text);
CREATE INDEX IF NOT EXISTS tenon_queue_oldest ON tenon_queue (queue, due, id);
CREATE INDEX IF NOT EXISTS tenon_queue_unkeyed ON tenon_queue (queue, due, id) WHERE key IS NULL;
CREATE INDEX IF NOT EXISTS tenon_queue_key ON tenon_queue (queue, key, id) WHERE key IS NOT NULL";

const SEND: &str = "INSERT INTO tenon_queue (queue, body, key, due)
SELECT $1, m.body, m.key, clock_timestamp() + m.delay * interval '1 millisecond'
FROM unnest($2::text[], $3::text[], $4::float8[]) WITH ORDINALITY AS m(body, key, delay, place) ORDER BY m.place
RETURNING id";

/// Leases the rows of `found` as long as their bodies fit, and with `$8` the first one in any case. A message whose attempts are used up is dead: its consumer ended during the last one.
macro_rules! lease {
    ($due:literal) => {
        concat!(
            "WITH RECURSIVE ",
            $due,
            ", due AS (
  SELECT id FROM (
    SELECT id, bytes, sum(bytes) OVER (ORDER BY due, id ROWS UNBOUNDED PRECEDING) AS sum FROM (
      SELECT id, due, CASE WHEN attempts < $5 THEN octet_length(body) ELSE 0 END AS bytes FROM found) AS sized) AS summed
  WHERE sum <= $7 OR (sum = bytes AND $8)), dead AS (
  UPDATE tenon_queue AS m SET queue = m.queue || $6, receipt = NULL FROM due
  WHERE m.id = due.id AND m.attempts >= $5)
UPDATE tenon_queue AS m
SET attempts = m.attempts + 1, receipt = $4, due = clock_timestamp() + $3 * interval '1 millisecond'
FROM due WHERE m.id = due.id AND m.attempts < $5
RETURNING m.id, m.body, m.key, m.attempts, (extract(epoch FROM m.sent) * 1000)::int8"
        )
    };
}

/// Finds the messages that have been due the longest, only the oldest of each key. Times are compared with `now()`, so
/// that an index is used.
const LEASE: &str = lease!(
    "oldest AS (
  SELECT id, key FROM tenon_queue WHERE queue = $1 AND due <= now() ORDER BY due, id LIMIT 500),
heads AS (
  SELECT id FROM oldest AS o WHERE key IS NULL OR NOT EXISTS (
    SELECT FROM tenon_queue AS e WHERE e.queue = $1 AND e.key = o.key AND e.id < o.id)),
found AS (
  SELECT id, due, attempts, body FROM tenon_queue WHERE id IN (SELECT id FROM heads) AND queue = $1 AND due <= now()
  ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED)"
);

/// Reports whether [`LEASE`] may have missed messages.
const IS_MORE: &str = "SELECT count(*) = 500 FROM (
  SELECT FROM tenon_queue WHERE queue = $1 AND due <= now() ORDER BY due, id LIMIT 500) AS oldest";

/// Finds all messages without a key, and the oldest one of each key, and skips those waiting behind it.
const LEASE_HEADS: &str = lease!(
    "heads AS (
  (SELECT id, key FROM tenon_queue WHERE queue = $1 AND key IS NOT NULL ORDER BY key, id LIMIT 1)
  UNION ALL
  SELECT n.id, n.key FROM heads AS h, LATERAL (
    SELECT id, key FROM tenon_queue WHERE queue = $1 AND key > h.key ORDER BY key, id LIMIT 1) AS n),
keyed AS (
  SELECT id, due, attempts, body FROM tenon_queue WHERE id IN (SELECT id FROM heads) AND queue = $1 AND due <= now()
  ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED),
unkeyed AS (
  SELECT id, due, attempts, body FROM tenon_queue WHERE queue = $1 AND key IS NULL AND due <= now()
  ORDER BY due, id LIMIT $2 FOR UPDATE SKIP LOCKED),
found AS (
  SELECT * FROM (SELECT * FROM keyed UNION ALL SELECT * FROM unkeyed) AS either ORDER BY due, id LIMIT $2)"
);

const DONE: &str = "DELETE FROM tenon_queue WHERE id = $1 AND queue = $2 AND receipt = $3";

const RETRY: &str = "UPDATE tenon_queue SET receipt = NULL,
  queue = CASE WHEN attempts >= $5 THEN queue || $6 ELSE queue END,
  due = CASE WHEN attempts >= $5 THEN clock_timestamp() ELSE clock_timestamp() + $4 * interval '1 millisecond' END
WHERE id = $1 AND queue = $2 AND receipt = $3 RETURNING attempts >= $5";

const COUNTS: &str = "SELECT queue, count(*) FILTER (WHERE due <= now()),
  count(*) FILTER (WHERE due > now() AND receipt IS NULL), count(*) FILTER (WHERE due > now() AND receipt IS NOT NULL)
FROM tenon_queue GROUP BY queue ORDER BY queue";

/// Queues in a PostgreSQL database.
#[derive(Clone)]
pub(crate) struct PostgresQueue(Tables);

fn failed(error: sqlx::Error) -> StoreError {
    store_error(error).into()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

impl PostgresQueue {
    /// Connects, and makes the table.
    pub(crate) async fn connect(url: &str, limits: &Limits) -> Result<Self, ServicesError> {
        postgres_tables::open(url, limits, SCHEMA, "the table tenon_queue").await.map(Self)
    }

    async fn is_more(&self, queue: &str) -> Result<bool, StoreError> {
        sqlx::query_scalar(IS_MORE).bind(queue).fetch_one(&self.0.pool).await.map_err(failed)
    }

    async fn take(
        &self,
        statement: &'static str,
        queue: &str,
        lease: &Lease,
        taken: &mut Vec<Leased>,
    ) -> Result<(), StoreError> {
        let max = lease.max - taken.len();
        let bytes: usize = taken.iter().map(|message| message.body.get().len()).sum();
        let asked = sqlx::query(statement)
            .bind(queue)
            .bind(i64::try_from(max).unwrap_or(1))
            .bind(millis(lease.visibility))
            .bind(&lease.receipt)
            .bind(i32::try_from(lease.max_attempts).unwrap_or(i32::MAX))
            .bind(DEAD)
            .bind(i64::try_from(lease.max_bytes.saturating_sub(bytes)).unwrap_or(i64::MAX))
            .bind(taken.is_empty());
        let mut rows = asked.fetch(&self.0.pool);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            let attempts: i32 = row.try_get(3).map_err(failed)?;
            taken.push(Leased {
                id: row.try_get(0).map_err(failed)?,
                body: RawValue::from_string(row.try_get(1).map_err(failed)?).map_err(StoreFailure::new)?,
                key: row.try_get(2).map_err(failed)?,
                attempts: u32::try_from(attempts).unwrap_or_default(),
                sent_at: iso(row.try_get(4).map_err(failed)?),
                receipt: lease.receipt.clone(),
            });
        }
        Ok(())
    }
}

impl QueueStore for PostgresQueue {
    async fn send(&self, queue: String, messages: Vec<NewMessage>) -> Result<Vec<i64>, StoreError> {
        let bodies: Vec<&str> = messages.iter().map(|message| message.body.get()).collect();
        let keys: Vec<Option<&str>> = messages.iter().map(|message| message.key.as_deref()).collect();
        let delays: Vec<f64> = messages.iter().map(|message| millis(message.delay)).collect();
        let sent = sqlx::query_scalar(SEND).bind(queue).bind(bodies).bind(keys).bind(delays);
        sent.fetch_all(&self.0.pool).await.map_err(failed)
    }

    async fn lease(&self, queue: String, lease: Lease) -> Result<Vec<Leased>, StoreError> {
        let mut taken = Vec::new();
        self.take(LEASE, &queue, &lease, &mut taken).await?;
        if taken.len() < lease.max && self.is_more(&queue).await? {
            self.take(LEASE_HEADS, &queue, &lease, &mut taken).await?;
        }
        // An UPDATE returns rows in no order.
        taken.sort_by_key(|message| message.id);
        Ok(taken)
    }

    async fn done(&self, queue: String, id: i64, receipt: String) -> Result<bool, StoreError> {
        let done = sqlx::query(DONE).bind(id).bind(queue).bind(receipt).execute(&self.0.pool).await.map_err(failed)?;
        Ok(done.rows_affected() > 0)
    }

    async fn retry(
        &self,
        queue: String,
        id: i64,
        receipt: String,
        delay: Duration,
        max_attempts: u32,
    ) -> Result<Settled, StoreError> {
        let retried = sqlx::query_scalar(RETRY)
            .bind(id)
            .bind(queue)
            .bind(receipt)
            .bind(millis(delay))
            .bind(i32::try_from(max_attempts).unwrap_or(i32::MAX))
            .bind(DEAD);
        let dead: Option<bool> = retried.fetch_optional(&self.0.pool).await.map_err(failed)?;
        Ok(match dead {
            None => Settled::Lost,
            Some(true) => Settled::Dead,
            Some(false) => Settled::Again,
        })
    }

    async fn counts(&self) -> Result<Vec<Counts>, StoreError> {
        let rows =
            sqlx::query_as::<_, (String, i64, i64, i64)>(COUNTS).fetch_all(&self.0.pool).await.map_err(failed)?;
        Ok(rows.into_iter().map(|(name, ready, delayed, leased)| Counts { name, ready, delayed, leased }).collect())
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.0.ping().await
    }
}
