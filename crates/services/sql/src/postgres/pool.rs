//! Connections to the database, each used by one request at a time.
//!
//! A pool of our own, for three reasons: it prepares statements again once the schema may have changed, it does not
//! ping a connection in constant use, and it closes an abandoned connection without waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor};
use tenon_service::Limits;
use tenon_service::postgres_health::HealthConnection;
use tenon_service::postgres_mark::Mark;
use tenon_service::postgres_reason::reason;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};

use super::access::Decisions;
use super::meter::{self, Meter};
use crate::{Reported, SqlError};

/// How long statements stay prepared. Another program may change the schema, and PostgreSQL keeps the types of a prepared
/// statement's parameters whatever becomes of the columns.
const PREPARED_FOR: Duration = Duration::from_secs(1);

/// The age at which a connection is closed, because a server's session grows.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// The first pause before reconnecting to a server that refuses connections; it doubles.
const PAUSE: Duration = Duration::from_millis(25);

/// A backend checks every 500 ms whether its client is connected, and ends its statement if not (PostgreSQL 14).
const CHECK_CLIENT: &str = "SELECT pg_catalog.set_config('client_connection_check_interval', '500', false)";

/// The first version that has that setting.
const CHECKS_CLIENTS: u32 = 140_000;

/// The connections. Cloning shares them.
#[derive(Clone)]
pub(super) struct Pool(Arc<Inner>);

struct Inner {
    options: PgConnectOptions,
    decisions: Decisions,
    mark: Mark,
    wait: Duration,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Member>>,
    health: HealthConnection,
    /// Counts the changes of the schema that this sidecar has made.
    schema: AtomicU64,
}

struct Member {
    connection: PgConnection,
    meter: Meter,
    made: Instant,
    /// The time and schema at which the oldest of the prepared statements may have been prepared.
    prepared: Instant,
    schema: u64,
}

impl Pool {
    /// Connects once.
    ///
    /// # Errors
    ///
    /// No usable connection within [`Limits::queue_timeout`]; the error has the reason.
    pub(super) async fn connect(
        options: PgConnectOptions,
        decisions: Decisions,
        limits: &Limits,
    ) -> Result<Self, sqlx::Error> {
        let (options, mark) = Mark::on(options)?;
        let health = HealthConnection::new(options.clone(), mark.clone());
        let pool = Self(Arc::new(Inner {
            options,
            decisions,
            mark,
            wait: limits.queue_timeout,
            places: Arc::new(Semaphore::new(limits.pool_size.max(1) as usize)),
            idle: Mutex::default(),
            health,
            schema: AtomicU64::new(0),
        }));
        let first = pool.member_before(Instant::now() + limits.queue_timeout).await?;
        pool.idle().push(first);
        Ok(pool)
    }

    /// An exclusive connection, if one becomes free in time.
    pub(super) async fn acquire(&self) -> Result<Pooled, SqlError> {
        let deadline = Instant::now() + self.0.wait;
        let place = Arc::clone(&self.0.places).acquire_owned();
        let Ok(Ok(place)) = timeout_at(deadline, place).await else { return Err(SqlError::Busy) };
        let mut found = None;
        while found.is_none() {
            let Some(idle) = self.take_idle() else { break };
            found = timeout_at(deadline, self.current(idle)).await.unwrap_or(None);
        }
        let member = match found {
            Some(member) => member,
            None => self.member_before(deadline).await.map_err(|error| unreachable(&error))?,
        };
        Ok(Pooled { member: Some(member), pool: self.clone(), _place: place })
    }

    /// Asks the database whether it is a replica, on the connection of `/health`.
    pub(super) async fn is_replica(&self) -> Result<bool, sqlx::Error> {
        self.0.health.is_replica().await
    }

    /// Makes every idle connection be checked before its next use, and its statements be prepared again.
    pub(super) fn distrust(&self) {
        self.0.schema.fetch_add(1, Ordering::Relaxed);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Member>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_idle(&self) -> Option<Member> {
        self.idle().pop()
    }

    /// The connection, if it is usable, without statements that may be stale.
    async fn current(&self, mut member: Member) -> Option<Member> {
        let schema = self.0.schema.load(Ordering::Relaxed);
        if member.made.elapsed() > LIFETIME {
            return None;
        }
        if member.schema == schema && member.prepared.elapsed() < PREPARED_FOR {
            return Some(member);
        }
        // Either query shows whether the connection is alive.
        let alive = if member.connection.cached_statements_size() > 0 {
            member.connection.clear_cached_statements().await
        } else {
            member.connection.ping().await
        };
        alive.ok()?;
        Some(Member { prepared: Instant::now(), schema, ..member })
    }

    /// A new connection. It retries until the deadline while a server is starting, or has no free connection.
    async fn member_before(&self, deadline: Instant) -> Result<Member, sqlx::Error> {
        let mut pause = PAUSE;
        loop {
            match timeout_at(deadline, self.member()).await {
                Ok(Ok(member)) => return Ok(member),
                Ok(Err(error)) if !is_transient(&error) || Instant::now() + pause >= deadline => return Err(error),
                Ok(Err(_)) => {}
                Err(_) => return Err(sqlx::Error::PoolTimedOut),
            }
            sleep(pause).await;
            pause *= 2;
        }
    }

    async fn member(&self) -> Result<Member, sqlx::Error> {
        let schema = self.0.schema.load(Ordering::Relaxed);
        let (mut connection, meter) = meter::connect(&self.0.options).await?;
        self.0.mark.check(&mut connection).await?;
        if connection.server_version_num().is_some_and(|version| version >= CHECKS_CLIENTS) {
            // Not every system supports it.
            let _ = connection.execute(CHECK_CLIENT).await;
        }
        self.0.decisions.connected(&mut connection).await?;
        let now = Instant::now();
        Ok(Member { connection, meter, made: now, prepared: now, schema })
    }
}

/// A connection that is closed when it is dropped, unless [`Pooled::give_back`] is called.
pub(super) struct Pooled {
    member: Option<Member>,
    pool: Pool,
    _place: OwnedSemaphorePermit,
}

impl Pooled {
    pub(super) fn connection(&self) -> &PgConnection {
        &self.member.as_ref().expect("it is taken on the way out only").connection
    }

    pub(super) fn connection_mut(&mut self) -> &mut PgConnection {
        &mut self.member.as_mut().expect("it is taken on the way out only").connection
    }

    /// Counts the bytes of the connection.
    pub(super) fn meter(&self) -> &Meter {
        &self.member.as_ref().expect("it is taken on the way out only").meter
    }

    /// Returns the connection to the pool, without the buffers of large messages.
    pub(super) fn give_back(mut self) {
        if let Some(mut member) = self.member.take() {
            member.connection.shrink_buffers();
            self.pool.idle().push(member);
        }
    }
}

fn is_transient(error: &sqlx::Error) -> bool {
    use std::io::ErrorKind;
    match error {
        sqlx::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::NotFound
                | ErrorKind::UnexpectedEof
        ),
        sqlx::Error::Database(error) => {
            error.is_transient_in_connect_phase() || error.code().as_deref() == Some("57P01")
        }
        _ => false,
    }
}

/// The error of a missing connection; logged when a retry is unlikely to help.
fn unreachable(error: &sqlx::Error) -> SqlError {
    if !is_transient(error) && !matches!(error, sqlx::Error::PoolTimedOut) {
        return SqlError::Internal(format!("PostgreSQL: {}", reason(error)));
    }
    tracing::warn!("PostgreSQL cannot be reached: {}", reason(error));
    SqlError::Database(Box::new(Reported {
        status: StatusCode::SERVICE_UNAVAILABLE,
        retryable: true,
        ..Reported::of("the database cannot be reached; try again".to_owned())
    }))
}
