//! Cron: module routes that are called by a schedule, at least once each time.
//!
//! A store keeps jobs and runs. A consumer, which can call modules, leases due runs, calls the routes, and reports
//! their outcomes. Leasing also creates the due runs, so a store needs no clock of its own. A run is one row for a job
//! and a time, so only one of several consumers gets it. A lease expires, and then the run of a killed consumer gets
//! its next attempt.
//!
//! Consumers lease over HTTP; see `crates/jobs`. For the development services it is that of the attached runtime.

mod development;
mod invalid_job;
mod job;
mod postgres;
mod routes;
mod run;
mod schedule;
mod service;
mod sqlite;
mod statements;
mod store;
#[cfg(test)]
mod tests;

use std::path::Path;

use tenon_service::host::HostSlot;
use tenon_service::{Limits, ServicesError};

use development::Development;
pub(crate) use postgres::PostgresCron;
pub(crate) use routes::routes;
pub use schedule::schedule_problem;
pub use service::KIND;
pub(crate) use sqlite::SqliteCron;
use store::CronStore;

/// The jobs and their runs.
#[derive(Clone)]
pub(crate) struct Cron<S> {
    store: S,
    /// None in a sidecar.
    development: Option<Development>,
}

impl<S: CronStore> Cron<S> {
    /// Jobs of a sidecar.
    pub(crate) fn new(store: S) -> Self {
        Self { store, development: None }
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
        Ok(Self { store, development: Some(Development::new(host)) })
    }
}
