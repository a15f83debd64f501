//! Cron: the jobs of a configuration are declared to the sidecar `cron`, whose runs a consumer leases. It calls the module's route for
//! each, and reports the answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::consumer::LeasedWork;
use crate::route::{RouteCall, Routes};
use crate::service::{AskError, Service};

/// Runs that are called at the same time: half of them are divided among the modules, and half are for whichever comes first.
const CONCURRENCY: usize = 100;

/// The longest lease that the sidecar gives.
const MAX_LEASE: Duration = Duration::from_secs(24 * 3600);

/// The time that is left to report the end of a call.
const REPORT: Duration = Duration::from_secs(30);

/// The jobs of a project, in the form of `PUT /cron-jobs`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The project, whose former jobs are removed.
    pub owner: String,
    /// The jobs.
    pub jobs: Vec<Value>,
}

impl Declaration {
    /// Makes the jobs of the project those that the sidecar `cron` has.
    ///
    /// # Errors
    ///
    /// [`AskError`] when the sidecar does not answer, or refuses a job.
    pub(crate) async fn declare(&self, service: &Service) -> Result<(), AskError> {
        service.work(Method::PUT, "/cron-jobs", &json!(self)).await.map(drop)
    }

    /// The names of the jobs and of the modules that they call.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (&str, &str)> {
        self.jobs.iter().filter_map(|job| Some((job["name"].as_str()?, job["module"].as_str()?)))
    }
}

/// The jobs of a declaration, if there is one, and the runs that are due.
pub(crate) struct Cron<R> {
    declaration: Option<Declaration>,
    is_declared: AtomicBool,
    service: Arc<Service>,
    routes: R,
    lease: Duration,
    running: Running,
}

/// The runs that are called, by their modules.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<BTreeMap<String, usize>>>);

/// A run that is called. Its slot is free once this is dropped.
pub(crate) struct Slot {
    running: Running,
    module: String,
}

impl Running {
    fn counts(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, module: &str) -> Slot {
        *self.counts().entry(module.to_string()).or_default() += 1;
        Slot { running: self.clone(), module: module.to_string() }
    }

    /// The modules that may have another run, and how many each of them may have at least. A module has an equal share of half of the slots,
    /// so that runs of others that do not end keep none of its own waiting.
    fn room(&self, mut modules: Vec<String>) -> (Vec<String>, usize) {
        let counts = self.counts();
        let share = share(modules.len());
        let spare =
            counts.values().fold(CONCURRENCY / 2, |left, count| left.saturating_sub(count.saturating_sub(share)));
        let room = |module: &String| {
            let count = counts.get(module).copied().unwrap_or(0);
            if count < share { share - count } else { spare }
        };
        modules.retain(|module| room(module) > 0);
        let least = modules.iter().map(room).min().unwrap_or(0);
        (modules, least)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.running.counts();
        if let Some(count) = counts.get_mut(&self.module) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.module);
            }
        }
    }
}

/// The slots that each of so many modules finds free of others.
fn share(modules: usize) -> usize {
    (CONCURRENCY / 2 / modules.max(1)).max(1)
}

impl<R: Routes> Cron<R> {
    /// `request_timeout` is the longest time of a call.
    pub(crate) fn new(
        declaration: Option<Declaration>,
        service: Arc<Service>,
        routes: R,
        request_timeout: Duration,
    ) -> Self {
        let lease = request_timeout.saturating_add(REPORT).min(MAX_LEASE);
        Self { declaration, is_declared: AtomicBool::new(false), service, routes, lease, running: Running::default() }
    }
}

/// A run as a lease gives it.
#[derive(Deserialize)]
pub(crate) struct Run {
    id: String,
    module: String,
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    receipt: String,
}

#[derive(Deserialize)]
struct Leased {
    runs: Vec<Run>,
}

impl<R: Routes> LeasedWork for Cron<R> {
    type Item = (Run, Slot);

    /// The body of the report.
    type End = Value;

    const STEP: &'static str = "Cron";

    fn concurrency(&self) -> usize {
        let modules = self.routes.ready_modules().len();
        CONCURRENCY / 2 + modules.max(1) * share(modules)
    }

    /// Jobs are declared before a module serves, so that they can be seen.
    fn is_ready(&self) -> bool {
        true
    }

    async fn lease(&self, max: usize) -> Result<Vec<Self::Item>, AskError> {
        if let Some(declaration) = self.declaration.as_ref().filter(|_| !self.is_declared.load(Ordering::Relaxed)) {
            declaration.declare(&self.service).await?;
            self.is_declared.store(true, Ordering::Relaxed);
        }
        let (modules, room) = self.running.room(self.routes.ready_modules());
        // Without modules, the sidecar still makes the runs that are due.
        let asked = json!({ "modules": modules, "max": max.min(room).max(1), "lease_ms": self.lease.as_millis() });
        let Some(body) = self.service.work(Method::POST, "/cron-runs/lease", &asked).await? else {
            return Ok(Vec::new());
        };
        let leased = serde_json::from_slice::<Leased>(&body);
        let runs = leased.map_err(|error| AskError::Body(error.to_string()))?.runs;
        Ok(runs.into_iter().map(|run| (self.running.begin(&run.module), run)).map(|(slot, run)| (run, slot)).collect())
    }

    fn lease_time(&self) -> Duration {
        self.lease
    }

    async fn handle(&self, (run, _slot): Self::Item) -> Value {
        let Run { id, module, method, path, headers, body, receipt } = run;
        let headers = headers.into_iter().collect();
        let body = body.unwrap_or_default().into();
        let mut done = json!({ "id": id, "receipt": receipt });
        match self.routes.call(RouteCall { module, method, path, headers, body }).await {
            Ok(status) => done["status"] = status.as_u16().into(),
            Err(error) => done["error"] = error.to_string().into(),
        }
        done
    }

    async fn settle(&self, done: &Value) -> Result<(), AskError> {
        self.service.work(Method::POST, "/cron-runs/done", done).await.map(drop)
    }

    fn lease_failed(&self, error: &AskError) -> String {
        format!("jobs cannot be read: {error}")
    }

    /// It gets its next attempt when its lease ends.
    fn settle_failed(&self, error: &AskError) -> String {
        format!("the end of a run could not be reported: {error}")
    }
}
