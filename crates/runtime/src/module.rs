//! A component that is compiled, linked and ready to be instantiated.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker};
use wasmtime_wasi_http::p2::bindings::ProxyPre;

use crate::cache;
use crate::call::direct::bindings::DirectPre;
use crate::config::ModuleSource;
use crate::error::RuntimeError;
use crate::host::Host;

/// A served component.
pub(crate) struct Module {
    pub(crate) name: Arc<str>,
    pub(crate) entry: Entry,
}

/// How a component is called.
pub(crate) enum Entry {
    /// It exports `sdk:core/handler`: no bridge in between, no streams.
    Direct(DirectPre<Host>),
    /// It exports `wasi:http/incoming-handler`: composed with the bridge, or made by somebody else's tools.
    WasiHttp(ProxyPre<Host>),
}

impl Module {
    /// Reads, compiles and links a component. This computes for seconds when the code is not cached; not to be called on
    /// a thread that serves.
    pub(crate) fn load(
        engine: &Engine,
        linker: &Linker<Host>,
        source: &ModuleSource,
        cache: Option<&Path>,
    ) -> Result<Self, RuntimeError> {
        let (name, path) = (source.name.clone(), source.path.clone());
        let bytes = match fs::read(&source.path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(RuntimeError::Read { name, path, source }),
        };
        let component = match cache::compile(engine, &bytes, cache) {
            Ok(component) => component,
            Err(error) => return Err(RuntimeError::Compile { name, path, reason: format!("{error:#}") }),
        };
        let link = |error: wasmtime::Error| RuntimeError::Link { name: name.clone(), reason: format!("{error:#}") };
        let instance = linker.instantiate_pre(&component).map_err(link)?;
        let entry = match Export::of(engine, &component) {
            Some(Export::Handler) => Entry::Direct(DirectPre::new(instance).map_err(link)?),
            Some(Export::IncomingHandler) => Entry::WasiHttp(ProxyPre::new(instance).map_err(link)?),
            None => {
                let exports: Vec<_> = exports(engine, &component).collect();
                let reason = format!(
                    "it exports neither sdk:core/handler nor wasi:http/incoming-handler, but {}",
                    if exports.is_empty() { "nothing".to_string() } else { exports.join(", ") }
                );
                return Err(RuntimeError::Link { name, reason });
            }
        };
        Ok(Self { name: name.into(), entry })
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
