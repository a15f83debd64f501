//! Memory and tables of an instance, held to their limits and remembered.

use wasmtime::{ResourceLimiter, Result};

use crate::config::{Limits, size};

/// What a component may consist of. One that Tenon composes has about a dozen core instances, two memories (engine and
/// bridge) and a handful of tables; foreign ones get the same room, and one instance more for what restores their globals.
const CORE_INSTANCES: usize = 25;
pub(crate) const MEMORIES: usize = 4;
pub(crate) const TABLES: usize = 8;

/// The bounds of one store. A guest that asks for more is told that there is none.
pub(crate) struct Bounds {
    memory: usize,
    table: usize,
    largest: usize,
    denied: Option<&'static str>,
}

impl Bounds {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory: size(limits.memory_limit_bytes),
            table: size(limits.max_table_elements),
            largest: 0,
            denied: None,
        }
    }

    /// The size of the largest memory in bytes.
    pub(crate) fn largest_memory(&self) -> usize {
        self.largest
    }

    /// The limit that the guest has run into, by its name. What happens next is most likely its consequence.
    pub(crate) fn denied(&self) -> Option<&'static str> {
        self.denied
    }
}

impl ResourceLimiter for Bounds {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.memory {
            self.denied = Some("memory_limit_bytes");
            return Ok(false);
        }
        self.largest = self.largest.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > self.table {
            self.denied = Some("max_table_elements");
            return Ok(false);
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }

    fn tables(&self) -> usize {
        TABLES
    }
}
