//! A loop that leases work of a sidecar, does it, and reports its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

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

    /// How an item ended.
    type End: Send + Sync;

    /// Its name in the log.
    const STEP: &'static str;

    /// Items that are done at the same time.
    fn concurrency(&self) -> usize;

    /// Reports whether work can be done; nothing is leased before.
    fn is_ready(&self) -> bool;

    /// Leases up to `max` items.
    fn lease(&self, max: usize) -> impl Future<Output = Result<Vec<Self::Item>, AskError>> + Send;

    /// The time for which an item is leased.
    fn lease_time(&self) -> Duration;

    /// Does an item.
    fn handle(&self, item: Self::Item) -> impl Future<Output = Self::End> + Send;

    /// Tells the sidecar how an item ended. Without effect when its lease is over, or when the sidecar knows the end.
    fn settle(&self, end: &Self::End) -> impl Future<Output = Result<(), AskError>> + Send;

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
            let leased = Instant::now();
            match work.lease(room).await {
                Ok(items) => {
                    is_failing = false;
                    let is_idle = items.is_empty();
                    for item in items {
                        let (work, report, closed) = (Arc::clone(&work), Arc::clone(&report), closed.clone());
                        handled.spawn(async move { complete(&*work, item, leased, &report, closed).await });
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

/// Does an item, and tells the sidecar how it ended: again and again while the sidecar is away, until the lease is over or the consumer is
/// closed. Then the item is leased again.
async fn complete<W: LeasedWork>(
    work: &W,
    item: W::Item,
    leased: Instant,
    report: &Report,
    mut closed: watch::Receiver<bool>,
) {
    let end = work.handle(item).await;
    let mut pause = POLL;
    while let Err(error) = work.settle(&end).await {
        if !error.is_temporary() || *closed.borrow() || leased.elapsed() + pause >= work.lease_time() {
            report(W::STEP, work.settle_failed(&error));
            return;
        }
        let _ = tokio::time::timeout(pause, closed.changed()).await;
        pause = (pause * 2).min(PAUSE);
    }
}
