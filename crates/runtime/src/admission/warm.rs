//! Instances that wait for their next request: as the last one left them (`isolation = "shared"`), or restored.
//!
//! One serves requests one after another, never two at once: the JavaScript engine is not re-entrant. It is dropped after
//! a number of requests, when its memory has grown or it holds many resources, after any failure, and when it idles for too
//! long.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::admission::watch::watch;
use crate::config::{Limits, ms, size};
use crate::instance::call::Instance;

/// The idle instances of one module, oldest first.
pub(crate) struct Warm {
    idle: Mutex<VecDeque<(Instant, Instance)>>,
    max_reuse: u64,
    max_memory: usize,
    max_resources: usize,
    /// True when no instance is kept any more.
    closed: AtomicBool,
    kept: usize,
    timeout: Duration,
}

impl Warm {
    /// An idle pool that never shrinks below `kept` instances. Needs a Tokio runtime: a task drops the others.
    pub(crate) fn new(limits: &Limits, kept: u64) -> Arc<Self> {
        let warm = Arc::new(Self {
            idle: Mutex::default(),
            max_reuse: limits.max_reuse,
            max_memory: size(limits.max_reuse_memory_bytes),
            // The rest of the limit is for the next request.
            max_resources: size(limits.max_resources) / 16,
            closed: AtomicBool::new(false),
            kept: size(kept),
            timeout: ms(limits.idle_timeout_ms),
        });
        watch(&warm, (warm.timeout / 2).max(Duration::from_millis(1)), Self::reap);
        warm
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<(Instant, Instance)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.idle().len()
    }

    /// The instance that was used last: its memory is the likeliest to be in the processor's caches.
    pub(crate) fn take(&self) -> Option<Instance> {
        self.idle().pop_back().map(|(_, instance)| instance)
    }

    /// Keeps an instance for the next request, or drops it when it has served its time.
    pub(crate) fn give(&self, mut instance: Instance) {
        let is_good = instance.uses() < self.max_reuse
            && instance.memory() <= self.max_memory
            && instance.resources() <= self.max_resources
            && !self.closed.load(Ordering::Relaxed);
        if is_good {
            self.idle().push_back((Instant::now(), instance));
        }
    }

    /// Keeps no instance from now on: they cannot serve a second request.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let idle = std::mem::take(&mut *self.idle());
        drop(idle);
    }

    /// Lets go of memory that the instances only read; it is mapped again as they serve.
    pub(crate) fn release(&self) {
        self.idle().iter_mut().for_each(|(_, instance)| instance.release());
    }

    pub(crate) fn drop_oldest(&self) -> bool {
        // Dropped outside the lock.
        let oldest = self.idle().pop_front();
        oldest.is_some()
    }

    /// Drops all instances but the ones that are always kept, or one if there are none.
    pub(crate) fn keep_few(&self) {
        self.drop_while(self.kept.max(1), |_| true);
    }

    /// Drops instances that idled for too long, except the ones that are always kept.
    fn reap(&self) {
        self.drop_while(self.kept, |since| since.elapsed() >= self.timeout);
    }

    /// Drops the oldest instances while there are more than `kept`, and the time since which one idles is `old`.
    fn drop_while(&self, kept: usize, old: impl Fn(Instant) -> bool) {
        loop {
            let mut idle = self.idle();
            if idle.len() <= kept || idle.front().is_none_or(|(since, _)| !old(*since)) {
                return;
            }
            let oldest = idle.pop_front();
            drop(idle);
            drop(oldest);
        }
    }
}
