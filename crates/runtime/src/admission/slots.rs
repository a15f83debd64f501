//! The slots of a runtime. Every instance holds one, whether it runs or waits to be used again, of whichever module; so idle
//! instances give way to a request that needs a slot.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

use crate::admission::warm::Warm;
use crate::instance::call::SlotPermit;

/// The slots of one runtime.
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    all: usize,
    idle: Mutex<Vec<Weak<Warm>>>,
}

impl Slots {
    pub(crate) fn new(instances: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(instances)), all: instances, idle: Mutex::default() }
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.all - self.free.available_permits().min(self.all)
    }

    /// Takes note of a place where instances idle.
    pub(crate) fn add(&self, warm: &Arc<Warm>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|each| each.strong_count() > 0);
        idle.push(Arc::downgrade(warm));
    }

    /// A slot, for which an idle instance is dropped when none is free. Waits when all instances run: requests wait for a permit before
    /// they get here, but an instance may end a moment after its permit.
    pub(crate) async fn take(&self) -> SlotPermit {
        if let Some(slot) = self.take_now() {
            return slot;
        }
        match Arc::clone(&self.free).acquire_owned().await {
            Ok(slot) => slot,
            // The semaphore is never closed; the request's timeout bounds the wait.
            Err(_) => std::future::pending().await,
        }
    }

    /// A slot if one is free.
    pub(crate) fn try_take(&self) -> Option<SlotPermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// A slot, for which an idle instance is dropped when none is free; none when all instances run.
    pub(crate) fn take_now(&self) -> Option<SlotPermit> {
        loop {
            let slot = self.try_take();
            if slot.is_some() || !self.evict() {
                return slot;
            }
        }
    }

    /// Drops the oldest idle instance of the module that has the most. False when there is none.
    fn evict(&self) -> bool {
        let most = {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.iter().filter_map(Weak::upgrade).max_by_key(|warm| warm.len())
        };
        most.is_some_and(|warm| warm.drop_oldest())
    }
}
