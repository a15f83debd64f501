//! The parts that load modules: the engines with their linkers, the cache, the compiler, and the turns.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;

use tenon_code::Compiler;
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::error::RuntimeError;
use crate::instance::host::{self, Host};
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
    /// Reports whether the digests of components are computed.
    pub(crate) digests: bool,
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
    pub(super) cached: Semaphore,
    pub(super) compiled: Semaphore,
}

impl Default for Turns {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self { cached: Semaphore::new(processors), compiled: Semaphore::new(processors) }
    }
}
