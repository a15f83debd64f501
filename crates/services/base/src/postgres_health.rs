//! The connection of `/health` to PostgreSQL, apart from the pool: the database may be healthy while all other
//! connections are in use.

use std::sync::Arc;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor, Row};
use tokio::sync::Mutex;

use crate::postgres_mark::Mark;

/// The connection, made on demand. Cloning shares it.
#[derive(Clone)]
pub struct HealthConnection(Arc<Inner>);

struct Inner {
    options: PgConnectOptions,
    mark: Mark,
    kept: Mutex<Option<PgConnection>>,
}

impl HealthConnection {
    /// Makes a connection for health checks that opens at the first one.
    pub fn new(options: PgConnectOptions, mark: Mark) -> Self {
        Self(Arc::new(Inner { options, mark, kept: Mutex::default() }))
    }

    /// Asks the database whether it is a replica.
    pub async fn is_replica(&self) -> Result<bool, sqlx::Error> {
        let mut kept = self.0.kept.lock().await;
        // The server may have restarted since.
        if let Some(mut connection) = kept.take()
            && let Ok(is_replica) = in_recovery(&mut connection).await
        {
            *kept = Some(connection);
            return Ok(is_replica);
        }
        let mut connection = PgConnection::connect_with(&self.0.options).await?;
        self.0.mark.check(&mut connection).await?;
        let is_replica = in_recovery(&mut connection).await?;
        *kept = Some(connection);
        Ok(is_replica)
    }
}

async fn in_recovery(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    connection.fetch_one("SELECT pg_catalog.pg_is_in_recovery()").await?.try_get(0)
}
