//! A running server: its configuration, and the changes to it at run time.

use std::path::PathBuf;

use tenon_runtime::Runtime;
use tenon_work::Consumer;

use crate::configuration::Configuration;
use crate::error::ServerError;
use crate::in_process::InProcessSidecars;
use crate::output::note;
use crate::work::Work;

/// Serves one configuration after another.
pub(crate) struct Live {
    path: PathBuf,
    configuration: Configuration,
    sidecars: InProcessSidecars,
    work: Work,
    consumers: Vec<Consumer>,
    runtime: Runtime,
}

impl Live {
    /// Loads the modules of a configuration, and starts the sidecars in this process.
    ///
    /// # Errors
    ///
    /// As [`Configuration::runtime`], [`Work::of`] and [`Runtime::new`].
    pub(crate) async fn start(path: PathBuf, configuration: Configuration) -> Result<Self, ServerError> {
        let mut sidecars = InProcessSidecars::default();
        let config = configuration.runtime(&mut sidecars).await?.with_whole_policies();
        let work = Work::of(&configuration, &config)?;
        let runtime = Runtime::new(config).await?;
        Ok(Self { path, configuration, sidecars, work, consumers: Vec::new(), runtime })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Starts the consumers of queues and cron.
    ///
    /// # Errors
    ///
    /// As [`Work::start`].
    pub(crate) fn consume(&mut self) -> Result<(), ServerError> {
        self.consumers = self.work.start(&self.runtime)?;
        Ok(())
    }

    /// Serves what the file says now. A configuration that cannot be served has no effect but that `/health` tells of it.
    pub(crate) async fn reload(&mut self) {
        if let Err(error) = self.change().await {
            self.runtime.note_failed_update();
            tracing::error!("{error}");
            note("Reload", "failed: the former configuration goes on serving");
        }
    }

    async fn change(&mut self) -> Result<(), ServerError> {
        let next = Configuration::read(&self.path)?;
        let mut sidecars = self.sidecars.next();
        let config = next.runtime(&mut sidecars).await?.with_whole_policies();
        let work = Work::of(&next, &config)?;
        self.runtime.update(config.modules).await?;
        sidecars.leave_former();
        self.sidecars = sidecars;
        let has_other_work = work != self.work;
        self.work = work;
        if has_other_work {
            close(std::mem::take(&mut self.consumers)).await;
            self.consume()?;
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
        close(self.consumers).await;
    }
}

async fn close(consumers: Vec<Consumer>) {
    let closing: Vec<_> = consumers.into_iter().map(|consumer| tokio::spawn(consumer.close())).collect();
    for each in closing {
        let _ = each.await;
    }
}
