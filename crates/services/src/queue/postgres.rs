//! Queues in PostgreSQL. Consumers pass over the rows that another one is just taking (`SKIP LOCKED`); times are the
//! server's own.

use std::time::Duration;

use serde_json::value::RawValue;
use sqlx::Row;
use sqlx::postgres::PgPool;

use super::{Counts, DEAD, Lease, Leased, NewMessage, QueueStore, Settled, StoreError};
use crate::lease::iso;
use crate::postgres_tables::{self, store_error};
use crate::{Limits, ServicesError};

/// A message with a receipt is leased until it is due.
const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS tenon_queue (
  id bigserial PRIMARY KEY, queue text NOT NULL, body text NOT NULL, key text, attempts int NOT NULL DEFAULT 0,
  sent timestamptz NOT NULL DEFAULT clock_timestamp(), due timestamptz NOT NULL, receipt text);
CREATE INDEX IF NOT EXISTS tenon_queue_due ON tenon_queue (queue, due);
CREATE INDEX IF NOT EXISTS tenon_queue_key ON tenon_queue (queue, key, id) WHERE key IS NOT NULL";

const SEND: &str = "INSERT INTO tenon_queue (queue, body, key, due)
SELECT $1, m.body, m.key, clock_timestamp() + m.delay * interval '1 millisecond'
FROM unnest($2::text[], $3::text[], $4::float8[]) WITH ORDINALITY AS m(body, key, delay, place) ORDER BY m.place
RETURNING id";

/// A message that has had its attempts and comes up again was its consumer's end: it is dead. Of one key, only the oldest is
/// found.
const LEASE: &str = "WITH due AS (
  SELECT id FROM tenon_queue AS m
  WHERE queue = $1 AND due <= clock_timestamp() AND (key IS NULL OR NOT EXISTS (
    SELECT FROM tenon_queue AS e WHERE e.queue = m.queue AND e.key = m.key AND e.id < m.id))
  ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED),
dead AS (
  UPDATE tenon_queue AS m SET queue = m.queue || $6, receipt = NULL FROM due
  WHERE m.id = due.id AND m.attempts >= $5)
UPDATE tenon_queue AS m
SET attempts = m.attempts + 1, receipt = $4, due = clock_timestamp() + $3 * interval '1 millisecond'
FROM due WHERE m.id = due.id AND m.attempts < $5
RETURNING m.id, m.body, m.key, m.attempts, (extract(epoch FROM m.sent) * 1000)::int8";

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
pub(crate) struct PostgresQueue(PgPool);

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

impl PostgresQueue {
    /// Connects, and makes the table.
    pub(crate) async fn connect(url: &str, limits: &Limits) -> Result<Self, ServicesError> {
        postgres_tables::open(url, limits, SCHEMA, "the table tenon_queue").await.map(Self)
    }
}

impl QueueStore for PostgresQueue {
    async fn send(&self, queue: String, messages: Vec<NewMessage>) -> Result<Vec<i64>, StoreError> {
        let bodies: Vec<&str> = messages.iter().map(|message| message.body.as_str()).collect();
        let keys: Vec<Option<&str>> = messages.iter().map(|message| message.key.as_deref()).collect();
        let delays: Vec<f64> = messages.iter().map(|message| millis(message.delay)).collect();
        let sent = sqlx::query_scalar(SEND).bind(queue).bind(bodies).bind(keys).bind(delays);
        sent.fetch_all(&self.0).await.map_err(store_error)
    }

    async fn lease(&self, queue: String, lease: Lease) -> Result<Vec<Leased>, StoreError> {
        let asked = sqlx::query(LEASE)
            .bind(queue)
            .bind(i64::try_from(lease.max).unwrap_or(1))
            .bind(millis(lease.visibility))
            .bind(&lease.receipt)
            .bind(i32::try_from(lease.max_attempts).unwrap_or(i32::MAX))
            .bind(DEAD);
        let rows = asked.fetch_all(&self.0).await.map_err(store_error)?;
        let mut taken = Vec::with_capacity(rows.len());
        for row in rows {
            let attempts: i32 = row.try_get(3).map_err(store_error)?;
            taken.push(Leased {
                id: row.try_get(0).map_err(store_error)?,
                body: RawValue::from_string(row.try_get(1).map_err(store_error)?).map_err(|error| error.to_string())?,
                key: row.try_get(2).map_err(store_error)?,
                attempts: u32::try_from(attempts).unwrap_or_default(),
                sent_at: iso(row.try_get(4).map_err(store_error)?),
                receipt: lease.receipt.clone(),
            });
        }
        // An UPDATE gives rows in no order.
        taken.sort_by_key(|message| message.id);
        Ok(taken)
    }

    async fn done(&self, queue: String, id: i64, receipt: String) -> Result<bool, StoreError> {
        let done = sqlx::query(DONE).bind(id).bind(queue).bind(receipt).execute(&self.0).await.map_err(store_error)?;
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
        let dead: Option<bool> = retried.fetch_optional(&self.0).await.map_err(store_error)?;
        Ok(match dead {
            None => Settled::Lost,
            Some(true) => Settled::Dead,
            Some(false) => Settled::Again,
        })
    }

    async fn counts(&self) -> Result<Vec<Counts>, StoreError> {
        let rows =
            sqlx::query_as::<_, (String, i64, i64, i64)>(COUNTS).fetch_all(&self.0).await.map_err(store_error)?;
        Ok(rows.into_iter().map(|(name, ready, delayed, leased)| Counts { name, ready, delayed, leased }).collect())
    }

    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.0).await.map(drop).map_err(store_error)
    }
}
