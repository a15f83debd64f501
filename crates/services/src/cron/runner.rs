//! Runs jobs in development: leases due runs, and calls modules through the host.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::run::{Ask, Call, Outcome, Run, Scope, now};
use super::store::{CronStore, StoreError};
use crate::host::HostSlot;
use crate::lease::secret_id;

/// The longest sleep, after which a changed clock or a suspended machine is noticed.
const LONGEST_SLEEP_MS: i64 = 20_000;

/// The sleep while a due run waits for its module's build.
const SHORTEST_SLEEP_MS: i64 = 500;

/// Time limit of a call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Length of a lease; the call ends before it.
const LEASE_MS: i64 = 90_000;

/// Limit of runs leased at once.
const MAX_RUNS: usize = 100;

/// Runs jobs.
#[derive(Clone)]
pub(crate) struct Runner<S> {
    store: S,
    host: HostSlot,
    changed: Arc<Notify>,
}

impl<S: CronStore> Runner<S> {
    pub(crate) fn new(store: S, host: HostSlot) -> Self {
        Self { store, host, changed: Arc::default() }
    }

    /// Wakes the runner, because jobs have changed.
    pub(crate) fn jobs_changed(&self) {
        self.changed.notify_one();
    }

    /// Runs due jobs, forever.
    pub(crate) async fn keep_time(&self) {
        loop {
            let sleep = self.look().await.unwrap_or_else(|error| {
                tracing::error!("cron: {error}");
                LONGEST_SLEEP_MS
            });
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(sleep.unsigned_abs())) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// Starts due runs, and returns the milliseconds until there may be more.
    async fn look(&self) -> Result<i64, StoreError> {
        let Some(host) = self.host.get() else { return Ok(SHORTEST_SLEEP_MS) };
        if self.store.wake().await?.is_some_and(|wake| wake <= now()) {
            let calls = self.store.lease(ask(Scope::Development(host.modules()))?, now()).await?;
            for call in calls {
                let runner = self.clone();
                tokio::spawn(async move { runner.run(call).await });
            }
        }
        let wake = self.store.wake().await?;
        Ok(wake.map_or(LONGEST_SLEEP_MS, |wake| (wake - now()).clamp(SHORTEST_SLEEP_MS, LONGEST_SLEEP_MS)))
    }

    /// Runs a job now, and returns the run when it has ended. None when the job does not exist.
    pub(crate) async fn trigger(&self, name: String) -> Result<Option<Run>, StoreError> {
        let Some((run, call)) = self.store.trigger(name, Some(ask(Scope::Modules(Vec::new()))?), now()).await? else {
            return Ok(None);
        };
        let Some(call) = call else { return Ok(Some(run)) };
        let id = call.id.parse().map_err(|_| "a run has no number".to_string())?;
        self.run(call).await;
        self.store.run(id).await
    }

    async fn run(&self, call: Call) {
        let outcome = self.call(&call).await;
        let Ok(id) = call.id.parse() else { return };
        match self.store.finish(id, call.receipt, outcome, now()).await {
            // The run waits for its next attempt.
            Ok(Some(true)) => self.jobs_changed(),
            Ok(_) => {}
            Err(error) => tracing::error!("cron: {error}"),
        }
    }

    async fn call(&self, call: &Call) -> Outcome {
        let Some(host) = self.host.get() else { return Err("no runtime is attached".to_string()) };
        if !host.modules().contains(&call.module) {
            return Err(format!("no module is called {}", call.module));
        }
        match tokio::time::timeout(TIMEOUT, host.call(&call.module, call.request())).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no answer within {} s", TIMEOUT.as_secs())),
        }
    }
}

fn ask(scope: Scope) -> Result<Ask, StoreError> {
    let receipt = secret_id().map_err(|error| error.to_string())?;
    Ok(Ask { scope, max: MAX_RUNS, lease_ms: LEASE_MS, receipt })
}
