//! The queues and jobs of a configuration, and the consumers that do them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tenon_runtime::Runtime;
use tenon_transport::Sidecar;
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::consumer::{Consumer, LeasedWork, Report};
use crate::cron::{Cron, Declaration};
use crate::queue::{Queue, QueueOptions};
use crate::route::Routes;
use crate::service::{AskError, Service, SidecarAddress, TokenError};

/// Time for an answer of a sidecar `queue` or `cron`.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The queues and jobs of a configuration, in the form of `server.json`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Tasks {
    /// The routes that handle messages, by the names of queues.
    #[serde(default)]
    pub queues: BTreeMap<String, QueueOptions>,
    /// The jobs of the project. Without them, those of the sidecar stay as they are.
    pub cron: Option<Declaration>,
}

impl Tasks {
    /// Parses JSON.
    ///
    /// # Errors
    ///
    /// [`WorkError::Tasks`] when it has another form.
    pub fn parse(json: &str) -> Result<Self, WorkError> {
        serde_json::from_str(json).map_err(|error| WorkError::Tasks(error.to_string()))
    }

    /// Makes the jobs of the project those that a sidecar `cron` has, and runs none.
    ///
    /// # Errors
    ///
    /// [`AskError`] when the sidecar does not answer, or refuses a job.
    pub async fn declare(&self, sidecar: SidecarAddress) -> Result<(), AskError> {
        match &self.cron {
            Some(declaration) => declaration.declare(&Service::new(sidecar, TIMEOUT)).await,
            None => Ok(()),
        }
    }
}

/// The queues and jobs of a configuration, and the sidecars that have them.
#[derive(Clone, PartialEq)]
pub struct Work {
    tasks: Tasks,
    queue: Option<SidecarAddress>,
    cron: Option<SidecarAddress>,
    request_timeout: Duration,
    has_all_modules: bool,
}

/// The reason why work cannot be done.
#[derive(Debug, Error)]
pub enum WorkError {
    /// Queues or jobs without their sidecar.
    #[error("{section}: `sidecars` must have a sidecar `{sidecar}`, which stores them")]
    NoSidecar {
        /// The part of the configuration.
        section: &'static str,
        /// The name of the sidecar.
        sidecar: &'static str,
    },
    /// A token that no header can have.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Queues or jobs in another form.
    #[error("queues or jobs cannot be read: {0}")]
    Tasks(String),
}

impl Work {
    /// Finds the sidecars of queues and jobs. `request_timeout` is the longest time of a call.
    ///
    /// # Errors
    ///
    /// [`WorkError`] for queues or jobs without their sidecar, and for a token that no header can have.
    pub fn new(
        tasks: Tasks,
        sidecars: &[Sidecar],
        environment: &[(String, String)],
        request_timeout: Duration,
    ) -> Result<Self, WorkError> {
        let find = |name| SidecarAddress::find(name, sidecars, environment);
        let (queue, cron) = (find("queue")?, find("cron")?);
        if queue.is_none() && !tasks.queues.is_empty() {
            return Err(WorkError::NoSidecar { section: "queues", sidecar: "queue" });
        }
        if cron.is_none() && tasks.cron.as_ref().is_some_and(|cron| !cron.jobs.is_empty()) {
            return Err(WorkError::NoSidecar { section: "cron", sidecar: "cron" });
        }
        Ok(Self { tasks, queue, cron, request_timeout, has_all_modules: true })
    }

    /// The same work for a runtime that gets its modules later, as in development. A module that is not there is not reported.
    #[must_use]
    pub fn with_later_modules(self) -> Self {
        Self { has_all_modules: false, ..self }
    }

    /// Reports queues and jobs whose module is not among `modules`.
    fn report_unserved(&self, modules: &[String], report: &Report) {
        if !self.has_all_modules {
            return;
        }
        let unserved = |module: &str| !modules.iter().any(|served| served == module);
        for (name, QueueOptions { module, .. }) in self.tasks.queues.iter().filter(|(_, to)| unserved(&to.module)) {
            report("Queue", format!("the queue {name} calls {module}, which is not served here"));
        }
        for (name, module) in self.tasks.cron.iter().flat_map(Declaration::modules).filter(|(_, to)| unserved(to)) {
            report("Cron", format!("the job {name} calls {module}, which is not served here"));
        }
    }

    fn start<R: Routes + Clone>(&self, routes: &R, report: &Report) -> Vec<Consumer> {
        let service = |address: &SidecarAddress| Arc::new(Service::new(address.clone(), TIMEOUT));
        let mut consumers = Vec::new();
        if let Some(address) = self.queue.as_ref().filter(|_| !self.tasks.queues.is_empty()) {
            let service = service(address);
            for (name, options) in &self.tasks.queues {
                let (name, options, service) = (name.clone(), options.clone(), Arc::clone(&service));
                consumers.push(started(Queue { name, options, service, routes: routes.clone() }, report));
            }
        }
        if let Some(address) = &self.cron {
            let (declaration, service) = (self.tasks.cron.clone(), service(address));
            consumers.push(started(Cron::new(declaration, service, routes.clone(), self.request_timeout), report));
        }
        consumers
    }
}

fn started(work: impl LeasedWork, report: &Report) -> Consumer {
    Consumer::start(work, Arc::clone(report))
}

/// Consumers of queues and cron, which call the routes of a runtime until they are closed.
pub struct Consumers {
    runtime: Runtime,
    report: Report,
    /// None once they are closed.
    running: Mutex<Option<(Work, Vec<Consumer>)>>,
}

impl Consumers {
    /// Starts them, on the tokio runtime of the caller. `report` receives the lines for the log.
    #[must_use]
    pub fn start(work: Work, runtime: Runtime, report: Report) -> Self {
        work.report_unserved(&runtime.modules(), &report);
        let consumers = work.start(&runtime, &report);
        Self { runtime, report, running: Mutex::new(Some((work, consumers))) }
    }

    /// Does other work from now on. Returns when the former work that was leased is done. Without effect when the work is the same,
    /// or they are closed.
    pub async fn change(&self, work: Work) {
        let mut running = self.running.lock().await;
        if let Some((current, consumers)) = running.as_mut().filter(|(current, _)| *current != work) {
            close(std::mem::take(consumers)).await;
            work.report_unserved(&self.runtime.modules(), &self.report);
            *consumers = work.start(&self.runtime, &self.report);
            *current = work;
        }
    }

    /// Leases nothing more, and returns when all that was leased is done.
    pub async fn close(&self) {
        if let Some((_, consumers)) = self.running.lock().await.take() {
            close(consumers).await;
        }
    }
}

async fn close(consumers: Vec<Consumer>) {
    consumers.into_iter().map(Consumer::close).collect::<JoinSet<_>>().join_all().await;
}
