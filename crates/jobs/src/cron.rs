//! Cron: the jobs of a configuration are declared to the sidecar `cron`, whose runs a consumer leases. It calls the module's route for
//! each, and reports the answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::consumer::LeasedWork;
use crate::route::{RouteCall, Routes};
use crate::service::{AskError, Service};

/// Runs that are called at the same time.
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
        Self { declaration, is_declared: AtomicBool::new(false), service, routes, lease }
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
    type Item = Run;

    /// The body of the report.
    type End = Value;

    const STEP: &'static str = "Cron";

    fn concurrency(&self) -> usize {
        CONCURRENCY
    }

    /// Jobs are declared before a module serves, so that they can be seen.
    fn is_ready(&self) -> bool {
        true
    }

    async fn lease(&self, max: usize) -> Result<Vec<Run>, AskError> {
        if let Some(declaration) = self.declaration.as_ref().filter(|_| !self.is_declared.load(Ordering::Relaxed)) {
            declaration.declare(&self.service).await?;
            self.is_declared.store(true, Ordering::Relaxed);
        }
        let asked = json!({ "modules": self.routes.ready_modules(), "max": max, "lease_ms": self.lease.as_millis() });
        let Some(body) = self.service.work(Method::POST, "/cron-runs/lease", &asked).await? else {
            return Ok(Vec::new());
        };
        let leased = serde_json::from_slice::<Leased>(&body);
        Ok(leased.map_err(|error| AskError::Body(error.to_string()))?.runs)
    }

    fn lease_time(&self) -> Duration {
        self.lease
    }

    async fn handle(&self, run: Run) -> Value {
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
