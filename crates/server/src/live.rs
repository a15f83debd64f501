//! A running server: its configuration, and the changes to it at run time.

use std::path::PathBuf;
use std::sync::Arc;

use tenon_jobs::{Consumers, Work};
use tenon_runtime::Runtime;

use crate::configuration::Configuration;
use crate::error::ServerError;
use crate::in_process::InProcessSidecars;
use crate::output::note;

/// Serves one configuration after another.
pub(crate) struct Live {
    path: PathBuf,
    configuration: Configuration,
    sidecars: InProcessSidecars,
    work: Work,
    consumers: Option<Consumers>,
    runtime: Runtime,
}

impl Live {
    /// Loads the modules of a configuration, and starts the sidecars in this process.
    ///
    /// # Errors
    ///
    /// As [`Configuration::runtime`], [`Configuration::work`] and [`Runtime::new`].
    pub(crate) async fn start(path: PathBuf, configuration: Configuration) -> Result<Self, ServerError> {
        let mut sidecars = InProcessSidecars::default();
        let config = configuration.runtime(&mut sidecars).await?.with_whole_policies();
        let work = configuration.work(&config)?;
        let runtime = Runtime::new(config).await?;
        Ok(Self { path, configuration, sidecars, work, consumers: None, runtime })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Starts the consumers of queues and cron.
    pub(crate) fn consume(&mut self) {
        let report = Arc::new(|step, message: String| tracing::warn!(step, "{message}"));
        self.consumers = Some(Consumers::start(self.work.clone(), self.runtime.clone(), report));
    }

    /// Serves what the file says now. A configuration that cannot be served has no effect but that `/health` tells of it.
    pub(crate) async fn reload(&mut self) {
        if let Err(error) = self.change().await {
            self.runtime.note_failed_update();
            tracing::error!("{error}");
            note("Reload", "failed: still serving the previous configuration");
        }
    }

    async fn change(&mut self) -> Result<(), ServerError> {
        let next = Configuration::read(&self.path)?;
        let mut sidecars = self.sidecars.next();
        let config = next.runtime(&mut sidecars).await?.with_whole_policies();
        let work = next.work(&config)?;
        self.runtime.update(config.modules).await?;
        sidecars.leave_former();
        self.sidecars = sidecars;
        self.work = work.clone();
        if let Some(consumers) = &self.consumers {
            consumers.change(work).await;
        }
        note("Reload", &format!("modules: {}", self.runtime.modules().join(", ")));
        let fixed = self.configuration.fixed_changes(&next);
        if !fixed.is_empty() {
            note("Restart", &format!("is needed for {}: they are unchanged until then", fixed.join(", ")));
        }
        self.configuration = next;
        Ok(())
    }

    /// Returns when messages and runs that were accepted are done.
    pub(crate) async fn close(self) {
        if let Some(consumers) = &self.consumers {
            consumers.close().await;
        }
    }
}
