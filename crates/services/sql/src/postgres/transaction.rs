//! A transaction that is open between requests.

use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};
use tokio::time::{Instant, timeout, timeout_at};

use super::errors::{Trouble, sql_error};
use super::session::Session;
use super::{GRACE, PostgresSql};
use crate::{Failed, Isolation, Outcome, SqlAnswer, SqlError, SqlRequest};

/// A session in which a transaction has begun. Dropping it closes the connection, and the server rolls back.
pub(crate) struct Transaction {
    session: Session,
    changes_schema: bool,
}

impl Transaction {
    pub(super) async fn begin(store: &PostgresSql, isolation: Option<Isolation>) -> Result<Self, SqlError> {
        let mut reconnected = false;
        loop {
            // Without prepared statements, because they cannot be prepared again in a failed transaction.
            let session = Session::fresh(store.pool.acquire().await?).await;
            let begun = match session {
                Ok(mut session) => {
                    let sql = AssertSqlSafe(store.begin_sql(isolation)).into_sql_str();
                    session.execute(sql).await.map(|_| session)
                }
                Err(error) => Err(error),
            };
            match begun.map_err(|error| sql_error(&error)) {
                Ok(session) => return Ok(Self { session, changes_schema: false }),
                // The server may have restarted since the connection's last use.
                Err(SqlError::Lost) if !reconnected => {
                    store.pool.distrust();
                    reconnected = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) async fn run(
        mut self,
        store: &PostgresSql,
        request: SqlRequest,
        deadline: Instant,
    ) -> Result<(SqlAnswer, Self), Failed> {
        let runs = match store.decide(&request.statements, deadline).await {
            Ok(runs) => runs,
            Err(failed) => {
                self.roll_back().await;
                return Err(failed);
            }
        };
        for run in &runs {
            self.session.note(*run);
            self.changes_schema |= run.changes_schema;
        }
        let mut at = 0;
        let session = &mut self.session;
        let work = async {
            let mut outcomes: Vec<Outcome> = Vec::with_capacity(request.statements.len());
            let mut taken = 0;
            for (index, (statement, run)) in request.statements.iter().zip(&runs).enumerate() {
                at = index;
                let outcome = store.run_one(session, &request, statement, *run, taken).await?;
                statement.check(&outcome)?;
                taken += outcome.rows.len();
                outcomes.push(outcome);
            }
            Ok::<_, Trouble>(request.answer_of(&outcomes)?)
        };
        let error = match timeout_at(deadline, work).await {
            Ok(Ok(body)) => return Ok((SqlAnswer { body, replayed: false }, self)),
            Ok(Err(trouble)) => trouble.error,
            Err(_) => SqlError::TimedOut,
        };
        // There may be unread rows: dropping the session closes the connection.
        let unread = matches!(error, SqlError::TooMuch(_) | SqlError::TimedOut | SqlError::Internal(_));
        if !unread && !matches!(error, SqlError::Lost | SqlError::Busy) {
            self.roll_back().await;
        }
        Err(Failed::of(at, error))
    }

    pub(super) async fn commit(mut self, store: &PostgresSql) -> Result<(), SqlError> {
        let limit = store.limits.statement_timeout + GRACE;
        let committed = match timeout(limit, self.session.execute("COMMIT")).await {
            Ok(committed) => committed.map(drop).map_err(|error| sql_error(&error)),
            Err(_) => return Err(SqlError::Unknown { keyed: false }),
        };
        match committed {
            Ok(()) => {
                if self.changes_schema {
                    store.pool.distrust();
                }
                self.session.give_back();
                Ok(())
            }
            Err(SqlError::Lost) => Err(SqlError::Unknown { keyed: false }),
            Err(error) => {
                // A deferred constraint, or another transaction: the server has rolled back.
                self.roll_back().await;
                Err(error)
            }
        }
    }

    pub(super) async fn roll_back(mut self) {
        if let Ok(Ok(_)) = timeout(GRACE, self.session.execute("ROLLBACK")).await {
            self.session.give_back();
        }
    }
}
