//! Cron of the development services. A consumer of the attached runtime does the runs, as it does those of a sidecar, and a
//! client that triggers a job gets the run that has ended.

use std::sync::Arc;
use std::time::Duration;

use tenon_service::host::HostSlot;
use tenon_service::store_error::StoreFailure;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::run::Run;
use super::store::CronStore;

/// The longest wait for the end of a run.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The pause after which a runtime that is gone, and a run that another process has ended, are noticed.
const LOOK: Duration = Duration::from_millis(500);

/// The runtime whose consumer does the runs, and the waiting clients.
#[derive(Clone)]
pub(super) struct Development {
    host: HostSlot,
    run_ended: Arc<Notify>,
}

impl Development {
    pub(super) fn new(host: HostSlot) -> Self {
        Self { host, run_ended: Arc::default() }
    }

    /// Wakes the clients that wait for the end of a run.
    pub(super) fn run_ended(&self) {
        self.run_ended.notify_waiters();
    }

    /// Waits for the end of a module's run. A run that no consumer will lease fails at once. After a minute the run is
    /// returned as it is. None when the job was removed meanwhile.
    pub(super) async fn wait(
        &self,
        store: &impl CronStore,
        triggered: Run,
        module: &str,
    ) -> Result<Option<Run>, StoreFailure> {
        let id = triggered.id.parse().map_err(|_| StoreFailure::new("a run has no number"))?;
        let began = Instant::now();
        loop {
            let ended = self.run_ended.notified();
            let run = store.run(id).await?;
            if run.as_ref().is_none_or(Run::is_over) || began.elapsed() >= LONGEST_WAIT {
                return Ok(run);
            }
            match self.obstacle(module) {
                Some(obstacle) => store.give_up(id, obstacle).await?,
                None => drop(timeout(LOOK, ended).await),
            }
        }
    }

    /// The reason why no consumer leases the runs of a module.
    fn obstacle(&self, module: &str) -> Option<String> {
        let Some(host) = self.host.get() else { return Some("no runtime is attached".to_string()) };
        let is_there = host.modules().iter().any(|each| each == module);
        (!is_there).then(|| format!("no module is called {module}"))
    }
}
