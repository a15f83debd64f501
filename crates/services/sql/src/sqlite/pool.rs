//! Connections to one file, each used by one request at a time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenon_service::store_error::StoreFailure;
use tenon_service::{Limits, ServicesError, sqlite_file};
use tenon_sqlite::{Budget, Connection, Error, JOURNAL_MODE, Library, Options, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authorizer::{Authorizer, Notes};
use super::errors::sql_error;
use crate::{SqlAccess, SqlError};

/// Bytes of memory beyond which a connection is not used again, because an instance's memory never shrinks.
const KEPT_MEMORY: usize = 32 * 1024 * 1024;

/// Time to commit a transaction or to roll it back.
const END: Duration = Duration::from_secs(5);

/// Number of pages in the write-ahead log from which on it is copied into the database.
const LONG_LOG: i64 = 1000;

/// The connections. Cloning shares them.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    library: Library,
    /// None for a database in memory.
    path: Option<PathBuf>,
    access: SqlAccess,
    wait: Duration,
    timeout: Duration,
    /// Limit in bytes of a value or a row.
    most: usize,
    budget: Budget,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Member>>,
}

struct Member {
    connection: Connection,
    notes: Notes,
}

impl Pool {
    pub(crate) fn open(
        path: &Path,
        access: SqlAccess,
        limits: &Limits,
        library: Library,
    ) -> Result<Self, ServicesError> {
        let pool = Self(Arc::new(Inner {
            library,
            path: sqlite_file::file_of(path),
            access,
            wait: limits.queue_timeout,
            timeout: limits.statement_timeout,
            most: limits.max_sqlite_bytes(),
            budget: Budget::new(limits.max_sqlite_memory_total, limits.max_sqlite_memory, limits.max_sqlite_temporary),
            places: Arc::new(Semaphore::new(limits.pool_size.max(1) as usize)),
            idle: Mutex::default(),
        }));
        let first = pool.connect().map_err(|error| sqlite_file::failed(path, &error))?;
        pool.idle().push(first);
        Ok(pool)
    }

    /// An exclusive connection, if one becomes free in time.
    pub(crate) async fn acquire(&self) -> Result<Pooled, SqlError> {
        let place = Arc::clone(&self.0.places).acquire_owned();
        let Ok(Ok(place)) = tokio::time::timeout(self.0.wait, place).await else { return Err(SqlError::Busy) };
        let idle = self.idle().pop();
        let (member, place) = match idle {
            Some(member) => (member, place),
            None => {
                let pool = self.clone();
                // The place is taken until the connection is made, also when the client has left by then.
                let connected = tokio::task::spawn_blocking(move || (pool.connect(), place)).await;
                let (member, place) = connected.map_err(|error| SqlError::Internal(error.to_string()))?;
                (member.map_err(sql_error)?, place)
            }
        };
        Ok(Pooled {
            member: Some(member),
            deadline: None,
            left: None,
            has_written: false,
            pool: self.clone(),
            _place: place,
        })
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.0.access.read_only
    }

    /// Reads the file on a connection of its own, because all others may be in use.
    pub(crate) fn ping(&self) -> Result<(), StoreFailure> {
        let mut member = self.connect().map_err(StoreFailure::new)?;
        member.notes.own.store(true, Ordering::Relaxed);
        member.connection.query("SELECT count(*) FROM sqlite_schema", &[]).map(drop).map_err(StoreFailure::new)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Member>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> Result<Member, Error> {
        let Inner { library, path, access, timeout, most, budget, .. } = &*self.0;
        let notes = Notes::default();
        let options = Options {
            path: path.clone(),
            wait: *timeout,
            max_value_bytes: *most,
            budget: budget.clone(),
            rules: Box::new(Authorizer::new(access.clone(), notes.clone())),
        };
        let mut connection = Connection::open(library, options)?;
        notes.own.store(true, Ordering::Relaxed);
        // A COMMIT that copied the log could run out of time after it has committed: see `Pooled::settle`.
        let journal = format!("journal_mode = {JOURNAL_MODE}");
        for pragma in [&*journal, "synchronous = FULL", "foreign_keys = ON", "wal_autocheckpoint = 0"] {
            connection.query(&format!("PRAGMA {pragma}"), &[])?;
        }
        if access.read_only {
            connection.query("PRAGMA query_only = ON", &[])?;
        }
        notes.own.store(false, Ordering::Relaxed);
        Ok(Member { connection, notes })
    }
}

/// A connection that returns to the pool on drop, unless it has leftover state.
pub(crate) struct Pooled {
    member: Option<Member>,
    deadline: Option<Instant>,
    left: Option<Arc<AtomicBool>>,
    /// Set once the request may have made the log longer.
    has_written: bool,
    pool: Pool,
    _place: OwnedSemaphorePermit,
}

impl Pooled {
    fn member(&mut self) -> &mut Member {
        self.member.as_mut().expect("it is taken on drop only")
    }

    fn notes(&self) -> &Notes {
        &self.member.as_ref().expect("it is taken on drop only").notes
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.member().connection
    }

    pub(crate) fn access(&self) -> &SqlAccess {
        &self.pool.0.access
    }

    /// Reports whether statements may not change everything that the file has.
    pub(crate) fn is_limited(&self) -> bool {
        self.access().read_only || self.access().is_listed()
    }

    /// Has the connection closed after this request, whose settings no other one may have. It may change how tables are renamed.
    pub(crate) fn keep_for_one_request(&self) {
        self.notes().temporary.store(true, Ordering::Relaxed);
        self.notes().rebuilds.store(true, Ordering::Relaxed);
    }

    /// Takes the reason for the last refusal, if there was one since the last call.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        self.notes().reason.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reports whether a statement was refused that a fresh connection would run.
    pub(crate) fn wants_fresh(&self) -> bool {
        self.notes().wants_fresh.swap(false, Ordering::Relaxed)
    }

    /// Takes a new connection in place of this one, which is closed.
    pub(crate) fn refresh(&mut self) -> Result<(), Error> {
        self.member = Some(self.pool.connect()?);
        self.watch();
        Ok(())
    }

    /// Reports whether the connection has served a request.
    pub(crate) fn is_used(&self) -> bool {
        self.notes().used.load(Ordering::Relaxed)
    }

    /// Makes a guard that interrupts the current request's statements when it is dropped.
    pub(crate) fn interrupter(&mut self) -> Interrupter {
        let left = Arc::<AtomicBool>::default();
        self.left = Some(Arc::clone(&left));
        self.watch();
        Interrupter(Some(left))
    }

    /// Reports whether the request's time limit has passed, or its client has disconnected.
    pub(crate) fn is_over(&mut self) -> bool {
        self.connection().is_over()
    }

    /// Sets the time at which statements are interrupted: the time limit of a request from now on.
    pub(crate) fn set_timeout(&mut self) {
        self.set_deadline(Instant::now() + self.pool.0.timeout);
    }

    /// Sets the time at which statements are interrupted.
    pub(crate) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
        self.watch();
    }

    fn watch(&mut self) {
        let (deadline, left) = (self.deadline, self.left.clone());
        self.connection().watch(deadline, left);
    }

    /// Sets whether the statement that runs is a VACUUM.
    pub(crate) fn set_vacuuming(&mut self, vacuuming: bool) {
        self.notes().vacuuming.store(vacuuming, Ordering::Relaxed);
        self.has_written |= vacuuming;
    }

    /// Runs the sidecar's own statements, without the authorizer's rules.
    pub(crate) fn own<T>(&mut self, work: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.notes().own.store(true, Ordering::Relaxed);
        let done = work(self.connection());
        self.notes().own.store(false, Ordering::Relaxed);
        done
    }

    /// Begins or ends a transaction.
    pub(crate) fn control(&mut self, sql: &str) -> Result<(), Error> {
        self.own(|connection| connection.query(sql, &[]).map(drop))
    }

    /// Commits the transaction. A COMMIT that has begun has time of its own, because it may have happened when it is
    /// interrupted, and an error means that nothing was written.
    pub(crate) fn commit(&mut self) -> Result<(), SqlError> {
        if self.is_over() {
            return Err(SqlError::TimedOut);
        }
        self.connection().watch(Some(Instant::now() + END), None);
        let committed = self.control("COMMIT").map_err(sql_error);
        self.watch();
        self.has_written = !self.access().read_only;
        committed
    }

    /// Returns the connection to the pool. A long log is copied into the database before, after the answer.
    pub(crate) fn settle(mut self) {
        if self.has_written && self.has_long_log() {
            tokio::task::spawn_blocking(move || {
                self.connection().watch(None, None);
                if let Err(error) = self.control("PRAGMA wal_checkpoint(PASSIVE)") {
                    tracing::warn!("SQLite: the write-ahead log could not be copied: {error}");
                }
            });
        }
    }

    fn has_long_log(&mut self) -> bool {
        self.connection().watch(None, None);
        let counted = self.own(|connection| connection.query("PRAGMA wal_checkpoint(NOOP)", &[]));
        match counted.ok().and_then(|rows| rows.into_iter().next()).as_deref() {
            Some([_, Value::Integer(pages), Value::Integer(copied)]) => pages - copied >= LONG_LOG,
            _ => false,
        }
    }

    /// Ends a transaction if one is open; after some failures SQLite has ended it already, or its connection has ended.
    pub(crate) fn roll_back(&mut self) {
        if self.connection().is_autocommit().unwrap_or(true) {
            return;
        }
        (self.deadline, self.left) = (Some(Instant::now() + END), None);
        self.watch();
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
        let Some(mut member) = self.member.take() else { return };
        let is_clean = !member.notes.temporary.load(Ordering::Relaxed)
            && member.connection.memory() <= KEPT_MEMORY
            && matches!(member.connection.is_autocommit(), Ok(true))
            && (!member.notes.of_session.swap(false, Ordering::Relaxed) || member.connection.forget().is_ok());
        if is_clean {
            member.notes.used.store(true, Ordering::Relaxed);
            member.connection.watch(None, None);
            self.pool.idle().push(member);
        }
    }
}
