//! A component that is compiled, linked and ready to be instantiated.

pub(crate) mod engine;
pub(crate) mod inherited;
pub(crate) mod loader;
pub(crate) mod mounts;
pub(crate) mod registry;
pub(crate) mod sidecars;
pub(crate) mod stamp;

use std::io::{self, Cursor};
use std::sync::Arc;

use tenon_code::{AheadError, Code, HANDLER, OverBound};
use tenon_memory::{Image, Memories};
use tokio::time::{Instant, timeout_at};
use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::admission::idle::Idle;
use crate::admission::slots::Slots;
use crate::admission::warm::Warm;
use crate::config::{Isolation, Limits, ModuleSource, ms};
use crate::error::RuntimeError;
use crate::executor::compute;
use crate::instance::bounds::{MEMORIES, TABLES};
use crate::instance::call::direct_entry::DirectEntry;
use crate::instance::call::{Blueprint, EntryPoint, Failure, Instance};
use crate::instance::caller::Caller;
use crate::instance::shared_state::SharedState;
use crate::module::engine::{Abi, Clock, SharedEngine};
use crate::module::loader::{Loader, Target};
use crate::tape::component::{self, ComponentDigest};
use crate::telemetry::module_info::{ModuleInfo, Warnings};
use crate::telemetry::source_map::SourceMap;

/// A served component.
pub(crate) struct Module {
    pub(crate) info: Arc<ModuleInfo>,
    /// The digest of its component; zeros when it is not computed.
    pub(crate) digest: ComponentDigest,
    /// The clock of its engine.
    clock: Arc<Clock>,
    /// Its permissions and limits.
    pub(crate) shared_state: Arc<SharedState>,
    pub(crate) entry: EntryPoint,
    /// The initial memory of its engine.
    pub(crate) image: Option<Arc<Image>>,
    /// The engine's memories; those with this module's image are unmapped with it.
    memories: Memories,
    /// The treatment of its used instances.
    pub(crate) reuse: Reuse,
    /// Its share of the threads for guests that compute.
    pub(crate) compute: Arc<compute::Share>,
    /// The treatment of its code while it is idle.
    pub(crate) idle: Idle,
    /// Compares its instances with a fresh one.
    #[cfg(test)]
    pub(crate) probe: std::sync::OnceLock<Arc<crate::isolation::probe::Probe>>,
}

/// The treatment of an instance that has served a request.
pub(crate) enum Reuse {
    /// It is dropped.
    Never,
    /// It is restored and serves another request; it is dropped when that fails. An idle one holds one of these slots.
    Restored(Arc<Warm>, Arc<Slots>),
    /// It serves another one as it is.
    Shared(Arc<Warm>),
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(waiting) = self.reuse.waiting() {
            waiting.close();
        }
        if let Some(image) = &self.image {
            self.memories.forget(image);
        }
    }
}

impl Module {
    /// Links a component whose code is cached; none when it has to be compiled. Not to be called on a thread that serves.
    pub(crate) fn cached(
        loader: &Loader,
        source: &ModuleSource,
        shared_state: &Arc<SharedState>,
    ) -> Result<Option<Self>, RuntimeError> {
        if source.is_compiled() {
            let (target, code) = compiled_ahead(loader, source)?;
            return Self::link(loader, source, shared_state, target, code).map(Some);
        }
        let (target, cache) = (target(loader, source)?, loader.cache.as_deref());
        let code = match &source.bytes {
            Some(bytes) => Ok(tenon_code::cached_bytes(&target.engine, bytes, cache, loader.modules)),
            None => tenon_code::cached(&target.engine, &source.path, cache, loader.modules),
        };
        code.map_err(|error| read_error(source, error))?
            .map(|code| Self::link(loader, source, shared_state, target, code))
            .transpose()
    }

    /// Reads, compiles and links a component. This computes for seconds when the code is not cached; not to be called on
    /// a thread that serves.
    pub(crate) fn load(
        loader: &Loader,
        source: &ModuleSource,
        shared_state: &Arc<SharedState>,
    ) -> Result<Self, RuntimeError> {
        let Loader { cache, modules, compiler, .. } = loader;
        let target = target(loader, source)?;
        let (engine, cache) = (&target.engine, cache.as_deref());
        let loaded = match &source.bytes {
            Some(bytes) => Ok(tenon_code::load_bytes(engine, bytes, cache, *modules, compiler)),
            None => tenon_code::load(engine, &source.path, cache, *modules, compiler),
        };
        match loaded {
            Ok(Ok(code)) => Self::link(loader, source, shared_state, target, code),
            Ok(Err(error)) => Err(compile_error(source, &error)),
            Err(error) => Err(read_error(source, error)),
        }
    }

    fn link(
        loader: &Loader,
        source: &ModuleSource,
        shared_state: &Arc<SharedState>,
        Target { engine, clock, linker }: &Target,
        code: Code,
    ) -> Result<Self, RuntimeError> {
        let Loader { engine: SharedEngine { slots, restored, .. }, .. } = loader;
        let name = source.name.clone();
        check_size(&code, &shared_state.limits).map_err(|reason| RuntimeError::Compile {
            name: name.clone(),
            path: source.path.clone(),
            reason,
        })?;
        let link = |error: wasmtime::Error| RuntimeError::Link { name: name.clone(), reason: format!("{error:#}") };
        let instance = linker.instantiate_pre(code.component()).map_err(link)?;
        let entry = match Export::of(engine, code.component()) {
            Some(Export::Handler) => EntryPoint::Direct(DirectEntry::new(instance).map_err(link)?),
            Some(Export::IncomingHandler) => EntryPoint::WasiHttp(ProxyPre::new(instance).map_err(link)?),
            Some(Export::Service) => EntryPoint::Service(ServicePre::new(instance).map_err(link)?),
            None => {
                let exports: Vec<_> = exports(engine, code.component()).collect();
                let reason = format!(
                    "it exports none of sdk:core/handler, wasi:http/incoming-handler@0.2 and wasi:http/handler@0.3, but {}",
                    if exports.is_empty() { "nothing".to_string() } else { exports.join(", ") }
                );
                return Err(RuntimeError::Link { name, reason });
            }
        };
        let limits = &shared_state.limits;
        let reuse = match (shared_state.isolation, &entry) {
            // A task of the last request may go on in it.
            (_, EntryPoint::Service(_)) => Reuse::Never,
            (Isolation::Shared, _) => {
                let warm = Warm::new(limits, limits.warm_instances);
                slots.add(&warm);
                Reuse::Shared(warm)
            }
            (Isolation::Request, EntryPoint::Direct(entry)) if entry.is_restorable() => {
                let warm = Warm::new(limits, 0);
                restored.add(&warm);
                Reuse::Restored(warm, Arc::clone(restored))
            }
            (Isolation::Request, _) => Reuse::Never,
        };
        let digest = match &source.bytes {
            _ if !loader.digests => ComponentDigest::default(),
            Some(bytes) => component::digest(&**bytes).map_err(|error| read_error(source, error))?,
            None => {
                let file = tenon_code::opened(&source.path).map_err(|error| read_error(source, error))?;
                component::digest(file).map_err(|error| read_error(source, error))?
            }
        };
        let metrics = shared_state.metrics.module(&name);
        let source_map = if source.bytes.is_none() { SourceMap::beside(&source.path) } else { SourceMap::none() };
        Ok(Self {
            info: Arc::new(ModuleInfo { name: name.into(), metrics, source_map, warnings: Warnings::default() }),
            digest,
            clock: Arc::clone(clock),
            shared_state: Arc::clone(shared_state),
            entry,
            image: code.image().cloned(),
            memories: loader.engine.memories.clone(),
            reuse,
            compute: compute::Share::new(),
            idle: Idle::new(code),
            #[cfg(test)]
            probe: std::sync::OnceLock::new(),
        })
    }

    /// The parts that its instances are made of.
    pub(crate) fn blueprint(&self) -> Blueprint<'_> {
        let Self { info, shared_state, entry, image, .. } = self;
        Blueprint { info, shared_state, entry, image: image.as_ref() }
    }

    /// An instance for a request: one that waits, or a fresh one.
    pub(crate) async fn instance(&self, engine: &SharedEngine, caller: Caller) -> Result<Instance, Failure> {
        #[cfg(test)]
        if let Some(probe) = self.probe.get() {
            probe.ask();
            let began = std::time::Instant::now();
            let mut instance = self.take(engine, caller.clone()).await?;
            probe.look(&mut instance, self.blueprint(), caller, began);
            return Ok(instance);
        }
        self.take(engine, caller).await
    }

    async fn take(&self, engine: &SharedEngine, caller: Caller) -> Result<Instance, Failure> {
        self.idle.call();
        self.clock.run();
        if let Reuse::Shared(warm) = &self.reuse
            && let Some(mut instance) = warm.take()
        {
            instance.begin(caller);
            return Ok(instance);
        }
        let slot = engine.slots.take().await;
        if let Reuse::Restored(warm, _) = &self.reuse
            && let Some(mut instance) = warm.take()
        {
            instance.move_to(slot);
            instance.begin(caller);
            return Ok(instance);
        }
        // Boxed, so that a request with a waiting instance does not move the space for this future.
        Box::pin(Instance::new(self.blueprint(), caller, slot)).await
    }

    /// Takes an instance back that has served a request, and keeps it as it is if it may serve another one so.
    pub(crate) fn keep(&self, mut instance: Instance) {
        instance.served();
        if let Reuse::Shared(warm) = &self.reuse {
            warm.give(instance);
        }
    }

    /// Takes an instance back that has served a request, and keeps it if it may serve another one, as it is or restored.
    pub(crate) async fn take_back(&self, mut instance: Instance) {
        instance.note_digest().await;
        let Reuse::Restored(warm, slots) = &self.reuse else { return self.keep(instance) };
        #[cfg(test)]
        let left_out = self.probe.get().and_then(|probe| probe.leave_out(&mut instance));
        let restored = instance.restore().await;
        #[cfg(test)]
        if let (Some(probe), Some(left_out)) = (self.probe.get(), left_out) {
            probe.put_back(&mut instance, left_out);
        }
        if restored && let Some(slot) = slots.take_now() {
            instance.served();
            instance.move_to(slot);
            warm.give(instance);
        }
    }

    /// Releases its resources if it was not called since the last check.
    pub(crate) fn look(&self) {
        if self.idle.look() {
            self.release();
        }
    }

    /// Releases the pages of its image that its waiting memories only read.
    pub(crate) fn release(&self) {
        if let Some(waiting) = self.reuse.waiting() {
            waiting.release();
        }
        if let Reuse::Restored(waiting, _) = &self.reuse
            && tenon_memory::is_portable()
        {
            // Their memories are copies of the image, of which nothing can be released.
            waiting.keep_few();
        }
        if let Some(image) = &self.image {
            self.memories.release(image);
        }
    }

    /// Makes the instances that are to be ready before the first request, each within the time of a request and all within the
    /// time of loading. A module that replaces another makes one in any case, so that its first request finds its code mapped.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Link`] when it replaces another and fails while it starts. Otherwise a request will see the reason.
    pub(crate) async fn warm_up(&self, loader: &Loader, replaces: bool) -> Result<(), RuntimeError> {
        let limits = &self.shared_state.limits;
        let kept = if matches!(self.reuse, Reuse::Shared(_)) { limits.warm_instances } else { 0 };
        let ends = Instant::now() + ms(limits.load_timeout_ms);
        for _ in 0..kept.max(u64::from(replaces)) {
            let Some(slot) = loader.engine.slots.try_take() else { break };
            let caller = Caller::host("warm-up", limits);
            let ends = ends.min(Instant::now() + ms(limits.request_timeout_ms));
            let made = timeout_at(ends, Instance::new(self.blueprint(), caller, slot)).await;
            let name = &*self.info.name;
            match made {
                Ok(Ok(instance)) => self.keep_fresh(instance),
                Ok(Err(Failure::Trap(error, _))) if replaces => {
                    let reason = format!("it fails while it starts: {error:#}");
                    return Err(RuntimeError::Link { name: name.to_string(), reason });
                }
                Ok(Err(failure)) => {
                    tracing::warn!(module = name, "no instance could be made ready: {failure:?}");
                    break;
                }
                Err(_) => {
                    tracing::warn!(module = name, "no instance was ready in time: its start takes too long");
                    break;
                }
            }
        }
        Ok(())
    }

    /// Keeps an instance that has served no request for the first one.
    fn keep_fresh(&self, mut instance: Instance) {
        match &self.reuse {
            Reuse::Never => {}
            Reuse::Shared(warm) => warm.give(instance),
            Reuse::Restored(warm, slots) => {
                if let Some(slot) = slots.try_take() {
                    instance.move_to(slot);
                    warm.give(instance);
                }
            }
        }
    }
}

/// The target that a component is compiled for.
fn target<'a>(loader: &'a Loader, source: &ModuleSource) -> Result<&'a Target, RuntimeError> {
    let abi = match &source.bytes {
        Some(bytes) => Abi::of(Cursor::new(bytes)),
        None => tenon_code::opened(&source.path).and_then(Abi::of),
    };
    loader.target(abi.map_err(|error| read_error(source, error))?)
}

/// The code in a file that was compiled ahead of time, if the operator vouches for such files. The file does not name its target,
/// so the engine of services is asked behind the other.
fn compiled_ahead<'a>(loader: &'a Loader, source: &ModuleSource) -> Result<(&'a Target, Code), RuntimeError> {
    let refused =
        |reason: String| RuntimeError::Compile { name: source.name.clone(), path: source.path.clone(), reason };
    if !loader.trust_compiled {
        let reason = "it is machine code, which no sandbox bounds; if you have compiled it yourself, say so with \
                      trust_compiled (--trust-compiled)";
        return Err(refused(reason.to_string()));
    }
    let load = |abi| {
        let target = loader.target(abi)?;
        // SAFETY: the operator vouches for the file.
        let loaded = unsafe { tenon_code::load_ahead(&target.engine, &source.path) };
        Ok::<_, RuntimeError>(loaded.map_err(|error| read_error(source, error))?.map(|code| (target, code)))
    };
    match load(Abi::Sync)? {
        Ok(loaded) => Ok(loaded),
        Err(error @ AheadError::Cpu { .. }) => load(Abi::Async)?.map_err(|_| refused(error.to_string())),
        Err(error) => Err(refused(error.to_string())),
    }
}

fn read_error(ModuleSource { name, path, .. }: &ModuleSource, source: io::Error) -> RuntimeError {
    RuntimeError::Read { name: name.clone(), path: path.clone(), source }
}

fn compile_error(ModuleSource { name, path, .. }: &ModuleSource, error: &wasmtime::Error) -> RuntimeError {
    let (name, path) = (name.clone(), path.clone());
    match error.downcast_ref::<OverBound>() {
        Some(bound @ OverBound::Time(_)) => {
            RuntimeError::Timeout { name, reason: format!("{bound}, which is load_timeout_ms") }
        }
        Some(bound @ OverBound::Memory(_)) => {
            RuntimeError::Compile { name, path, reason: format!("{bound}, which is compile_memory_bytes") }
        }
        None => RuntimeError::Compile { name, path, reason: format!("{error:#}") },
    }
}

impl Reuse {
    /// The instances that wait for their next request.
    pub(crate) fn waiting(&self) -> Option<&Arc<Warm>> {
        match self {
            Self::Never => None,
            Self::Restored(warm, _) | Self::Shared(warm) => Some(warm),
        }
    }
}

/// The size of a page of memory, as all toolchains have it (WebAssembly core specification, section 4.2.8).
const PAGE_BYTES: u64 = 64 * 1024;

/// Checks that a new instance of a component is within the limits; the error has the reason.
fn check_size(code: &Code, limits: &Limits) -> Result<(), String> {
    // None of a component that imports modules, which the linker refuses.
    let Some(needed) = code.component().resources_required() else { return Ok(()) };
    // Wasmtime counts pages. Shared code declares less memory than the image of a module may have.
    let declared = needed.max_initial_memory_size.unwrap_or(0).saturating_mul(PAGE_BYTES);
    let memory = declared.max(code.image().map_or(0, |image| image.size() as u64));
    let most = [
        ("memories", u64::from(needed.num_memories), MEMORIES as u64),
        ("tables", u64::from(needed.num_tables), TABLES as u64),
        ("bytes of memory", memory, limits.memory_limit_bytes),
        ("table elements", needed.max_initial_table_size.unwrap_or(0), limits.max_table_elements),
    ];
    match most.iter().find(|(_, needed, most)| needed > most) {
        Some((what, needed, most)) => Err(format!("it needs {needed} {what}; {most} are allowed")),
        None => Ok(()),
    }
}

/// The interface by which a component can be called; the direct one is preferred.
enum Export {
    Handler,
    IncomingHandler,
    Service,
}

impl Export {
    fn of(engine: &Engine, component: &Component) -> Option<Self> {
        let has = |interface: &str| exports(engine, component).any(|name| name.starts_with(interface));
        if engine.get_concurrency_support() {
            // Only services are compiled for this engine.
            Some(Self::Service)
        } else if has(HANDLER) {
            Some(Self::Handler)
        } else if has("wasi:http/incoming-handler@") {
            Some(Self::IncomingHandler)
        } else {
            None
        }
    }
}

fn exports(engine: &Engine, component: &Component) -> impl Iterator<Item = String> {
    let types = component.component_type();
    let names: Vec<String> = types
        .exports(engine)
        .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentInstance(_)))
        .map(|(name, _)| name.to_string())
        .collect();
    names.into_iter()
}
