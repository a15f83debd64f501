//! A loop that leases work of a sidecar, does it, and reports its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::service::AskError;

/// Items of one lease at most, as the sidecars have it.
const MAX_LEASE: usize = 100;

/// The pause when there is no work.
const POLL: Duration = Duration::from_millis(500);

/// The pause when the sidecar does not answer.
const PAUSE: Duration = Duration::from_secs(3);

/// Receives each line for the log: its step, `Queue` or `Cron`, and a sentence.
pub type Report = Arc<dyn Fn(&'static str, String) + Send + Sync>;

/// The work of one sidecar.
pub(crate) trait LeasedWork: Send + Sync + 'static {
    /// A unit of it.
    type Item: Send + 'static;

    /// Its name in the log.
    const STEP: &'static str;

    /// Items that are done at the same time.
    fn concurrency(&self) -> usize;

    /// Reports whether work can be done; nothing is leased before.
    fn is_ready(&self) -> bool;

    /// Leases up to `max` items.
    fn lease(&self, max: usize) -> impl Future<Output = Result<Vec<Self::Item>, AskError>> + Send;

    /// Does an item, and reports its end. When this fails, the item's lease ends by itself.
    fn settle(&self, item: Self::Item) -> impl Future<Output = Result<(), AskError>> + Send;

    /// The sentence for a lease that failed; it is reported once until leases work again.
    fn lease_failed(&self, error: &AskError) -> String;

    /// The sentence for an item whose end could not be reported.
    fn settle_failed(&self, error: &AskError) -> String;
}

/// A consumer, until it is closed. Work that is leased when the process dies is leased again after its lease.
pub(crate) struct Consumer {
    close: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Consumer {
    pub(crate) fn start(work: impl LeasedWork, report: Report) -> Self {
        let (close, closed) = watch::channel(false);
        Self { close, running: tokio::spawn(run(Arc::new(work), report, closed)) }
    }

    /// Leases nothing more, and returns when all that was leased is done.
    pub(crate) async fn close(self) {
        let _ = self.close.send(true);
        let _ = self.running.await;
    }
}

async fn run<W: LeasedWork>(work: Arc<W>, report: Report, mut closed: watch::Receiver<bool>) {
    let mut handled = JoinSet::new();
    let mut is_failing = false;
    while !*closed.borrow() {
        while handled.try_join_next().is_some() {}
        let room = work.concurrency().saturating_sub(handled.len()).min(MAX_LEASE);
        if room == 0 {
            tokio::select! {
                _ = handled.join_next() => {}
                _ = closed.changed() => {}
            }
            continue;
        }
        let pause = if work.is_ready() {
            match work.lease(room).await {
                Ok(items) => {
                    is_failing = false;
                    let is_idle = items.is_empty();
                    for item in items {
                        let (work, report) = (Arc::clone(&work), Arc::clone(&report));
                        handled.spawn(async move { settle(&*work, item, &report).await });
                    }
                    is_idle.then_some(POLL)
                }
                Err(error) => {
                    if !is_failing {
                        report(W::STEP, work.lease_failed(&error));
                    }
                    is_failing = true;
                    Some(PAUSE)
                }
            }
        } else {
            Some(POLL)
        };
        if let Some(pause) = pause {
            let _ = tokio::time::timeout(pause, closed.changed()).await;
        }
    }
    handled.join_all().await;
}

async fn settle<W: LeasedWork>(work: &W, item: W::Item, report: &Report) {
    if let Err(error) = work.settle(item).await {
        report(W::STEP, work.settle_failed(&error));
    }
}
