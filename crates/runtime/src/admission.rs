//! Places for requests that run: a number in all, a number in each module, and a short queue before them.
//!
//! A place is taken per request and given back with it; a connection that is idle has none.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::{Limits, ms, size};
use crate::metrics::Metrics;
use crate::problem::Problem;

/// The places of a runtime.
pub(crate) struct Admission {
    all: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    patience: Duration,
    metrics: Arc<Metrics>,
}

/// The places of one module.
pub(crate) struct Places {
    running: Arc<Semaphore>,
    waiting: Semaphore,
    /// How many there are of each.
    all: [usize; 2],
}

impl Places {
    /// The places of a module with these limits: those of the module before it when there are as many.
    ///
    /// A module that may run less than the server has the same share of the queue, so that its requests do not fill the
    /// queue for others.
    pub(crate) fn of(limits: &Limits, before: Option<&Arc<Self>>) -> Arc<Self> {
        let concurrent = limits.concurrent_per_module();
        let queued = limits.max_queued.saturating_mul(concurrent).div_ceil(limits.max_concurrent.max(1));
        let all = [size(concurrent), size(queued)];
        match before {
            Some(before) if before.all == all => Arc::clone(before),
            _ => Arc::new(Self { running: Arc::new(Semaphore::new(all[0])), waiting: Semaphore::new(all[1]), all }),
        }
    }
}

/// A place in the runtime and one in the module. Both are free again when it is dropped.
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _module: OwnedSemaphorePermit,
    _running: Counted,
}

/// Adds one to a gauge for as long as it lives.
pub(crate) struct Counted(Gauge);

impl Counted {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Admission {
    pub(crate) fn new(limits: &Limits, metrics: Arc<Metrics>) -> Self {
        Self {
            all: Arc::new(Semaphore::new(size(limits.max_concurrent))),
            queue: Arc::new(Semaphore::new(size(limits.max_queued))),
            patience: ms(limits.queue_timeout_ms),
            metrics,
        }
    }

    /// A place for a request to the module whose places are `module`. The module's place is taken first, so that requests
    /// that wait for a busy module leave the server's places to others.
    ///
    /// # Errors
    ///
    /// [`Problem::Overloaded`] when the queue is full, or when no place came free in time.
    pub(crate) async fn admit(&self, module: &Places) -> Result<Place, Problem> {
        if let Some(place) = self.at_once(&module.running) {
            return Ok(place);
        }
        let (Ok(_of_module), Ok(_waiting)) = (module.waiting.try_acquire(), self.queue.try_acquire()) else {
            return Err(Problem::Overloaded);
        };
        let _queued = Counted::new(&self.metrics.queued);
        let both = async {
            let module = Arc::clone(&module.running).acquire_owned().await.ok()?;
            let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some(self.place(all, module))
        };
        match tokio::time::timeout(self.patience, both).await {
            Ok(Some(place)) => Ok(place),
            _ => Err(Problem::Overloaded),
        }
    }

    fn at_once(&self, module: &Arc<Semaphore>) -> Option<Place> {
        let module = Arc::clone(module).try_acquire_owned().ok()?;
        let all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(self.place(all, module))
    }

    fn place(&self, all: OwnedSemaphorePermit, module: OwnedSemaphorePermit) -> Place {
        Place { _all: all, _module: module, _running: Counted::new(&self.metrics.running) }
    }

    /// How many places are free.
    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.all.available_permits()
    }

    /// Takes places away until the result is dropped.
    #[cfg(test)]
    pub(crate) fn occupy(&self, places: u32) -> OwnedSemaphorePermit {
        Arc::clone(&self.all).try_acquire_many_owned(places).unwrap()
    }
}
