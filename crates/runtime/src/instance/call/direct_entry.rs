//! A component that exports `sdk:core/handler`: where it does, and what is known of it.

use std::sync::{Arc, OnceLock};

use tenon_code::{GLOBALS, RESTORE};
use wasmtime::component::{self, ComponentExportIndex, InstancePre, TypedFunc};
use wasmtime::{Engine, Store};

use crate::instance::host::Host;

#[allow(missing_docs, reason = "generated")]
pub(crate) mod bindings {
    wasmtime::component::bindgen!({
        inline: "package tenon:runtime; world direct { export sdk:core/handler@0.1.0; export sdk:core/streams@0.1.0; }",
        path: "../../wit",
        world: "tenon:runtime/direct",
        exports: { default: async },
    });
}

use bindings::exports::sdk::core::{handler, streams};

/// A component that exports the interface, and where.
pub(crate) struct DirectEntry {
    pre: InstancePre<Host>,
    handler: handler::GuestIndices,
    /// The interface of a component that streams.
    streams: Option<Arc<streams::GuestIndices>>,
    /// The function that resets its globals.
    restore: Option<ComponentExportIndex>,
    /// The function that computes their digest.
    globals: Option<ComponentExportIndex>,
    /// Its answer to `takes-bodies`, once it was asked.
    takes_pieces: OnceLock<bool>,
}

impl DirectEntry {
    pub(crate) fn new(pre: InstancePre<Host>) -> wasmtime::Result<Self> {
        let handler = handler::GuestIndices::new(&pre)?;
        let streams = pre.component().get_export_index(None, "sdk:core/streams@0.1.0");
        let streams = streams.map(|_| streams::GuestIndices::new(&pre)).transpose()?.map(Arc::new);
        let restore = pre.component().get_export_index(None, RESTORE);
        let globals = pre.component().get_export_index(None, GLOBALS);
        Ok(Self { pre, handler, streams, restore, globals, takes_pieces: OnceLock::new() })
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.pre.engine()
    }

    #[cfg(test)]
    pub(crate) fn component(&self) -> &component::Component {
        self.pre.component()
    }

    /// Reports whether the globals of an instance can be restored.
    pub(crate) fn is_restorable(&self) -> bool {
        self.restore.is_some()
    }

    /// Returns its answer to `takes-bodies`; none before it was asked.
    pub(crate) fn takes_pieces(&self) -> Option<bool> {
        if self.streams.is_none() {
            return Some(false);
        }
        self.takes_pieces.get().copied()
    }

    /// Keeps its answer to `takes-bodies`.
    pub(crate) fn note_takes_pieces(&self, takes: bool) {
        let _ = self.takes_pieces.set(takes);
    }

    /// An instance, and the function that resets its globals.
    pub(super) async fn instantiate(
        &self,
        store: &mut Store<Host>,
    ) -> wasmtime::Result<(DirectExports, Option<TypedFunc<(), ()>>)> {
        let instance = self.pre.instantiate_async(&mut *store).await?;
        let handler = self.handler.load(&mut *store, &instance)?;
        let streams = self.streams.clone().map(|indices| StreamsExport { instance, indices, loaded: None });
        let restore = self.restore.map(|restore| instance.get_typed_func(&mut *store, restore)).transpose()?;
        let globals = self.globals.map(|globals| (instance, globals));
        Ok((DirectExports { handler, streams, globals }, restore))
    }
}

/// The interfaces of an instance.
pub(super) struct DirectExports {
    pub(super) handler: handler::Guest,
    pub(super) streams: Option<StreamsExport>,
    globals: Option<(component::Instance, ComponentExportIndex)>,
}

impl DirectExports {
    /// Computes the digest of the globals. It is 0 where they cannot be read.
    pub(super) async fn globals(&self, store: &mut Store<Host>) -> wasmtime::Result<u64> {
        let Some((instance, index)) = self.globals else { return Ok(0) };
        let digest = instance.get_typed_func::<(), (u64,)>(&mut *store, index)?;
        Ok(digest.call_async(store, ()).await?.0)
    }
}

/// The interface `sdk:core/streams` of an instance. It is loaded with its first use, because most requests use none of it.
pub(super) struct StreamsExport {
    instance: component::Instance,
    indices: Arc<streams::GuestIndices>,
    loaded: Option<streams::Guest>,
}

impl StreamsExport {
    pub(super) fn load(&mut self, store: &mut Store<Host>) -> wasmtime::Result<&streams::Guest> {
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => self.indices.load(store, &self.instance)?,
        };
        Ok(self.loaded.insert(loaded))
    }
}
