//! What an engine was like at a moment, to try something and go back.

use wasmtime::{Export, Global, Instance, Memory, Store, Val};

use crate::wasi::World;

/// A copy of its memory and of the globals that it exports, which is all that calls change.
pub(crate) struct Moment {
    memory: Memory,
    bytes: Vec<u8>,
    globals: Vec<(Global, Val)>,
}

impl Moment {
    /// How the engine is now.
    pub(crate) fn now(store: &mut Store<World>, instance: &Instance, memory: Memory) -> Self {
        let globals = instance.exports(&mut *store).filter_map(Export::into_global).collect::<Vec<_>>();
        let globals = globals.into_iter().map(|global| (global, global.get(&mut *store))).collect();
        Self { memory, bytes: memory.data(&*store).to_vec(), globals }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes the engine what it was, whatever a call has broken. What its memory has grown by stays.
    pub(crate) fn restore(&self, store: &mut Store<World>) {
        self.memory.data_mut(&mut *store)[..self.bytes.len()].copy_from_slice(&self.bytes);
        for (global, value) in &self.globals {
            // Fails for those that are constant.
            let _ = global.set(&mut *store, *value);
        }
    }
}
