//! Connections to one file, each used by one request at a time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authorizer::{Authorizer, Notes};
use crate::sql::{SqlAccess, SqlError};
use crate::{Limits, ServicesError, sqlite_file};

/// Number of a statement's steps between two checks of the clock: some 10 µs.
const STEPS_BETWEEN_LOOKS: i32 = 1000;

/// Limit of cached statements of a connection.
const CACHED_STATEMENTS: usize = 128;

/// The connections. Cloning shares them.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    path: PathBuf,
    access: SqlAccess,
    wait: Duration,
    timeout: Duration,
    /// Limit in bytes of a value or a row.
    most: i32,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Member>>,
}

struct Member {
    connection: Connection,
    notes: Notes,
    watch: Arc<Mutex<Watch>>,
}

/// The reasons to interrupt a connection's statements.
#[derive(Default)]
struct Watch {
    deadline: Option<Instant>,
    /// Set once the client of the current request has disconnected.
    left: Option<Arc<AtomicBool>>,
}

impl Watch {
    fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
            || self.left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed))
    }
}

impl Member {
    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    pub(crate) fn open(path: &Path, access: SqlAccess, limits: &Limits) -> Result<Self, ServicesError> {
        let pool = Self(Arc::new(Inner {
            path: path.to_path_buf(),
            access,
            wait: limits.queue_timeout,
            timeout: limits.statement_timeout,
            most: i32::try_from(limits.max_sqlite_bytes()).unwrap_or(i32::MAX),
            places: Arc::new(Semaphore::new(limits.pool_size.max(1) as usize)),
            idle: Mutex::default(),
        }));
        let first = pool.connect()?;
        pool.idle().push(first);
        Ok(pool)
    }

    /// An exclusive connection, if one becomes free in time.
    pub(crate) async fn acquire(&self) -> Result<Pooled, SqlError> {
        let place = Arc::clone(&self.0.places).acquire_owned();
        let Ok(Ok(place)) = tokio::time::timeout(self.0.wait, place).await else { return Err(SqlError::Busy) };
        let idle = self.idle().pop();
        let member = match idle {
            Some(member) => member,
            None => {
                let pool = self.clone();
                let connected = tokio::task::spawn_blocking(move || pool.connect()).await;
                let connected = connected.map_err(|error| SqlError::Internal(error.to_string()))?;
                connected.map_err(|error| SqlError::Internal(error.to_string()))?
            }
        };
        Ok(Pooled { member: Some(member), pool: self.clone(), _place: place })
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.0.access.read_only
    }

    /// Reads the file on a connection of its own, because all others may be in use.
    pub(crate) fn ping(&self) -> Result<(), String> {
        let connection = sqlite_file::open(&self.0.path).map_err(|error| error.to_string())?;
        let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        read.map_err(|error| error.to_string())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Member>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<Member, ServicesError> {
        let Inner { path, access, timeout, most, .. } = &*self.0;
        let mut connection = sqlite_file::open(path)?;
        let watch = Arc::<Mutex<Watch>>::default();
        let notes = Notes::default();
        let set_up = |connection: &mut Connection| -> rusqlite::Result<()> {
            connection.busy_timeout(*timeout)?;
            connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, *most)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            connection.pragma_update(None, "query_only", access.read_only)?;
            // An unknown name must not count as a text, and a statement must not corrupt the file, nor the schema call
            // unsafe functions.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            let authorizer = Authorizer::new(access.clone(), notes.clone());
            connection
                .authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| authorizer.decide(&context)))?;
            let watched = Arc::clone(&watch);
            let is_over = move || watched.lock().unwrap_or_else(PoisonError::into_inner).is_over();
            connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over))
        };
        set_up(&mut connection)
            .map_err(|error| ServicesError::Folder { path: path.clone(), reason: error.to_string() })?;
        Ok(Member { connection, notes, watch })
    }
}

/// A connection that returns to the pool on drop, unless it has leftover state.
pub(crate) struct Pooled {
    member: Option<Member>,
    pool: Pool,
    _place: OwnedSemaphorePermit,
}

impl Pooled {
    fn member(&self) -> &Member {
        self.member.as_ref().expect("it is taken on drop only")
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.member().connection
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.pool.0.access.read_only
    }

    /// The reason for the last refusal.
    pub(crate) fn refusal(&self) -> &'static str {
        *self.member().notes.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports whether a statement was refused that a fresh connection would run.
    pub(crate) fn wants_fresh(&self) -> bool {
        self.member().notes.wants_fresh.swap(false, Ordering::Relaxed)
    }

    /// Takes a new connection in place of this one, which is closed.
    pub(crate) fn refresh(&mut self) -> Result<(), ServicesError> {
        let fresh = self.pool.connect()?;
        std::mem::swap(&mut *self.member().watch(), &mut *fresh.watch());
        self.member = Some(fresh);
        Ok(())
    }

    /// Reports whether the connection has served a request.
    pub(crate) fn is_used(&self) -> bool {
        self.member().notes.used.load(Ordering::Relaxed)
    }

    /// Makes a guard that interrupts the current request's statements when it is dropped.
    pub(crate) fn interrupter(&self) -> Interrupter {
        let left = Arc::<AtomicBool>::default();
        self.member().watch().left = Some(Arc::clone(&left));
        Interrupter(Some(left))
    }

    /// Reports whether the request's time limit has passed, or its client has disconnected.
    pub(crate) fn is_over(&self) -> bool {
        self.member().watch().is_over()
    }

    /// Sets the time at which statements are interrupted.
    pub(crate) fn set_deadline(&mut self, deadline: Instant) {
        self.member().watch().deadline = Some(deadline);
    }

    /// Sets whether the statement that runs is a VACUUM.
    pub(crate) fn set_vacuuming(&mut self, vacuuming: bool) {
        self.member().notes.vacuuming.store(vacuuming, Ordering::Relaxed);
    }

    /// Runs the sidecar's own statements, without the authorizer's rules.
    pub(crate) fn own<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let member = self.member();
        member.notes.own.store(true, Ordering::Relaxed);
        let done = work(&member.connection);
        member.notes.own.store(false, Ordering::Relaxed);
        done
    }

    /// Begins or ends a transaction.
    pub(crate) fn control(&mut self, sql: &str) -> rusqlite::Result<()> {
        self.own(|connection| connection.execute_batch(sql))
    }

    /// Ends a transaction if one is open; after some failures SQLite has ended it already.
    pub(crate) fn roll_back(&mut self) {
        if self.connection().is_autocommit() {
            return;
        }
        *self.member().watch() = Watch::default();
        if let Err(error) = self.control("ROLLBACK") {
            tracing::error!("SQLite: a transaction could not be rolled back: {error}");
        }
    }
}

/// Interrupts the statements of one request on drop, when no caller awaits them any more.
pub(crate) struct Interrupter(Option<Arc<AtomicBool>>);

impl Interrupter {
    /// Disarms it after the statements have ended.
    pub(crate) fn defuse(mut self) {
        self.0 = None;
    }
}

impl Drop for Interrupter {
    fn drop(&mut self) {
        if let Some(left) = &self.0 {
            left.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some(member) = self.member.take() else { return };
        if member.connection.is_autocommit() && !member.notes.temporary.load(Ordering::Relaxed) {
            member.notes.used.store(true, Ordering::Relaxed);
            *member.watch() = Watch::default();
            self.pool.idle().push(member);
        }
    }
}
