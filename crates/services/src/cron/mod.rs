//! Cron: module routes that are called by a schedule, at least once each time.
//!
//! A store keeps jobs and runs. A consumer, which can call modules, leases due runs, calls the routes, and reports
//! their outcomes. Leasing also creates the due runs, so a store needs no clock of its own. A run is one row for a job
//! and a time, so only one of several consumers gets it. A lease expires, and then the run of a killed consumer gets
//! its next attempt.
//!
//! 1. The development services call modules through [`Host`](crate::Host), with the [`runner`].
//! 2. For `tenon sidecar cron`, servers lease runs over HTTP; see `crates/jobs`.

mod job;
mod postgres;
mod routes;
mod run;
mod runner;
mod schedule;
mod service;
mod sqlite;
mod statements;
mod store;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::host::HostSlot;
use crate::{Limits, ServicesError};
pub(crate) use postgres::PostgresCron;
pub(crate) use routes::routes;
use runner::Runner;
pub use schedule::schedule_problem;
pub(crate) use service::KIND;
pub(crate) use sqlite::SqliteCron;
use store::CronStore;
use tokio::task::JoinHandle;

/// The jobs, and in development the runner that calls modules.
#[derive(Clone)]
pub(crate) struct Cron<S> {
    store: S,
    runner: Option<Runner<S>>,
}

impl<S: CronStore> Cron<S> {
    /// Jobs whose runs are leased over HTTP.
    pub(crate) fn new(store: S) -> Self {
        Self { store, runner: None }
    }

    fn jobs_changed(&self) {
        if let Some(runner) = &self.runner {
            runner.jobs_changed();
        }
    }
}

impl Cron<SqliteCron> {
    /// Jobs of the development services.
    pub(crate) fn open(
        path: &Path,
        host: HostSlot,
        limits: &Limits,
        cache: Option<&Path>,
    ) -> Result<Self, ServicesError> {
        let store = SqliteCron::open(path, limits, cache)?;
        store.adopt_first_edition(path)?;
        Ok(Self { runner: Some(Runner::new(store.clone(), host)), store })
    }

    /// Runs jobs when they are due, until the task is aborted.
    pub(crate) fn start(&self) -> JoinHandle<()> {
        let runner = self.runner.clone();
        tokio::spawn(async move {
            if let Some(runner) = runner {
                runner.keep_time().await;
            }
        })
    }
}
