//! Requests share connections, except those with a changed session.

use std::ops::{Deref, DerefMut};

use sqlx::{Connection, Executor, PgConnection};

use super::access::Run;
use super::meter::Meter;
use super::pool::Pooled;

/// A connection of the pool. It is closed on drop, unless [`Session::give_back`] was called: after a disconnected
/// client or a failed statement, the session's state is unknown.
pub(super) struct Session {
    pooled: Pooled,
    shared: bool,
}

impl Session {
    /// Prepares a connection for statements. Those that could read an earlier request's session state, such as the
    /// texts of prepared statements and the last value of a sequence, get a new session.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) async fn of(pooled: Pooled, runs: &[Run]) -> Result<Self, sqlx::Error> {
        if runs.iter().all(|run| run.shares_session) {
            return Ok(Self { pooled, shared: true });
        }
        Ok(Self { shared: false, ..Self::fresh(pooled).await? })
    }

    /// Prepares a connection for statements that are not known yet.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) async fn fresh(pooled: Pooled) -> Result<Self, sqlx::Error> {
        let mut session = Self { pooled, shared: true };
        session.clear_cached_statements().await?;
        session.execute("DISCARD SEQUENCES").await?;
        Ok(session)
    }

    /// Records that a statement runs. If it may leave session state behind, the connection is not reused.
    pub(super) fn note(&mut self, run: Run) {
        self.shared &= run.shares_session;
    }

    /// Closes the connection after its last statement.
    pub(super) fn close_later(&mut self) {
        self.shared = false;
    }

    /// Counts the bytes of the connection.
    pub(super) fn meter(&self) -> &Meter {
        self.pooled.meter()
    }

    /// Returns the connection to the pool, if its statements left no session state.
    pub(super) fn give_back(self) {
        if self.shared {
            self.pooled.give_back();
        }
    }
}

impl Deref for Session {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.pooled.connection()
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.pooled.connection_mut()
    }
}
