//! The WebAssembly engine: one per process, because each pool reserves address space and mappings by the thousand.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::config::{Limits, count, size};
use crate::error::RuntimeError;
use crate::slots::Slots;

/// How often a guest that computes lets others run, and how exactly a time-out hits it.
const EPOCH: Duration = Duration::from_millis(10);

/// What a component may consist of. One that Tenon composes has about a dozen core instances, two memories (engine and
/// bridge) and a handful of tables; foreign ones get the same room.
const CORE_INSTANCES: u32 = 24;
const MEMORIES: u32 = 4;
const TABLES: u32 = 8;

/// Memory of a finished instance that is reset in place instead of being given back to the system: what a request usually
/// changes, which is about a megabyte, stays mapped, and the next instance in the slot does not fault it in again. Much more
/// would be no gain: what one greedy request has changed would stay in its slot for good, and be reset after every request
/// there from then on.
const KEEP_RESIDENT: usize = 2 * 1024 * 1024;

/// Slots that keep what their last instance touched, for the next one of the same module: some two megabytes each. More
/// modules than this take turns with them.
const WARM_SLOTS: u32 = 32;

/// An engine, and the slots of its pool.
#[derive(Clone)]
pub(crate) struct SharedEngine {
    pub(crate) engine: Engine,
    pub(crate) slots: Arc<Slots>,
}

/// The engines of this process, by what their pools hold: runtimes of equal limits share one.
pub(crate) fn shared_engine(limits: &Limits) -> Result<SharedEngine, RuntimeError> {
    type Key = [u64; 3];
    static ENGINES: LazyLock<Mutex<HashMap<Key, SharedEngine>>> = LazyLock::new(Mutex::default);
    let key = [limits.max_concurrent, limits.memory_limit_bytes, limits.max_table_elements];
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = engines.get(&key) {
        return Ok(engine.clone());
    }
    let slots = Arc::new(Slots::new(size(limits.max_concurrent)));
    let engine = SharedEngine { engine: engine(limits).map_err(RuntimeError::Engine)?, slots };
    engines.insert(key, engine.clone());
    Ok(engine)
}

/// An engine with a pool for `limits`, and its clock. Code is compiled by Cranelift only.
pub(crate) fn engine(limits: &Limits) -> wasmtime::Result<Engine> {
    let instances = count(limits.max_concurrent);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES))
        .total_memories(instances.saturating_mul(2))
        .total_tables(instances.saturating_mul(TABLES))
        .total_stacks(instances)
        .max_unused_warm_slots(WARM_SLOTS)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memory_size(size(limits.memory_limit_bytes))
        .max_core_instance_size(4 * 1024 * 1024)
        .max_component_instance_size(4 * 1024 * 1024)
        .table_elements(size(limits.max_table_elements))
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .pagemap_scan(Enabled::Auto);
    let engine = Engine::new(compiler().allocation_strategy(InstanceAllocationStrategy::Pooling(pool)))?;
    tick(&engine);
    Ok(engine)
}

/// What decides about compiled code.
fn compiler() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true).wasm_component_model(true);
    config
}

/// Compiles a component into the cache that every runtime of this user loads its code from, and serves nothing. Seconds of
/// computing when the code is not there, nor that of a component with the same engine.
///
/// # Errors
///
/// [`RuntimeError::Engine`] when the bytes are no component.
pub fn precompile(component: &[u8], cache: &Path) -> Result<(), RuntimeError> {
    Engine::new(&compiler())
        .and_then(|engine| tenon_code::compile(&engine, component, Some(cache)))
        .map(drop)
        .map_err(RuntimeError::Engine)
}

/// Advances the engine's epoch for as long as the engine lives.
fn tick(engine: &Engine) {
    let engine = engine.weak();
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
