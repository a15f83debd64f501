//! Cron: module routes that are called by a schedule. For development only; it persists, and keeps a history.

mod book;
mod job;
mod routes;
mod runner;
mod schedule;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Host, ServicesError};
use book::Book;
pub(crate) use routes::routes;
use runner::Runner;
use tokio::task::JoinHandle;

/// A place for the runtime, which is there only once it has started.
#[derive(Clone, Default)]
pub(crate) struct HostSlot(Arc<RwLock<Option<Arc<dyn Host>>>>);

impl HostSlot {
    pub(crate) fn set(&self, host: Option<Arc<dyn Host>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = host;
    }

    pub(crate) fn get(&self) -> Option<Arc<dyn Host>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The jobs and who runs them.
#[derive(Clone)]
pub(crate) struct Cron {
    book: Book,
    runner: Runner,
}

impl Cron {
    pub(crate) fn open(path: &Path, host: HostSlot) -> Result<Self, ServicesError> {
        let book = Book::open(path)?;
        Ok(Self { runner: Runner::new(book.clone(), host), book })
    }

    /// Runs jobs when they are due, until the task is aborted.
    pub(crate) fn start(&self) -> JoinHandle<()> {
        let runner = self.runner.clone();
        tokio::spawn(async move { runner.keep_time().await })
    }
}
