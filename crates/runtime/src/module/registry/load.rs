//! Loading one module: from the cache or by the compiler, on a thread, with its first instances.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::config::ModuleSource;
use crate::error::RuntimeError;
use crate::instance::shared_state::SharedState;
use crate::module::Module;
use crate::module::loader::Loader;

/// Loads one module and makes its first instances, on threads that may compute for seconds. `replaces`: another one serves in
/// its place.
pub(super) async fn load(
    loader: Arc<Loader>,
    source: ModuleSource,
    shared_state: Arc<SharedState>,
    replaces: bool,
) -> Result<Module, RuntimeError> {
    let cached = {
        let _turn = loader.turns.cached.acquire().await;
        on_a_thread(&loader, &source, &shared_state, Module::cached).await?
    };
    let module = match cached {
        Some(module) => module,
        None => {
            let _turn = loader.turns.compiled.acquire().await;
            on_a_thread(&loader, &source, &shared_state, Module::load).await?
        }
    };
    module.warm_up(&loader, replaces).await?;
    Ok(module)
}

async fn on_a_thread<T: Send + 'static>(
    loader: &Arc<Loader>,
    source: &ModuleSource,
    shared_state: &Arc<SharedState>,
    work: fn(&Loader, &ModuleSource, &Arc<SharedState>) -> Result<T, RuntimeError>,
) -> Result<T, RuntimeError> {
    let (using, of, within, tokio) = (Arc::clone(loader), source.clone(), Arc::clone(shared_state), Handle::current());
    let (sender, receiver) = oneshot::channel();
    // Not one of Tokio's blocking threads, for which a runtime that shuts down waits.
    let started = thread::Builder::new().name("tenon-load".to_string()).spawn(move || {
        let _context = tokio.enter();
        let loaded = catch_unwind(AssertUnwindSafe(|| work(&using, &of, &within)));
        let _ = sender.send(loaded.unwrap_or_else(|panic| Err(internal(&of, message(&*panic)))));
    });
    started.map_err(|error| internal(source, error.to_string()))?;
    receiver.await.map_err(|_| internal(source, "its thread ended".to_string()))?
}

fn internal(source: &ModuleSource, reason: String) -> RuntimeError {
    RuntimeError::Internal { name: source.name.clone(), reason }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_has_its_message() {
        for panic in [catch_unwind(|| panic!("on {}", "purpose")), catch_unwind(|| panic!("on purpose"))] {
            assert_eq!(message(&*panic.unwrap_err()), "it panicked: on purpose");
        }
        assert_eq!(message(&0), "it panicked: no message");
    }
}
