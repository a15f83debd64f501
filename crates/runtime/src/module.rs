//! A component that is compiled, linked and ready to be instantiated.

use std::sync::Arc;

use tenon_memory::Image;
use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;
use wasmtime_wasi_http::p2::bindings::ProxyPre;

use crate::bounds::{MEMORIES, TABLES};
use crate::call::Instance;
use crate::call::direct::bindings::DirectPre;
use crate::config::{Isolation, Limits, ModuleSource};
use crate::engine::SharedEngine;
use crate::error::RuntimeError;
use crate::host::{Caller, Host};
use crate::idle::Idle;
use crate::metrics::ModuleMetrics;
use crate::registry::Loader;
use crate::source_map::SourceMap;
use crate::warm::Warm;

/// What is known of a module by those who act on its behalf.
pub(crate) struct ModuleInfo {
    /// The `<module>` of `/run/<module>/*`.
    pub(crate) name: Arc<str>,
    /// Its counters.
    pub(crate) metrics: ModuleMetrics,
    /// Where its code comes from.
    pub(crate) source_map: SourceMap,
}

/// A served component.
pub(crate) struct Module {
    pub(crate) info: Arc<ModuleInfo>,
    pub(crate) entry: Entry,
    /// What the memory of its engine starts with.
    pub(crate) image: Option<Arc<Image>>,
    /// The instances that wait for their next request; none when each request has its own.
    pub(crate) warm: Option<Arc<Warm>>,
    /// What becomes of its code while nobody calls it.
    pub(crate) idle: Idle,
}

/// How a component is called.
pub(crate) enum Entry {
    /// It exports `sdk:core/handler`, alone or composed by Tenon: no bridge in between, no streams.
    Direct(DirectPre<Host>),
    /// It exports `wasi:http/incoming-handler` only: composed or made by somebody else's tools.
    WasiHttp(ProxyPre<Host>),
}

impl Module {
    /// Reads, compiles and links a component. This computes for seconds when the code is not cached; not to be called on
    /// a thread that serves.
    pub(crate) fn load(loader: &Loader, source: &ModuleSource) -> Result<Self, RuntimeError> {
        let Loader { engine: SharedEngine { engine, slots, .. }, linker, cache, modules, .. } = loader;
        let (name, path) = (source.name.clone(), source.path.clone());
        let code = match tenon_code::load(engine, &source.path, cache.as_deref(), *modules) {
            Ok(Ok(code)) => code,
            Err(source) => return Err(RuntimeError::Read { name, path, source }),
            Ok(Err(error)) => return Err(RuntimeError::Compile { name, path, reason: format!("{error:#}") }),
        };
        check_size(code.component(), &loader.surroundings.limits).map_err(|reason| RuntimeError::Compile {
            name: name.clone(),
            path: source.path.clone(),
            reason,
        })?;
        let link = |error: wasmtime::Error| RuntimeError::Link { name: name.clone(), reason: format!("{error:#}") };
        let instance = linker.instantiate_pre(code.component()).map_err(link)?;
        let entry = match Export::of(engine, code.component()) {
            Some(Export::Handler) => Entry::Direct(DirectPre::new(instance).map_err(link)?),
            Some(Export::IncomingHandler) => Entry::WasiHttp(ProxyPre::new(instance).map_err(link)?),
            None => {
                let exports: Vec<_> = exports(engine, code.component()).collect();
                let reason = format!(
                    "it exports neither sdk:core/handler nor wasi:http/incoming-handler, but {}",
                    if exports.is_empty() { "nothing".to_string() } else { exports.join(", ") }
                );
                return Err(RuntimeError::Link { name, reason });
            }
        };
        let warm = match loader.isolation {
            Isolation::Request => None,
            Isolation::Shared => Some(Warm::new(&loader.surroundings.limits)),
        };
        if let Some(warm) = &warm {
            slots.add(warm);
        }
        let metrics = loader.surroundings.metrics.module(&name);
        let source_map = SourceMap::beside(&source.path);
        Ok(Self {
            info: Arc::new(ModuleInfo { name: name.into(), metrics, source_map }),
            entry,
            image: code.image().cloned(),
            warm,
            idle: Idle::new(code),
        })
    }

    /// Makes the instances that are to be ready before the first request. One that cannot be made will be missed, and the
    /// reason seen, by a request.
    pub(crate) async fn warm_up(&self, loader: &Loader) {
        let Some(warm) = &self.warm else { return };
        for _ in 0..loader.surroundings.limits.warm_instances {
            let Some(slot) = loader.engine.slots.try_take() else { return };
            let caller = Caller { request_id: "warm-up".into(), traceparent: None };
            match Instance::new(self, &loader.surroundings, caller, slot).await {
                Ok(instance) => warm.give(instance),
                Err(failure) => {
                    tracing::warn!(module = &*self.info.name, "no instance could be made ready: {failure:?}");
                    return;
                }
            }
        }
    }
}

/// Whether an instance of a component is within the limits when it starts; why not.
fn check_size(component: &Component, limits: &Limits) -> Result<(), String> {
    // None of a component that imports modules, which the linker refuses.
    let Some(needed) = component.resources_required() else { return Ok(()) };
    let most = [
        ("memories", u64::from(needed.num_memories), MEMORIES as u64),
        ("tables", u64::from(needed.num_tables), TABLES as u64),
        ("bytes of memory", needed.max_initial_memory_size.unwrap_or(0), limits.memory_limit_bytes),
        ("table elements", needed.max_initial_table_size.unwrap_or(0), limits.max_table_elements),
    ];
    match most.iter().find(|(_, needed, most)| needed > most) {
        Some((what, needed, most)) => Err(format!("it needs {needed} {what}; {most} are allowed")),
        None => Ok(()),
    }
}

impl Entry {
    pub(crate) fn engine(&self) -> &Engine {
        match self {
            Self::Direct(pre) => pre.engine(),
            Self::WasiHttp(pre) => pre.engine(),
        }
    }
}

/// The interface by which a component can be called; the direct one is preferred.
enum Export {
    Handler,
    IncomingHandler,
}

impl Export {
    fn of(engine: &Engine, component: &Component) -> Option<Self> {
        let has = |interface: &str| exports(engine, component).any(|name| name.starts_with(interface));
        if has("sdk:core/handler@") {
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
