//! Cron: the jobs of a configuration are declared to the sidecar `cron`, whose runs a consumer leases. It calls the module's route for
//! each, and reports the answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tenon_runtime::Runtime;

use crate::consumer::{Consumer, Work};
use crate::route::{RouteCall, call};
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

/// Declares jobs if there is a declaration, and runs what is due until the consumer is closed. `request_timeout` is the longest time of
/// a call.
#[must_use]
pub fn consume_cron(
    declaration: Option<Declaration>,
    service: Arc<Service>,
    runtime: Runtime,
    request_timeout: Duration,
) -> Consumer {
    for job in declaration.iter().flat_map(|declaration| &declaration.jobs) {
        let (name, module) = (job["name"].as_str().unwrap_or_default(), job["module"].as_str().unwrap_or_default());
        if !runtime.modules().iter().any(|served| served == module) {
            tracing::warn!(step = "Cron", "the job {name} calls {module}, which is not served here");
        }
    }
    let lease = request_timeout.saturating_add(REPORT).min(MAX_LEASE);
    Consumer::start(Cron { declaration, is_declared: AtomicBool::new(false), service, runtime, lease })
}

struct Cron {
    declaration: Option<Declaration>,
    is_declared: AtomicBool,
    service: Arc<Service>,
    runtime: Runtime,
    lease: Duration,
}

/// A run as a lease gives it.
#[derive(Deserialize)]
struct Run {
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

impl Work for Cron {
    type Item = Run;

    fn step(&self) -> &'static str {
        "Cron"
    }

    fn what(&self) -> String {
        "jobs".to_string()
    }

    fn concurrency(&self) -> usize {
        CONCURRENCY
    }

    fn is_ready(&self) -> bool {
        true
    }

    async fn lease(&self, max: usize) -> Result<Vec<Run>, AskError> {
        if let Some(declaration) = self.declaration.as_ref().filter(|_| !self.is_declared.load(Ordering::Relaxed)) {
            self.service.work(Method::PUT, "/cron-jobs", &json!(declaration)).await?;
            self.is_declared.store(true, Ordering::Relaxed);
        }
        let asked = json!({ "modules": self.runtime.ready_modules(), "max": max, "lease_ms": self.lease.as_millis() });
        let Some(body) = self.service.work(Method::POST, "/cron-runs/lease", &asked).await? else {
            return Ok(Vec::new());
        };
        let leased = serde_json::from_slice::<Leased>(&body);
        Ok(leased.map_err(|error| AskError::Body(error.to_string()))?.runs)
    }

    async fn settle(&self, run: Run) -> Result<(), AskError> {
        let Run { id, module, method, path, headers, body, receipt } = run;
        let headers: Vec<_> = headers.into_iter().collect();
        let body = body.unwrap_or_default().into();
        let route = RouteCall { module: &module, method: &method, path: &path, headers: &headers, body };
        let mut done = json!({ "id": id, "receipt": receipt });
        match call(&self.runtime, route).await {
            Ok(status) => done["status"] = status.as_u16().into(),
            Err(error) => done["error"] = error.to_string().into(),
        }
        self.service.work(Method::POST, "/cron-runs/done", &done).await?;
        Ok(())
    }
}
