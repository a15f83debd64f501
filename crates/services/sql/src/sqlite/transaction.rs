//! A transaction that is open between requests.

use std::time::Instant;

use tenon_service::Limits;

use super::errors::sql_error;
use super::foreign_keys::{self, Violations};
use super::pool::Pooled;
use super::run_all;
use crate::{Failed, SqlAnswer, SqlError, SqlRequest};

/// A connection on which a transaction has begun. Dropping it closes the connection, and SQLite rolls back.
pub(crate) struct Transaction {
    pooled: Pooled,
    /// The violated foreign keys at its beginning, if none is enforced in it.
    before: Option<Violations>,
}

impl Transaction {
    /// Begins as a writer. The connection is fresh, so that `changes()` and the like refer to the transaction.
    pub(super) async fn begin(mut pooled: Pooled, foreign_keys: bool) -> Result<Self, SqlError> {
        let interrupter = pooled.interrupter();
        let work = move || {
            pooled.set_timeout();
            if pooled.is_used() {
                pooled.refresh().map_err(sql_error)?;
            }
            let begin = if pooled.access().read_only { "BEGIN" } else { "BEGIN IMMEDIATE" };
            if !foreign_keys {
                foreign_keys::turn_off(&mut pooled)?;
            }
            pooled.control(begin).map_err(sql_error)?;
            let before = if foreign_keys { None } else { Some(foreign_keys::violations(&mut pooled)?) };
            Ok(Self { pooled, before })
        };
        let begun = blocking(work).await;
        interrupter.defuse();
        begun.unwrap_or_else(Err)
    }

    pub(super) async fn run(
        self,
        request: SqlRequest,
        limits: Limits,
        deadline: Instant,
    ) -> Result<(SqlAnswer, Self), Failed> {
        let Self { mut pooled, before } = self;
        let interrupter = pooled.interrupter();
        pooled.set_deadline(deadline);
        let work = move || match run_all(&mut pooled, &request, &limits) {
            Ok(answer) => Ok((answer, Self { pooled, before })),
            Err(failed) => {
                pooled.roll_back();
                Err(failed)
            }
        };
        let done = blocking(work).await;
        interrupter.defuse();
        done.map_err(Failed::before)?
    }

    pub(super) async fn commit(self, deadline: Instant) -> Result<(), SqlError> {
        let Self { mut pooled, before } = self;
        let work = move || {
            pooled.set_deadline(deadline);
            let checked = before.map_or(Ok(()), |before| foreign_keys::require_no_more(&mut pooled, &before));
            let committed = checked.and_then(|()| pooled.commit());
            if committed.is_err() {
                pooled.roll_back();
            }
            pooled.settle();
            committed
        };
        blocking(work).await?
    }

    pub(super) async fn roll_back(self) {
        let Self { mut pooled, .. } = self;
        if let Err(error) = blocking(move || pooled.roll_back()).await {
            tracing::error!("SQLite: {error:?}");
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SqlError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| SqlError::Internal(error.to_string()))
}
