//! The services' own SQLite file, for keys, cron jobs and content types: one connection, off the async threads.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::ServicesError;

/// Opens a database whose acknowledged changes survive a crash: write-ahead log, synchronized on every commit.
pub(crate) fn open(path: &Path) -> Result<Connection, ServicesError> {
    let fail = |error: rusqlite::Error| ServicesError::Folder { path: path.to_path_buf(), reason: error.to_string() };
    let connection = Connection::open(path).map_err(fail)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(fail)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
    Ok(connection)
}

/// A shared connection. Cloning shares it.
#[derive(Clone)]
pub(crate) struct SqliteFile(Arc<Mutex<Connection>>);

impl SqliteFile {
    /// Opens a file and runs `schema`, which makes missing tables.
    pub(crate) fn open(path: &Path, schema: &str) -> Result<Self, ServicesError> {
        let connection = open(path)?;
        connection
            .execute_batch(schema)
            .map_err(|error| ServicesError::Folder { path: path.to_path_buf(), reason: error.to_string() })?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Updates a file of an earlier version, before it is used.
    pub(crate) fn set_up<T>(
        &self,
        path: &Path,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ServicesError> {
        let done = work(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        done.map_err(|error| ServicesError::Folder { path: path.to_path_buf(), reason: error.to_string() })
    }

    /// Runs `work` on a blocking thread.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let connection = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner)))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())
    }
}
