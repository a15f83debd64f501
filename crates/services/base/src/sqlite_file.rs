//! The services' own SQLite file, for keys, queues, cron jobs and content types: one connection, off the async threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenon_sqlite::{Action, Budget, Connection, Error, JOURNAL_MODE, Library, Options, Rules};

use crate::ServicesError;
use crate::store_error::StoreFailure;

/// Bytes of memory of a connection, at least.
const MEMORY: usize = 128 * 1024 * 1024;

/// Bodies that fit into the memory of a connection, because SQLite has a value several times while it is written.
const BODIES: usize = 8;

/// Bytes of temporary files.
const TEMPORARY: usize = 256 * 1024 * 1024;

/// Bytes of memory beyond which a connection to a file is closed after its call, because an instance's memory never shrinks.
const KEPT_MEMORY: usize = 64 * 1024 * 1024;

/// Time to wait for the locks of others.
const WAIT: Duration = Duration::from_secs(5);

/// A shared connection. Cloning shares it.
#[derive(Clone)]
pub struct SqliteFile(Arc<Inner>);

struct Inner {
    library: Library,
    /// None for a database in memory.
    path: Option<PathBuf>,
    schema: String,
    budget: Budget,
    max_value_bytes: usize,
    /// None when the last one has ended, until the next call opens another.
    connection: Mutex<Option<Connection>>,
}

/// Allows everything, because all statements are the services' own.
struct Own;

impl Rules for Own {
    fn allow(&mut self, _: Action<'_>, _: Option<&str>, _: Option<&str>) -> bool {
        true
    }
}

/// Compiles SQLite into the folder `cache`, so that a service on SQLite starts at once with that folder.
///
/// # Errors
///
/// [`ServicesError::Backend`] when it does not compile. Errors of the folder are logged.
pub fn compile_sqlite(cache: &Path) -> Result<(), ServicesError> {
    library(Some(cache)).map(drop)
}

/// Loads SQLite, whose machine code is stored in the folder `cache`.
pub fn library(cache: Option<&Path>) -> Result<Library, ServicesError> {
    Library::load(cache).map_err(|error| ServicesError::Backend { what: "SQLite", reason: error.to_string() })
}

/// The file of a database; none for one in memory, whose path is `:memory:`.
pub fn file_of(path: &Path) -> Option<PathBuf> {
    (path != Path::new(":memory:")).then(|| path.to_path_buf())
}

impl SqliteFile {
    /// Opens a file and runs `schema`, which makes missing tables. `max_body` is the largest body that is stored, in bytes,
    /// and `cache` the folder of compiled code.
    pub fn open(path: &Path, schema: &str, max_body: usize, cache: Option<&Path>) -> Result<Self, ServicesError> {
        let memory = max_body.saturating_mul(BODIES).max(MEMORY);
        let file = Self(Arc::new(Inner {
            library: library(cache)?,
            path: file_of(path),
            schema: schema.to_owned(),
            budget: Budget::new(memory, memory, TEMPORARY),
            max_value_bytes: memory,
            connection: Mutex::default(),
        }));
        file.0.run(|_| Ok(())).map_err(|error| failed(path, &error))?;
        Ok(file)
    }

    /// Updates a file of an earlier version, before it is used.
    pub fn set_up<T>(
        &self,
        path: &Path,
        work: impl FnOnce(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, ServicesError> {
        self.0.run(work).map_err(|error| failed(path, &error))
    }

    /// Runs `work` on a blocking thread.
    pub async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StoreFailure> {
        let file = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || file.run(work)).await.map_err(StoreFailure::new)?.map_err(StoreFailure::new)
    }
}

/// The error of a file that cannot be opened.
pub fn failed(path: &Path, error: &Error) -> ServicesError {
    ServicesError::Folder { path: path.to_path_buf(), reason: error.to_string() }
}

impl Inner {
    /// Runs `work` with the connection. A connection that has ended, or still has a transaction, is not used again.
    fn run<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
        let mut place = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // It is not in its place while `work` runs, so that a panic closes it.
        let mut connection = match place.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let done = work(&mut connection);
        let is_small = self.path.is_none() || connection.memory() <= KEPT_MEMORY;
        if is_small && matches!(connection.is_autocommit(), Ok(true)) {
            *place = Some(connection);
        }
        done
    }

    /// Opens a connection whose acknowledged changes survive a crash: a log or journal, synchronized on every commit.
    fn connect(&self) -> Result<Connection, Error> {
        let options = Options {
            path: self.path.clone(),
            wait: WAIT,
            max_value_bytes: self.max_value_bytes,
            budget: self.budget.clone(),
            rules: Box::new(Own),
        };
        let mut connection = Connection::open(&self.library, options)?;
        connection.run_script(&format!("PRAGMA journal_mode = {JOURNAL_MODE}; PRAGMA synchronous = FULL;"))?;
        connection.run_script(&self.schema)?;
        Ok(connection)
    }
}

impl Drop for Inner {
    /// Writes the log into the file, as SQLite does when it closes one, so that a copy of the file alone has every change.
    fn drop(&mut self) {
        let place = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = place
            && let Err(error) = connection.run_script("PRAGMA wal_checkpoint")
        {
            tracing::warn!("SQLite: the log stays beside the file: {error}");
        }
    }
}

/// Opens a store on a blocking thread, because it may have to compile SQLite, which takes about a second.
pub async fn opened<S: Send + 'static>(
    open: impl FnOnce() -> Result<S, ServicesError> + Send + 'static,
) -> Result<S, ServicesError> {
    tokio::task::spawn_blocking(open).await.map_err(|error| ServicesError::Config(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tempfile::TempDir;

    use super::*;

    const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS t (a)";

    fn file() -> (TempDir, SqliteFile) {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteFile::open(&folder.path().join("a.db"), SCHEMA, 0, None).unwrap();
        (folder, file)
    }

    async fn count(file: &SqliteFile) -> i64 {
        file.call(|db| db.one("SELECT count(*) FROM t", &[], |row| row.read(0))).await.unwrap()
    }

    async fn insert(file: &SqliteFile) {
        assert_eq!(file.call(|db| db.execute("INSERT INTO t VALUES (1)", &[])).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn commits_are_durable() {
        let (_folder, file) = file();
        let modes = file.call(|db| {
            let mode: String = db.one("PRAGMA journal_mode", &[], |row| row.read(0))?;
            Ok((mode, db.one("PRAGMA synchronous", &[], |row| row.read::<i64>(0))?))
        });
        assert_eq!(modes.await.unwrap(), ("wal".to_owned(), 2));
    }

    #[tokio::test]
    async fn a_closed_file_has_every_change() {
        let (folder, file) = file();
        insert(&file).await;
        drop(file);
        let copy = folder.path().join("copy.db");
        std::fs::copy(folder.path().join("a.db"), &copy).unwrap();
        assert_eq!(count(&SqliteFile::open(&copy, SCHEMA, 0, None).unwrap()).await, 1);
    }

    #[tokio::test]
    async fn a_failed_call_leaves_no_transaction() {
        let (folder, file) = file();
        let other = SqliteFile::open(&folder.path().join("a.db"), SCHEMA, 0, None).unwrap();
        let failed = file.call(|db| {
            db.writing(|db| {
                db.execute("INSERT INTO t VALUES (1)", &[])?;
                db.execute("INSERT INTO missing VALUES (1)", &[])
            })
        });
        assert!(failed.await.unwrap_err().to_string().contains("no such table"));
        insert(&other).await;
        // Also where the work forgets it, or panics.
        file.call(|db| db.run_script("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")).await.unwrap();
        insert(&other).await;
        let panicked = file.call::<()>(|db| {
            db.writing(|db| {
                db.execute("INSERT INTO t VALUES (1)", &[])?;
                panic!("as a defect would")
            })
        });
        assert!(panicked.await.is_err());
        insert(&other).await;
        assert_eq!((count(&file).await, count(&other).await), (3, 3));
    }

    #[tokio::test]
    async fn a_connection_that_has_ended_is_replaced() {
        let (_folder, file) = file();
        insert(&file).await;
        let ended = file.call(|db| {
            db.watch(Some(Instant::now()), None);
            db.writing(|db| {
                db.execute(
                    "INSERT INTO t SELECT replace(hex(zeroblob(5000000)), hex(zeroblob(2400000)) || '1', 'x')",
                    &[],
                )
            })
        });
        assert_eq!(ended.await.unwrap_err().to_string(), "the statement took too long");
        insert(&file).await;
        assert_eq!(count(&file).await, 2);
    }

    #[tokio::test]
    async fn memory_has_a_limit_and_comes_back() {
        let (_folder, file) = file();
        for bytes in [100_000_000_i64, 1_000_000_000] {
            let sql = "INSERT INTO t SELECT length(randomblob(?) || randomblob(?))";
            assert!(file.call(move |db| db.execute(sql, &[bytes.into(), bytes.into()])).await.is_err());
        }
        insert(&file).await;
        let memory = file.0.budget.memory();
        assert!(memory <= KEPT_MEMORY, "{memory} bytes");
    }

    #[tokio::test]
    async fn a_database_in_memory_keeps_its_rows() {
        let file = SqliteFile::open(Path::new(":memory:"), SCHEMA, 0, None).unwrap();
        insert(&file).await;
        assert!(file.call(|db| db.execute("INSERT INTO missing VALUES (1)", &[])).await.is_err());
        assert_eq!(count(&file).await, 1);
    }
}
