//! An instance of a module in its store: made for a request, or taken from those that wait.

use std::sync::Arc;

use tenon_memory::{Image, Live, providing};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;
use wasmtime::component::TypedFunc;
use wasmtime_wasi_http::p2::bindings::Proxy;
use wasmtime_wasi_http::p3::bindings::Service;

use super::direct_entry::DirectExports;
use super::entry_point::EntryPoint;
use super::failure::Failure;
use crate::config::size;
use crate::instance::account::TASK_BYTES;
use crate::instance::bounds::FIRST_YIELD;
use crate::instance::caller::Caller;
use crate::instance::host::Host;
use crate::instance::shared_state::SharedState;
use crate::metering::meter::Meter;
use crate::telemetry::metrics::Count;
use crate::telemetry::module_info::ModuleInfo;

/// Resources that a task, stream or future of a service counts for.
const TASK_RESOURCES: u64 = 8;

/// The part of `max_held_bytes` that all of these take at most.
const TASKS_PART: usize = 4;

/// The right to one instance.
pub(crate) type SlotPermit = OwnedSemaphorePermit;

/// The parts of a module that its instances are made of.
#[derive(Clone, Copy)]
pub(crate) struct Blueprint<'a> {
    pub(crate) info: &'a Arc<ModuleInfo>,
    pub(crate) shared_state: &'a Arc<SharedState>,
    pub(crate) entry: &'a EntryPoint,
    /// The initial memory of its engine.
    pub(crate) image: Option<&'a Arc<Image>>,
}

/// A module's instance, and how it is called.
pub(crate) struct Instance {
    pub(super) store: Store<Host>,
    pub(super) exports: Exports,
    memory: Option<Live>,
    /// The function that resets its globals.
    globals: Option<TypedFunc<(), ()>>,
    uses: u64,
    #[cfg(test)]
    seen: crate::isolation::seen::Seen,
    // Behind the store: the slot is free once the instance is gone.
    slot: SlotPermit,
}

#[expect(clippy::large_enum_variant, reason = "nearly every instance has the largest")]
pub(super) enum Exports {
    Direct(DirectExports),
    WasiHttp(Proxy),
    Service(Service),
}

impl Instance {
    /// A fresh instance. A guest that computes yields once an epoch, so that it starves nobody and so that dropping the
    /// call's future ends it.
    pub(crate) async fn new(blueprint: Blueprint<'_>, caller: Caller, slot: SlotPermit) -> Result<Self, Failure> {
        let Blueprint { info, shared_state, entry, image } = blueprint;
        let mut store = Store::new(entry.engine(), Host::new(shared_state, info, caller));
        store.limiter(|host| &mut host.bounds);
        if let Some(image) = image {
            store.data_mut().bounds.count_image(image.size() - image.declared());
        }
        let limits = &shared_state.limits;
        store.set_hostcall_fuel(size(limits.max_hostcall_bytes));
        store.set_max_component_handles(size(limits.max_resources));
        // The tasks, streams and futures of a service, which are larger than other resources. Their room is held from the
        // start, because nothing shows how many there are.
        let most = size(limits.max_held_bytes) / TASKS_PART / TASK_BYTES;
        let tasks = size(limits.max_resources.div_ceil(TASK_RESOURCES)).min(most);
        if let Some(table) = store.concurrent_resource_table() {
            table.set_max_capacity(tasks);
        }
        if matches!(entry, EntryPoint::Service(_)) {
            store.data_mut().hold_tasks(tasks * TASK_BYTES)?;
        }
        store.set_epoch_deadline(store.data().first_yield());
        store.epoch_deadline_async_yield_and_update(1);
        info.metrics.count(Count::Instance);
        let instantiated = async {
            Ok::<_, wasmtime::Error>(match entry {
                EntryPoint::Direct(entry) => {
                    let (exports, globals) = entry.instantiate(&mut store).await?;
                    (Exports::Direct(exports), globals)
                }
                EntryPoint::WasiHttp(pre) => (Exports::WasiHttp(pre.instantiate_async(&mut store).await?), None),
                EntryPoint::Service(pre) => (Exports::Service(pre.instantiate_async(&mut store).await?), None),
            })
        };
        let (made, started) = providing(image, instantiated).await;
        let (exports, globals) = made?;
        // Without its image, the code would run in an empty memory.
        if image.is_some() != started.is_used {
            return Err(wasmtime::format_err!("no memory of the instance starts with the module's image").into());
        }
        Ok(Self {
            store,
            exports,
            memory: started.memory,
            globals,
            uses: 0,
            #[cfg(test)]
            seen: crate::isolation::seen::Seen::default(),
            slot,
        })
    }

    /// Makes it ready for another request.
    pub(crate) fn begin(&mut self, caller: Caller) {
        self.store.data_mut().begin(caller);
        self.store.set_epoch_deadline(self.store.data().first_yield());
    }

    /// Restores it to its state before the first request. When that fails, it returns false, and the instance must not
    /// serve another request.
    pub(crate) async fn restore(&mut self) -> bool {
        let (Some(memory), Some(globals)) = (&self.memory, &self.globals) else { return false };
        if !self.store.data_mut().restore() {
            return false;
        }
        // SAFETY: the instance is owned exclusively, and so is its memory; no code runs in it.
        let restored = unsafe { memory.restore() };
        self.store.set_epoch_deadline(FIRST_YIELD);
        restored && globals.call_async(&mut self.store, ()).await.is_ok()
    }

    /// Lets go of memory that it only reads.
    pub(crate) fn release(&mut self) {
        if let Some(memory) = &self.memory {
            // SAFETY: the instance is borrowed exclusively, and so is its memory; no code runs in it.
            unsafe { memory.release() };
        }
    }

    /// The digest of its memory and its globals, which is comparable between instances of one module. None where the memory has no
    /// image.
    pub(crate) async fn digest(&mut self) -> Option<u128> {
        // SAFETY: the instance is borrowed exclusively, and so is its memory; no code runs in it.
        let memory = self.memory.as_ref().and_then(|memory| unsafe { memory.digest() })?;
        let Exports::Direct(exports) = &self.exports else { return Some(memory) };
        let globals = exports.globals(&mut self.store).await.ok()?;
        Some(memory.rotate_left(1) ^ u128::from(globals))
    }

    /// Notes that digest, if its request is recorded.
    pub(crate) async fn note_digest(&mut self) {
        let seam = self.store.data().seam.clone();
        if let Some(recorder) = seam.recorder()
            && recorder.wants_digest()
        {
            let digest = self.digest().await;
            recorder.digest(digest);
        }
    }

    /// It holds another slot from now on.
    pub(crate) fn move_to(&mut self, slot: SlotPermit) {
        self.slot = slot;
    }

    /// Counts a request that was served to its end.
    pub(crate) fn served(&mut self) {
        self.store.data_mut().end();
        self.uses += 1;
    }

    /// The meter of its request.
    pub(crate) fn meter(&self) -> Option<&Meter> {
        self.store.data().bounds.meter.as_ref()
    }

    /// How many requests it has served.
    pub(crate) fn uses(&self) -> u64 {
        self.uses
    }

    /// All parts of it, for a comparison with a fresh one: its store, the harness's notes, its way of calling and its
    /// restorable state.
    #[cfg(test)]
    pub(crate) fn observed(&mut self) -> (&mut Store<Host>, &mut crate::isolation::seen::Seen, [bool; 3]) {
        // How often it was used decides when it is dropped, and the slot how many there are.
        let Self { store, exports, memory, globals, uses: _, seen, slot: _ } = self;
        let kinds = [matches!(exports, Exports::Direct(_)), memory.is_some(), globals.is_some()];
        (store, seen, kinds)
    }

    /// How many resources it holds on the host.
    pub(crate) fn resources(&mut self) -> usize {
        self.store.data_mut().table.iter_mut().count()
    }

    /// The size of its memories in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.store.data().bounds.memory()
    }

    /// The name of the limit that the guest has run into, if any.
    pub(crate) fn denied(&self) -> Option<&'static str> {
        self.store.data().bounds.denied()
    }

    /// The failure of a call, with the limit that the guest had reached.
    pub(super) fn failure(&self, error: wasmtime::Error) -> Failure {
        Failure::Trap(error, self.denied())
    }
}
