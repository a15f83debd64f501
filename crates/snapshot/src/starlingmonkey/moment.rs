//! Copies of an engine's state, to try something and go back.

use wasmtime::{Export, Global, Instance, Memory, Store, Val};

use crate::wasi::World;

/// A copy of an engine's memory and exported globals. Calls change nothing else.
pub(crate) struct Moment {
    memory: Memory,
    bytes: Vec<u8>,
    globals: Vec<(Global, Val)>,
}

impl Moment {
    /// Copies the current state.
    pub(crate) fn now(store: &mut Store<World>, instance: &Instance, memory: Memory) -> Self {
        let globals = instance.exports(&mut *store).filter_map(Export::into_global).collect::<Vec<_>>();
        let globals = globals.into_iter().map(|global| (global, global.get(&mut *store))).collect();
        Self { memory, bytes: memory.data(&*store).to_vec(), globals }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Resets the engine to this state, whatever a call has broken. Memory that was added by growing stays.
    pub(crate) fn restore(&self, store: &mut Store<World>) {
        self.memory.data_mut(&mut *store)[..self.bytes.len()].copy_from_slice(&self.bytes);
        for (global, value) in &self.globals {
            // Fails for constant globals.
            let _ = global.set(&mut *store, *value);
        }
    }
}
