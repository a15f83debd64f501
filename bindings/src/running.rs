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
    /// Weak, because the callback itself owns this.
    callback: OnceLock<Weak<ThreadsafeFunctionHandle>>,
}

impl Running {
    pub(crate) fn keep_awake_by(&self, callback: &Arc<ThreadsafeFunctionHandle>) {
        let _ = self.callback.set(Arc::downgrade(callback));
    }

    pub(crate) fn add(&self, env: Env, call: u32, task: AbortHandle) {
        let mut tasks = self.tasks();
        if tasks.is_empty() {
            self.with_callback(|callback| {
                // SAFETY: this is the thread of `env`, which the callback belongs to, and the callback has not been closed.
                unsafe { sys::napi_ref_threadsafe_function(env.raw(), callback) };
            });
        }
        tasks.insert(call, task);
    }

    pub(crate) fn remove(&self, env: Env, call: u32) -> Option<AbortHandle> {
        let mut tasks = self.tasks();
        let task = tasks.remove(&call)?;
        if tasks.is_empty() {
            self.with_callback(|callback| {
                // SAFETY: this is the thread of `env`, which the callback belongs to, and the callback has not been closed.
                unsafe { sys::napi_unref_threadsafe_function(env.raw(), callback) };
            });
        }
        Some(task)
    }

    /// Ends a call, which stays among those that run until it is removed.
    pub(crate) fn abort(&self, call: u32) {
        if let Some(task) = self.tasks().get(&call) {
            task.abort();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tasks().is_empty()
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<u32, AbortHandle>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_callback(&self, then: impl FnOnce(sys::napi_threadsafe_function)) {
        if let Some(callback) = self.callback.get().and_then(Weak::upgrade) {
            callback.with_read_aborted(|closed| {
                if !closed {
                    then(callback.get_raw());
                }
            });
        }
    }
}
