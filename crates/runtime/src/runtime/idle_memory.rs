//! Memory that goes back to the system while a module or all of them get no requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Runtime;
use crate::admission::watch::watch;

/// How often it is seen whether the runtime is idle.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of pauses without a request after which each module keeps one instance, besides those that it always keeps.
const UNTIL_FEW_INSTANCES: u64 = 10;

/// The pauses in a row in which no request came.
#[derive(Default)]
struct Pauses {
    /// The number of requests at the last look.
    requests: u64,
    count: u64,
}

impl Pauses {
    /// Counts one more, or begins anew after a request.
    fn next(&mut self, requests: u64) -> u64 {
        self.count = if self.requests == requests { self.count + 1 } else { 0 };
        self.requests = requests;
        self.count
    }
}

impl Runtime {
    /// Gives memory back that requests have left: of a module after a pause, and of all in steps, the longer no request has
    /// come.
    pub(super) fn watch_memory(&self) {
        let idle_timeout = self.shared.limits.idle_timeout_ms.div_ceil(1_000);
        let (pauses, has_started) = (Mutex::<Pauses>::default(), AtomicBool::new(false));
        watch(&self.shared, PAUSE, move |shared| {
            let mut paused = shared.registry.ready();
            paused.retain(|module| module.idle.begins_pause());
            if !paused.is_empty() {
                tokio::task::spawn_blocking(move || paused.iter().for_each(|module| module.release()));
            }
            let Some(requests) = shared.admission.idle() else { return };
            let count = pauses.lock().unwrap_or_else(PoisonError::into_inner).next(requests);
            if count == 0 {
                return;
            }
            if count == UNTIL_FEW_INSTANCES {
                let ready = shared.registry.ready();
                ready.iter().filter_map(|module| module.reuse.waiting()).for_each(|warm| warm.keep_few());
            }
            // Some memories wait from now on whose instances have idled for too long.
            shared.engine.memories.trim();
            if count == 1 {
                tokio::task::spawn_blocking(tenon_memory::trim);
            }
            // The first time, a start is over, which uses more of the program than requests do.
            if !has_started.swap(true, Ordering::Relaxed) || count == idle_timeout {
                tokio::task::spawn_blocking(tenon_memory::release_program);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_begins_the_count_anew() {
        let mut pauses = Pauses::default();
        assert_eq!([0, 0, 3, 3, 3, 4, 4].map(|requests| pauses.next(requests)), [1, 2, 0, 1, 2, 0, 1]);
    }
}
