//! The WebAssembly engine: one for all runtimes of a process, so that modules of one engine share their code's mappings and
//! instances their memories. Services of WASI 0.3 run in a second one, which exists once a service is loaded.

use std::io::{self, Cursor, Read, Seek};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenon_code::{Compiler, Cpu, Target};
use tenon_memory::{Memories, PerProcess, Stacks};
use wasmtime::{Config, Engine, EngineWeak};

use crate::admission::slots::Slots;
use crate::config::size;
use crate::error::RuntimeError;

/// How often a guest that computes lets others run, and how exactly a time-out hits it.
const EPOCH: Duration = Duration::from_millis(5);

/// Memories and stacks that wait for the next instance, and restored instances that wait for the next request: some two
/// megabytes each. More modules than this take turns with them.
const WAITING: usize = 32;

/// The engine with the pools of its memories and stacks, and the slots of one runtime.
#[derive(Clone)]
pub(crate) struct SharedEngine {
    pub(crate) engine: Engine,
    pub(crate) memories: Memories,
    pub(crate) stacks: Stacks,
    pub(crate) slots: Arc<Slots>,
    /// Permits of restored instances, which wait for the next request to their module.
    pub(crate) restored: Arc<Slots>,
    pub(crate) clock: Arc<Clock>,
    /// The engine of services, once there is one.
    concurrent: Arc<Mutex<Option<Clocked>>>,
}

/// An engine, and its clock.
type Clocked = (Engine, Arc<Clock>);

/// The ABI of the functions that a component exports and imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abi {
    /// A call returns its result: all components but services.
    Sync,
    /// A call is a task that may go on beside others and after its result: services of WASI 0.3.
    Async,
}

impl Abi {
    /// The ABI of a component.
    ///
    /// # Errors
    ///
    /// An I/O error, when the component cannot be read.
    pub(crate) fn of(component: impl Read + Seek) -> io::Result<Self> {
        Ok(if tenon_code::is_service(component)? { Self::Async } else { Self::Sync })
    }
}

impl SharedEngine {
    /// The engine for an ABI, and its clock. The one of services is made for the first of them, with the same memories and stacks.
    ///
    /// # Errors
    ///
    /// Wasmtime's, when an engine cannot be set up.
    pub(crate) fn of(&self, abi: Abi) -> wasmtime::Result<Clocked> {
        if abi == Abi::Sync {
            return Ok((self.engine.clone(), Arc::clone(&self.clock)));
        }
        let mut concurrent = self.concurrent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*concurrent {
            return Ok(made.clone());
        }
        let mut config = compiler(abi);
        tenon_memory::configure(&mut config, &self.memories, &self.stacks);
        let engine = Engine::new(&config)?;
        let clock = Arc::new(Clock::new(&engine));
        Ok(concurrent.insert((engine, clock)).clone())
    }
}

/// Returns the engine of this process, with slots for the instances of one runtime: no runtime takes slots of another.
pub(crate) fn shared_engine(max_concurrent: u64) -> Result<SharedEngine, RuntimeError> {
    static ENGINE: Mutex<Option<SharedEngine>> = Mutex::new(None);
    let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    let slots = Arc::new(Slots::new(size(max_concurrent)));
    match &*engine {
        Some(engine) => Ok(SharedEngine { slots, ..engine.clone() }),
        None => Ok(engine.insert(self::engine(slots).map_err(RuntimeError::Engine)?).clone()),
    }
}

/// An engine, and its clock. Code is compiled by Cranelift only.
fn engine(slots: Arc<Slots>) -> wasmtime::Result<SharedEngine> {
    let (memories, stacks) = (Memories::new(WAITING), Stacks::new(WAITING));
    let mut config = compiler(Abi::Sync);
    tenon_memory::configure(&mut config, &memories, &stacks);
    let engine = Engine::new(&config)?;
    let (restored, clock) = (Arc::new(Slots::new(WAITING)), Arc::new(Clock::new(&engine)));
    Ok(SharedEngine { engine, memories, stacks, slots, restored, clock, concurrent: Arc::default() })
}

/// The settings that affect the compiled code of components with this ABI, on this system.
fn compiler(abi: Abi) -> Config {
    compiler_for(abi, &Cpu::native())
}

/// The same settings on the system of a processor.
fn compiler_for(abi: Abi, cpu: &Cpu) -> Config {
    let mut config = Config::new();
    tenon_language::configure(&mut config, abi == Abi::Async);
    config.epoch_interruption(true);
    // Offsets in backtraces, and tables for debuggers: a fifth of the code's size. Windows unwinds by these tables.
    config.generate_address_map(false).native_unwind_info(cpu.is_windows());
    // Memories start with images that `tenon_memory` maps, or as segments say.
    config.memory_init_cow(false);
    config
}

/// Compiles one component for another process: the whole work of the program that [`crate::RuntimeConfig::compiler`] names.
/// Reads from standard input and writes to standard output.
///
/// # Errors
///
/// [`RuntimeError::Engine`] when the conversation breaks off.
pub fn compile_child() -> Result<(), RuntimeError> {
    let engines = [Abi::Sync, Abi::Async].into_iter().map(|abi| Engine::new(&compiler(abi)));
    tenon_code::serve(engines).map_err(RuntimeError::Engine)
}

/// Compiles a component into the cache that every runtime of this user loads its code from, and serves nothing. It
/// computes for seconds unless the cache has the code, or that of a component with the same engine.
///
/// # Errors
///
/// [`RuntimeError::Engine`] when the bytes are not a component.
pub fn precompile(component: &[u8], cache: &Path) -> Result<(), RuntimeError> {
    Abi::of(Cursor::new(component))
        .map_err(Into::into)
        .and_then(|abi| Engine::new(&compiler(abi)))
        .and_then(|engine| tenon_code::compile(&engine, component, Some(cache), &unbounded()))
        .map(drop)
        .map_err(RuntimeError::Engine)
}

/// Compiles the code that all components with the engine of this one share, for any processor that [`Cpu::shipped`] stands for, of a target
/// or of this system: what [`install_shared`] takes.
///
/// # Errors
///
/// [`RuntimeError::Engine`] when the bytes are not a component, or one whose code cannot be shared.
pub fn compile_shared(component: &[u8], target: Option<&'static Target>) -> Result<Vec<u8>, RuntimeError> {
    let cpu = Cpu::shipped(target);
    tenon_code::compile_shared(compiler_for(Abi::Sync, &cpu), &cpu, component, &unbounded())
        .map_err(RuntimeError::Engine)
}

/// Stores code of [`compile_shared`], which the caller trusts, in the cache: the alternative to [`precompile`].
///
/// # Errors
///
/// [`RuntimeError::Engine`] when this processor or this version cannot run it, or it is not that of the component.
pub fn install_shared(component: &[u8], code: &[u8], cache: &Path) -> Result<(), RuntimeError> {
    Engine::new(&compiler(Abi::Sync))
        .and_then(|engine| tenon_code::install_shared(&engine, component, code, cache))
        .map_err(RuntimeError::Engine)
}

/// A compiler for components that the caller trusts.
fn unbounded() -> Compiler {
    Compiler { command: Vec::new(), timeout: Duration::from_hours(1), memory: u64::MAX }
}

/// Compiles a component for a processor and a system, as [`Cpu::named`] takes them: the content of a file that [`crate::RuntimeConfig::trust_compiled`] lets a
/// runtime load.
///
/// # Errors
///
/// [`RuntimeError::Config`] when no processor or system has this name, [`RuntimeError::Engine`] when the bytes are not a
/// component.
pub fn compile_ahead(component: &[u8], cpu: Option<&str>, target: Option<&str>) -> Result<Vec<u8>, RuntimeError> {
    let cpu = Cpu::named(cpu, target).map_err(|error| RuntimeError::Config(error.to_string()))?;
    let abi = Abi::of(Cursor::new(component)).map_err(|error| RuntimeError::Engine(error.into()))?;
    tenon_code::compile_ahead(compiler_for(abi, &cpu), &cpu, component, &unbounded()).map_err(RuntimeError::Engine)
}

/// The thread that advances the engine's epoch, for as long as the engine lives.
pub(crate) struct Clock {
    engine: EngineWeak,
    /// True when it runs in this process: a forked process has none of its parent's threads. None where that is
    /// unknown.
    runs: Option<PerProcess>,
}

impl Clock {
    fn new(engine: &Engine) -> Self {
        let runs = PerProcess::new().map_err(|error| tracing::debug!("no clock for forked processes: {error}")).ok();
        let clock = Self { engine: engine.weak(), runs };
        if clock.runs.is_none() {
            clock.start();
        }
        clock.run();
        clock
    }

    /// Starts it unless it runs.
    pub(crate) fn run(&self) {
        if let Some(runs) = &self.runs
            && runs.number().load(Ordering::Relaxed) == 0
            && runs.number().swap(1, Ordering::Relaxed) == 0
        {
            self.start();
        }
    }

    fn start(&self) {
        let engine = self.engine.clone();
        std::thread::Builder::new()
            .name("tenon-epoch".to_string())
            .spawn(move || {
                while let Some(engine) = engine.upgrade() {
                    engine.increment_epoch();
                    drop(engine);
                    std::thread::sleep(EPOCH);
                }
            })
            .map(drop)
            .unwrap_or_else(|error| tracing::error!("no clock for time-outs: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_the_language_of_guests() {
        for abi in [Abi::Sync, Abi::Async] {
            let language = tenon_language::proposals(abi == Abi::Async);
            assert_eq!(Engine::new(&compiler(abi)).unwrap().get_wasm_features(), language);
        }
    }
}
