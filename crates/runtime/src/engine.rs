//! The WebAssembly engine: one per process, because each pool reserves address space and mappings by the thousand.

use std::time::Duration;

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result};

use crate::config::Limits;

/// How often a guest that computes lets others run, and how exactly a time-out hits it.
const EPOCH: Duration = Duration::from_millis(10);

/// What a component may consist of. One that Tenon composes has about a dozen core instances, two memories (engine and
/// bridge) and a handful of tables; foreign ones get the same room.
const CORE_INSTANCES: u32 = 24;
const MEMORIES: u32 = 4;
const TABLES: u32 = 8;

/// Elements of one table. The JavaScript engine's has some fifteen thousand functions.
const TABLE_ELEMENTS: usize = 64 * 1024;

/// Memory of a finished instance that is reset in place instead of being given back to the system: what a request usually
/// touches stays mapped, and the next instance in the slot does not fault it in again.
const KEEP_RESIDENT: usize = 64 * 1024 * 1024;

/// An engine with a pool for `limits`, and its clock. Code is compiled by Cranelift only.
pub(crate) fn engine(limits: &Limits) -> Result<Engine> {
    let instances = limits.max_concurrent;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES))
        .total_memories(instances.saturating_mul(2))
        .total_tables(instances.saturating_mul(TABLES))
        .total_stacks(instances)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memory_size(limits.memory_limit_bytes)
        .max_core_instance_size(4 * 1024 * 1024)
        .max_component_instance_size(4 * 1024 * 1024)
        .table_elements(TABLE_ELEMENTS)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .epoch_interruption(true)
        .wasm_component_model(true);
    let engine = Engine::new(&config)?;
    tick(&engine);
    Ok(engine)
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
