//! The interface of stores of jobs and runs.

use serde::Serialize;
use tenon_service::store_error::StoreFailure;

use super::invalid_job::InvalidJob;
use super::job::{Given, Job};
use super::run::{Ask, Call, Outcome, Run};

/// Number of runs kept for each job.
pub(crate) const REMEMBERED_RUNS: usize = 100;

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
    fn jobs(&self) -> impl Future<Output = Result<Vec<Described>, StoreFailure>> + Send;

    /// Finds a job.
    fn job(&self, name: String) -> impl Future<Output = Result<Option<Described>, StoreFailure>> + Send;

    /// Adds a job, unless one has its name.
    fn add(&self, job: Job, now: i64) -> impl Future<Output = Result<bool, StoreFailure>> + Send;

    /// Changes the given members of a job, in one transaction, so that no concurrent change is lost. Its next time stays
    /// when its schedule does. None when the job does not exist, and a detail when it would be wrong.
    fn change(
        &self,
        name: String,
        given: Given,
        now: i64,
    ) -> impl Future<Output = Result<Option<Result<(), InvalidJob>>, StoreFailure>> + Send;

    /// Replaces the jobs of an owner, all or none: removes its others, and replaces another owner's job of the same
    /// name. Disabled jobs stay disabled.
    fn declare(&self, owner: String, jobs: Vec<Job>, now: i64)
    -> impl Future<Output = Result<(), StoreFailure>> + Send;

    /// Removes a job with its history.
    fn remove(&self, name: String) -> impl Future<Output = Result<bool, StoreFailure>> + Send;

    /// Makes a manual run. None when the job does not exist.
    fn trigger(&self, name: String, now: i64) -> impl Future<Output = Result<Option<Run>, StoreFailure>> + Send;

    /// Ends a run that no consumer leases, with an error.
    fn give_up(&self, id: i64, error: String) -> impl Future<Output = Result<(), StoreFailure>> + Send;

    /// Returns the earliest time at which there may be a run to lease.
    fn wake(&self) -> impl Future<Output = Result<Option<i64>, StoreFailure>> + Send;

    /// Creates due runs, and leases those that are ready.
    fn lease(&self, ask: Ask, now: i64) -> impl Future<Output = Result<Vec<Call>, StoreFailure>> + Send;

    /// Ends an attempt. Returns whether the run gets another one; none when the lease has expired.
    fn finish(
        &self,
        id: i64,
        receipt: String,
        outcome: Outcome,
        now: i64,
    ) -> impl Future<Output = Result<Option<bool>, StoreFailure>> + Send;

    /// Lists the runs of a job, the newest first.
    fn runs(&self, name: String, limit: usize) -> impl Future<Output = Result<Vec<Run>, StoreFailure>> + Send;

    /// Finds a run.
    fn run(&self, id: i64) -> impl Future<Output = Result<Option<Run>, StoreFailure>> + Send;

    /// Checks that the store responds.
    fn ping(&self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
}
