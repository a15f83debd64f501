//! Answers under idempotency keys, in a table of the database itself: written in the transaction of the request.

use sqlx::{PgConnection, Row};
use tenon_service::http::charge::Charge;
use tenon_service::postgres_tables;

use super::errors::{Trouble, sql_error};
use crate::{Keyed, Reported, SqlAnswer, SqlError};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS tenon_idempotency (
  key text PRIMARY KEY, request text NOT NULL, answer text, at timestamptz NOT NULL);
CREATE INDEX IF NOT EXISTS tenon_idempotency_at ON tenon_idempotency (at)";

/// Waits for a running transaction that has claimed the key. An answer is kept for a day.
const CLAIM: &str = "INSERT INTO tenon_idempotency AS kept (key, request, at) VALUES ($1, $2, now())
ON CONFLICT (key) DO UPDATE SET request = excluded.request, answer = NULL, at = excluded.at
WHERE kept.at <= now() - interval '1 day'";

const FIND: &str = "SELECT request, coalesce(answer, '') FROM tenon_idempotency WHERE key = $1";

const KEEP: &str = "WITH late AS (SELECT key FROM tenon_idempotency WHERE at <= now() - interval '1 day' AND key <> $1
  LIMIT 16 FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM tenon_idempotency WHERE key IN (SELECT key FROM late))
UPDATE tenon_idempotency SET answer = $2 WHERE key = $1";

const UNDEFINED_TABLE: &str = "42P01";

/// Claims a key for the current transaction, or returns the answer of an earlier one.
pub(super) async fn claim(
    connection: &mut PgConnection,
    keyed: &Keyed,
    charge: &Charge,
) -> Result<Option<SqlAnswer>, Trouble> {
    let claimed = sqlx::query(CLAIM).bind(&keyed.key).bind(&keyed.request).execute(&mut *connection).await;
    let claimed = claimed.map_err(|error| {
        let code = error.as_database_error().and_then(|error| error.code());
        let misses_keys = code.as_deref() == Some(UNDEFINED_TABLE);
        Trouble { misses_keys, ..Trouble::from(error) }
    })?;
    if claimed.rows_affected() > 0 {
        return Ok(None);
    }
    let found = sqlx::query(FIND).bind(&keyed.key).fetch_one(connection).await?;
    let (request, body): (&str, &str) = (found.try_get(0)?, found.try_get(1)?);
    // The row and the answer.
    charge.take(2 * body.len()).map_err(SqlError::from)?;
    let body = body.to_owned();
    if request == keyed.request {
        Ok(Some(SqlAnswer { body, replayed: true }))
    } else {
        Err(SqlError::KeyReused.into())
    }
}

/// Stores the answer of the current transaction, and deletes some expired ones.
pub(super) async fn keep(
    connection: &mut PgConnection,
    keyed: &Keyed,
    answer: &str,
    charge: &Charge,
) -> Result<(), Trouble> {
    // The argument, and the message to the server.
    charge.take(3 * answer.len()).map_err(SqlError::from)?;
    sqlx::query(KEEP).bind(&keyed.key).bind(answer).execute(connection).await?;
    Ok(())
}

/// Makes the table.
///
/// # Errors
///
/// A missing right, with the remedy.
pub(super) async fn create(connection: &mut PgConnection) -> Result<(), SqlError> {
    let Err(error) = postgres_tables::make(connection, CREATE).await else { return Ok(()) };
    match sql_error(&error) {
        SqlError::Database(reported) => {
            let message = format!(
                "an Idempotency-Key needs the table tenon_idempotency, which could not be made: {}",
                reported.message
            );
            Err(SqlError::Database(Box::new(Reported { message, ..*reported })))
        }
        other => Err(other),
    }
}
