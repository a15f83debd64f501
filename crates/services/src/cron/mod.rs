//! Cron: module routes that are called by a schedule, at least once each time.
//!
//! A store keeps jobs and runs. A consumer, which can call modules, leases due runs, calls the routes, and reports
//! their outcomes. Leasing also creates the due runs, so a store needs no clock of its own. A run is one row for a job
//! and a time, so only one of several consumers gets it. A lease expires, and then the run of a killed consumer gets
//! its next attempt.
//!
//! 1. The development services call modules through [`Host`](crate::Host), with the [`runner`].
//! 2. For `tenon sidecar cron`, servers lease runs over HTTP; see `crates/work`.

mod job;
mod postgres;
mod routes;
mod run;
mod runner;
mod schedule;
mod service;
mod sqlite;
mod statements;

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use crate::{Host, ServicesError};
use job::Job;
pub(crate) use postgres::PostgresCron;
pub(crate) use routes::routes;
use run::{Ask, Call, Outcome, Run};
use runner::Runner;
pub use schedule::schedule_problem;
use serde::Serialize;
pub(crate) use service::KIND;
pub(crate) use sqlite::SqliteCron;
use tokio::task::JoinHandle;

/// Number of runs kept for each job.
pub(crate) const REMEMBERED_RUNS: usize = 100;

/// Limit of jobs in a store.
pub(crate) const MAX_JOBS: usize = 1000;

/// A failure of the store itself; it is logged, and hidden from clients.
pub(crate) type StoreError = String;

/// A job, its next time, and its last run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Described {
    #[serde(flatten)]
    pub(crate) job: Job,
    /// ISO 8601; none while the job is disabled.
    pub(crate) next: Option<String>,
    pub(crate) last: Option<Run>,
}

/// A store of jobs and runs. `now` is in milliseconds since 1970.
pub(crate) trait CronStore: Clone + Send + Sync + 'static {
    /// Lists all jobs by name.
    fn jobs(&self) -> impl Future<Output = Result<Vec<Described>, StoreError>> + Send;

    /// Finds a job.
    fn job(&self, name: String) -> impl Future<Output = Result<Option<Described>, StoreError>> + Send;

    /// Adds a job, unless one has its name.
    fn add(&self, job: Job, now: i64) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Replaces a job. Its next time stays when its schedule does.
    fn replace(&self, job: Job, now: i64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Replaces the jobs of an owner, all or none: removes its others, and replaces another owner's job of the same
    /// name. Disabled jobs stay disabled.
    fn declare(&self, owner: String, jobs: Vec<Job>, now: i64) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes a job with its history.
    fn remove(&self, name: String) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Makes a manual run; with an `Ask` it is leased at once. None when the job does not exist.
    fn trigger(
        &self,
        name: String,
        ask: Option<Ask>,
        now: i64,
    ) -> impl Future<Output = Result<Option<(Run, Option<Call>)>, StoreError>> + Send;

    /// Returns the earliest time at which there may be a run to lease.
    fn wake(&self) -> impl Future<Output = Result<Option<i64>, StoreError>> + Send;

    /// Creates due runs, and leases those that are ready.
    fn lease(&self, ask: Ask, now: i64) -> impl Future<Output = Result<Vec<Call>, StoreError>> + Send;

    /// Ends an attempt. Returns whether the run gets another one; none when the lease has expired.
    fn finish(
        &self,
        id: i64,
        receipt: String,
        outcome: Outcome,
        now: i64,
    ) -> impl Future<Output = Result<Option<bool>, StoreError>> + Send;

    /// Lists the runs of a job, the newest first.
    fn runs(&self, name: String, limit: usize) -> impl Future<Output = Result<Vec<Run>, StoreError>> + Send;

    /// Finds a run.
    fn run(&self, id: i64) -> impl Future<Output = Result<Option<Run>, StoreError>> + Send;

    /// Checks that the store responds.
    fn ping(&self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A slot for the runtime, which starts later.
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
    pub(crate) fn open(path: &Path, host: HostSlot) -> Result<Self, ServicesError> {
        let store = SqliteCron::open(path)?;
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

fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
