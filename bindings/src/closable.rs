//! Objects that Node closes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};

use crate::failure::promise;

/// An object until it is closed.
pub(crate) struct Closable<T>(Arc<Mutex<Option<T>>>);

impl<T: Send + 'static> Closable<T> {
    pub(crate) fn new(object: T) -> Self {
        Self(Arc::new(Mutex::new(Some(object))))
    }

    /// Returns the object; None once it is closed.
    pub(crate) fn get(&self) -> MutexGuard<'_, Option<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the object. A second call resolves at once.
    pub(crate) fn close<'env, F>(&self, env: &'env Env, close: fn(T) -> F) -> Result<PromiseRaw<'env, ()>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let object = self.get().take();
        let closing = async move {
            if let Some(object) = object {
                close(object).await;
            }
            Ok(())
        };
        promise(env, closing, |()| ())
    }
}
