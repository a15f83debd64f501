//! Work that the server does without a client: `[queues]` and `[cron]`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tenon_runtime::{Runtime, RuntimeConfig};
use tenon_work::{Consumer, Declaration, QueueOptions, Service, SidecarAddress, consume_cron, consume_queue};

use crate::configuration::Configuration;
use crate::error::ServerError;

/// Time for an answer of the sidecar.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The queues and jobs of a configuration, and the sidecars that have them.
#[derive(Clone, PartialEq)]
pub(crate) struct Work {
    queues: BTreeMap<String, QueueOptions>,
    queue: Option<SidecarAddress>,
    declaration: Option<Declaration>,
    cron: Option<SidecarAddress>,
    request_timeout: Duration,
}

impl Work {
    /// # Errors
    ///
    /// [`ServerError::Values`] for queues or jobs without their sidecar.
    pub(crate) fn of(configuration: &Configuration, config: &RuntimeConfig) -> Result<Self, ServerError> {
        let find = |name: &str| SidecarAddress::find(name, &config.sidecars, &config.environment);
        let missing = |section: &str, name: &str| {
            ServerError::Values(format!("{section}: there is no sidecar `{name}` in sidecars, which has them"))
        };
        let (queues, queue) = (configuration.queues.clone(), find("queue"));
        if queue.is_none() && !queues.is_empty() {
            return Err(missing("queues", "queue"));
        }
        let (declaration, cron) = (configuration.cron.clone(), find("cron"));
        if cron.is_none() && declaration.as_ref().is_some_and(|declaration| !declaration.jobs.is_empty()) {
            return Err(missing("cron", "cron"));
        }
        let request_timeout = Duration::from_millis(config.limits.request_timeout_ms);
        Ok(Self { queues, queue, declaration, cron, request_timeout })
    }

    /// Starts the consumers.
    ///
    /// # Errors
    ///
    /// [`ServerError::Ask`] for a token that no request can have.
    pub(crate) fn start(&self, runtime: &Runtime) -> Result<Vec<Consumer>, ServerError> {
        let mut consumers = Vec::new();
        if let Some(place) = self.queue.as_ref().filter(|_| !self.queues.is_empty()) {
            let service = Arc::new(Service::new(place.clone(), TIMEOUT)?);
            for (name, options) in &self.queues {
                consumers.push(consume_queue(name, options.clone(), Arc::clone(&service), runtime.clone()));
            }
        }
        if let Some(place) = &self.cron {
            let service = Arc::new(Service::new(place.clone(), TIMEOUT)?);
            consumers.push(consume_cron(self.declaration.clone(), service, runtime.clone(), self.request_timeout));
        }
        Ok(consumers)
    }
}
