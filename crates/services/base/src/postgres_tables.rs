//! The services' own tables in a PostgreSQL database, for queues and cron.

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection, Executor};

use crate::postgres_health::HealthConnection;
use crate::postgres_mark::Mark;
use crate::postgres_reason::{address_of, reason, reason_at};
use crate::store_error::StoreFailure;
use crate::{Limits, ServicesError};

/// The tables of a service. Cloning shares the connections.
#[derive(Clone)]
pub struct Tables {
    /// The connections.
    pub pool: PgPool,
    health: HealthConnection,
}

impl Tables {
    /// Asks whether the database answers and accepts writes.
    pub async fn ping(&self) -> Result<(), StoreFailure> {
        match self.health.is_replica().await {
            Ok(true) => {
                Err(StoreFailure::new("PostgreSQL: it is a replica, which accepts no writes: name the primary"))
            }
            Ok(false) => Ok(()),
            Err(error) => Err(store_error(error)),
        }
    }
}

/// Connects, and runs `schema`, which makes missing `tables`.
pub async fn open(url: &str, limits: &Limits, schema: &'static str, tables: &str) -> Result<Tables, ServicesError> {
    let fail = |reason: String| ServicesError::Backend { what: "PostgreSQL", reason };
    let options: PgConnectOptions = url.parse().map_err(|_| fail("this is not a URL of a database".into()))?;
    let address = address_of(&options);
    let timeout = limits.statement_timeout.as_millis().to_string();
    let options = options.application_name("tenon-sidecar").options([("statement_timeout", timeout.as_str())]);
    let (options, mark) = Mark::on(options).map_err(|error| fail(reason(&error)))?;
    // First without the pool, which retries after any error, and reports a timeout.
    check(&options, &mark).await.map_err(|error| fail(reason_at(&address, &error)))?;
    let health = HealthConnection::new(options.clone(), mark.clone());
    let pool = PgPoolOptions::new()
        .after_connect(move |connection, _| {
            let mark = mark.clone();
            Box::pin(async move { mark.check(connection).await })
        })
        .max_connections(limits.pool_size)
        .acquire_timeout(limits.queue_timeout)
        .connect_with(options)
        .await
        .map_err(|error| fail(reason_at(&address, &error)))?;
    let made = match pool.acquire().await {
        Ok(mut connection) => make(&mut connection, schema).await,
        Err(error) => Err(error),
    };
    made.map_err(|error| fail(format!("{tables} could not be made: {}", reason(&error))))?;
    Ok(Tables { pool, health })
}

/// Codes of two sessions that make one table at the same time: a duplicate row of a catalog, table or type.
const COLLISIONS: [&str; 3] = ["23505", "42P07", "42710"];

/// Number of tries while other sessions run the schema, too.
const TRIES: u32 = 8;

/// Runs a schema of `CREATE … IF NOT EXISTS`, outside a transaction.
///
/// Sessions that make a table at the same time collide in the catalog, which `IF NOT EXISTS` does not check. The
/// collision is reported once the other session has committed, so the next try finds the table.
pub async fn make(connection: &mut PgConnection, schema: &'static str) -> Result<(), sqlx::Error> {
    let mut tries = 1;
    loop {
        match connection.execute(schema).await {
            Err(sqlx::Error::Database(error))
                if tries < TRIES && error.code().is_some_and(|code| COLLISIONS.contains(&code.as_ref())) =>
            {
                tries += 1;
            }
            result => return result.map(|_| ()),
        }
    }
}

async fn check(options: &PgConnectOptions, mark: &Mark) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect_with(options).await?;
    mark.check(&mut connection).await?;
    connection.close().await
}

/// Names the database in an error for the log.
pub fn store_error(error: sqlx::Error) -> StoreFailure {
    StoreFailure::new(format_args!("PostgreSQL: {}", reason(&error)))
}
