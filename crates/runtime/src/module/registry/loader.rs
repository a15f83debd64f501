//! Loading one module: from the cache or by the compiler, on a thread, with its first instances.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;

use tenon_code::Compiler;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::config::ModuleSource;
use crate::error::RuntimeError;
use crate::instance::host::{self, Host};
use crate::instance::shared_state::SharedState;
use crate::module::Module;
use crate::module::engine::{Abi, Clock, SharedEngine};
use crate::module::inherited::Inherited;

/// The parts that load every module, so that all share one engine and its pool.
pub(crate) struct Loader {
    pub(crate) engine: SharedEngine,
    pub(crate) targets: Targets,
    pub(crate) cache: Option<PathBuf>,
    /// The server's policy.
    pub(crate) inherited: Inherited,
    pub(crate) compiler: Compiler,
    /// Reports whether files of code that was compiled ahead of time are loaded.
    pub(crate) trust_compiled: bool,
    /// How many modules there are at the start.
    pub(crate) modules: usize,
    pub(crate) turns: Turns,
}

impl Loader {
    /// The target for components with an ABI.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Engine`] when the engine of services cannot be set up.
    pub(crate) fn target(&self, abi: Abi) -> Result<&Target, RuntimeError> {
        self.targets.of(&self.engine, abi).map_err(RuntimeError::Engine)
    }
}

/// The engines and their linkers, by the ABI of the components that they are for.
pub(crate) struct Targets {
    sync: Target,
    /// Made for the first service.
    concurrent: OnceLock<Target>,
}

/// The engine that a component is compiled for, and the functions of the host there.
pub(crate) struct Target {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<Clock>,
    pub(crate) linker: Linker<Host>,
}

impl Targets {
    /// The targets of a runtime.
    ///
    /// # Errors
    ///
    /// Wasmtime's, when a function of the host cannot be linked.
    pub(crate) fn new(engine: &SharedEngine) -> wasmtime::Result<Self> {
        Ok(Self { sync: Target::new(engine, Abi::Sync)?, concurrent: OnceLock::new() })
    }

    fn of(&self, engine: &SharedEngine, abi: Abi) -> wasmtime::Result<&Target> {
        match (abi, self.concurrent.get()) {
            (Abi::Sync, _) => Ok(&self.sync),
            (Abi::Async, Some(target)) => Ok(target),
            (Abi::Async, None) => {
                let target = Target::new(engine, abi)?;
                Ok(self.concurrent.get_or_init(|| target))
            }
        }
    }
}

impl Target {
    fn new(shared: &SharedEngine, abi: Abi) -> wasmtime::Result<Self> {
        let (engine, clock) = shared.of(abi)?;
        let mut linker = Linker::new(&engine);
        host::link(&mut linker)?;
        if abi == Abi::Async {
            host::link_services(&mut linker)?;
        }
        Ok(Self { engine, clock, linker })
    }
}

/// Turns of modules that load: as many at a time as there are processors, because compiling takes memory by the hundred
/// megabytes. Modules whose code is cached do not wait behind those that are compiled.
pub(crate) struct Turns {
    cached: Semaphore,
    compiled: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self { cached: Semaphore::new(processors), compiled: Semaphore::new(processors) }
    }
}

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
        let _ = sender.send(work(&using, &of, &within));
    });
    let failed = |reason: String| RuntimeError::Config(format!("{}: loading failed: {reason}", source.name));
    started.map_err(|error| failed(error.to_string()))?;
    receiver.await.map_err(|_| failed("it panicked".to_string()))?
}
