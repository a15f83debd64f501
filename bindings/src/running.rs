//! The calls that run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use napi::threadsafe_function::ThreadsafeFunctionHandle;
use napi::{Env, sys};
use tokio::task::AbortHandle;

/// Calls by their numbers. While there is one, the callback for its end keeps Node alive. Used on Node's thread only.
#[derive(Default)]
pub(crate) struct Running {
    tasks: Mutex<HashMap<u32, AbortHandle>>,
    /// Weak, since the way itself owns this.
    way: OnceLock<Weak<ThreadsafeFunctionHandle>>,
}

impl Running {
    pub(crate) fn keep_awake_by(&self, way: &Arc<ThreadsafeFunctionHandle>) {
        let _ = self.way.set(Arc::downgrade(way));
    }

    pub(crate) fn add(&self, env: Env, call: u32, task: AbortHandle) {
        let mut tasks = self.tasks();
        if tasks.is_empty() {
            self.with_way(|way| {
                // SAFETY: this is the thread of `env`, which the way belongs to, and the way has not been closed.
                unsafe { sys::napi_ref_threadsafe_function(env.raw(), way) };
            });
        }
        tasks.insert(call, task);
    }

    pub(crate) fn remove(&self, env: Env, call: u32) -> Option<AbortHandle> {
        let mut tasks = self.tasks();
        let task = tasks.remove(&call)?;
        if tasks.is_empty() {
            self.with_way(|way| {
                // SAFETY: as above.
                unsafe { sys::napi_unref_threadsafe_function(env.raw(), way) };
            });
        }
        Some(task)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tasks().is_empty()
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<u32, AbortHandle>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_way(&self, then: impl FnOnce(sys::napi_threadsafe_function)) {
        if let Some(way) = self.way.get().and_then(Weak::upgrade) {
            way.with_read_aborted(|closed| {
                if !closed {
                    then(way.get_raw());
                }
            });
        }
    }
}
