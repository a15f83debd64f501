//! A component that exports `sdk:core/handler`: where it does, and what is known of it.

use std::sync::OnceLock;

use tenon_code::RESTORE;
use wasmtime::component::{ComponentExportIndex, InstancePre, TypedFunc};
use wasmtime::{Engine, Store};

use crate::instance::host::Host;

#[allow(missing_docs, reason = "generated")]
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        inline: "package tenon:runtime; world direct { export sdk:core/handler@0.1.0; }",
        path: "../../wit",
        world: "tenon:runtime/direct",
        exports: { default: async },
    });
}

use bindings::{Direct, DirectIndices};

/// A component that exports the interface, and where.
pub(crate) struct DirectEntry {
    pre: InstancePre<Host>,
    indices: DirectIndices,
    /// The function that resets its globals.
    restore: Option<ComponentExportIndex>,
    /// Its answer to `:streams`, once it was asked.
    takes_pieces: OnceLock<bool>,
}

impl DirectEntry {
    pub(crate) fn new(pre: InstancePre<Host>) -> wasmtime::Result<Self> {
        let indices = DirectIndices::new(&pre)?;
        let restore = pre.component().get_export_index(None, RESTORE);
        Ok(Self { pre, indices, restore, takes_pieces: OnceLock::new() })
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.pre.engine()
    }

    #[cfg(test)]
    pub(crate) fn component(&self) -> &wasmtime::component::Component {
        self.pre.component()
    }

    /// Reports whether the globals of an instance can be restored.
    pub(crate) fn is_restorable(&self) -> bool {
        self.restore.is_some()
    }

    /// Returns its answer to `:streams`; none before it was asked.
    pub(crate) fn takes_pieces(&self) -> Option<bool> {
        self.takes_pieces.get().copied()
    }

    /// Keeps its answer to `:streams`.
    pub(crate) fn note_takes_pieces(&self, takes: bool) {
        let _ = self.takes_pieces.set(takes);
    }

    /// An instance, and the function that resets its globals.
    pub(super) async fn instantiate(
        &self,
        store: &mut Store<Host>,
    ) -> wasmtime::Result<(Direct, Option<TypedFunc<(), ()>>)> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        let direct = self.indices.load(&mut *store, &instance)?;
        let restore = self.restore.map(|restore| instance.get_typed_func(&mut *store, restore)).transpose()?;
        Ok((direct, restore))
    }
}
