//! Connections are shared by requests, but for those whose session may not be as it was.

use std::ops::{Deref, DerefMut};

use sqlx::{Connection, Executor, PgConnection};

use super::access::Run;
use super::pool::Pooled;

/// A connection of the pool. It is closed when it is dropped, unless [`Session::give_back`] was called: a request whose client
/// has left, or whose statement did not end well, leaves a session that nobody knows the state of.
pub(super) struct Session {
    pooled: Pooled,
    shared: bool,
}

impl Session {
    /// Prepares a connection for statements. Those that could read what earlier requests left in the session, such as the
    /// texts of prepared statements and the last value of a sequence, find none of it.
    ///
    /// # Errors
    ///
    /// The database's.
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
    /// The database's.
    pub(super) async fn fresh(pooled: Pooled) -> Result<Self, sqlx::Error> {
        let mut session = Self { pooled, shared: true };
        session.clear_cached_statements().await?;
        session.execute("DISCARD SEQUENCES").await?;
        Ok(session)
    }

    /// Notes that a statement runs: one that may leave something in the session keeps it from other requests.
    pub(super) fn note(&mut self, run: Run) {
        self.shared &= run.shares_session;
    }

    /// Gives the connection to the next request, if its statements certainly left nothing in the session.
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
