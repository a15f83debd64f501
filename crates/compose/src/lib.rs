//! Composes a handler component with the bridge into one component that every `wasi:http` server can run.
//!
//! ```text
//!   server ── wasi:http/incoming-handler ──► bridge ── sdk:core/handler, sdk:core/streams ──► handler
//!      └──── both, for a server that knows them ──────────────────────────────────┘
//! ```
//!
//! A handler that Tenon builds has the bridge in its engine already ([`wrap`]), so such a component is made without another.
//!
//! This crate owns the wiring and its errors, and the kinds of components of the engine. `crates/bridge` owns the bridge, whose
//! built artifact is part of this crate ([`BRIDGE`]).
//!
//! The wiring is explicit. `wac plug` skips an export that does not match, and its component fails when it is served.
//! [`compose`] names the interface that is missing or differs.

mod error;
mod outline;
pub mod section;
mod wrapped;

pub use error::ComposeError;
pub use outline::{Instance, Outline};
pub use wrapped::{Kind, rewrap, wrap};

use wac_graph::types::{Package, SubtypeChecker, are_semver_compatible};
use wac_graph::{CompositionGraph, EncodeOptions, PackageId};

/// The bridge that Tenon ships: `crates/bridge`, built by its `build.sh`.
pub const BRIDGE: &[u8] = include_bytes!("../../bridge/bridge.wasm");

/// `sdk:core/streams` for handlers that do not export it, built by the same script.
const NO_STREAMS: &[u8] = include_bytes!("../../bridge/no-streams.wasm");

/// Export of a handler component, without its version.
pub const HANDLER: &str = "sdk:core/handler@";

/// Export of a handler component that streams, without its version.
const STREAMS: &str = "sdk:core/streams@";

/// Export of a composed component, without its version.
const INCOMING_HANDLER: &str = "wasi:http/incoming-handler@";

/// Composes `handler` with `bridge` (usually [`BRIDGE`]). Both are binary components.
///
/// The result exports the bridge's exports and those of the handler that the bridge imports, which Tenon's own runtime calls
/// without the bridge. It imports everything that the two import, except these interfaces between them. Imports of one
/// interface in two compatible versions become one. A bridge may import `sdk:core/streams`, whether or not the handler exports it.
///
/// # Errors
///
/// - [`ComposeError::NotAComponent`] when either is text, a core module, or damaged.
/// - [`ComposeError::AlreadyComposed`] when the handler exports `wasi:http` already.
/// - [`ComposeError::MissingInterface`] and [`ComposeError::DifferentInterface`] when the two do not fit.
pub fn compose(handler: &[u8], bridge: &[u8]) -> Result<Vec<u8>, ComposeError> {
    let exports_it = |found: &Interfaces| found.exports.iter().any(|name| name.starts_with(INCOMING_HANDLER));
    if bridge == BRIDGE
        && !exports_it(&interfaces_as("handler", handler)?)
        && let Some(composed) = rewrap(handler, Kind::Composed)
    {
        return Ok(composed);
    }
    let mut graph = CompositionGraph::new();
    let handler = register(&mut graph, "handler", handler)?;
    let bridge = register(&mut graph, "bridge", bridge)?;

    let import = bridge_import(&graph, bridge, HANDLER).ok_or_else(|| ComposeError::NotABridge {
        imports: graph.types()[graph[bridge].ty()].imports.keys().cloned().collect(),
    })?;
    let mut plugs = vec![(handler_export(&graph, handler, bridge, &import)?, import)];
    let mut no_streams = None;
    if let Some(import) = bridge_import(&graph, bridge, STREAMS) {
        match handler_export(&graph, handler, bridge, &import) {
            Ok(export) => plugs.push((export, import)),
            Err(ComposeError::MissingInterface { .. }) => {
                no_streams = Some((register(&mut graph, "streams", NO_STREAMS)?, import));
            }
            Err(error) => return Err(error),
        }
    }

    let handler = graph.instantiate(handler);
    let exports: Vec<String> = graph.types()[graph[bridge].ty()].exports.keys().cloned().collect();
    let bridge = graph.instantiate(bridge);
    if let Some((package, import)) = no_streams {
        let instance = graph.instantiate(package);
        let plug = graph.alias_instance_export(instance, &import).map_err(ComposeError::wiring)?;
        graph.set_instantiation_argument(bridge, &import, plug).map_err(ComposeError::wiring)?;
    }
    for name in exports {
        let alias = graph.alias_instance_export(bridge, &name).map_err(ComposeError::wiring)?;
        graph.export(alias, &name).map_err(ComposeError::wiring)?;
    }
    for (export, import) in plugs {
        let plug = graph.alias_instance_export(handler, &export).map_err(ComposeError::wiring)?;
        graph.set_instantiation_argument(bridge, &import, plug).map_err(ComposeError::wiring)?;
        graph.export(plug, &export).map_err(ComposeError::wiring)?;
    }
    graph.encode(EncodeOptions::default()).map_err(ComposeError::wiring)
}

/// Names of a component's imports and exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interfaces {
    /// Imports, such as `wasi:clocks/wall-clock@0.2.10`.
    pub imports: Vec<String>,
    /// Exports.
    pub exports: Vec<String>,
}

/// Reads the names of a component's imports and exports.
///
/// # Errors
///
/// [`ComposeError::NotAComponent`].
pub fn interfaces(component: &[u8]) -> Result<Interfaces, ComposeError> {
    interfaces_as("component", component)
}

fn interfaces_as(role: &'static str, component: &[u8]) -> Result<Interfaces, ComposeError> {
    let mut graph = CompositionGraph::new();
    let package = register(&mut graph, role, component)?;
    let world = &graph.types()[graph[package].ty()];
    let names = |items: Vec<&String>| items.into_iter().cloned().collect();
    Ok(Interfaces { imports: names(world.imports.keys().collect()), exports: names(world.exports.keys().collect()) })
}

/// A component whose exports a handler imports.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The component.
    pub bytes: &'a [u8],
    /// Its exports, and the handler's names for them.
    pub exports: Vec<(String, String)>,
}

/// Composes a handler with components that it calls. The result has the handler's exports, and imports everything else that any of
/// them imports.
///
/// # Errors
///
/// - [`ComposeError::NotAComponent`] when one is text, a core module, or damaged.
/// - [`ComposeError::MissingInterface`] when the handler does not export a handler.
/// - [`ComposeError::Wiring`] when an export is not there, or has another type than the handler expects.
pub fn attach(handler: &[u8], parts: &[Part<'_>]) -> Result<Vec<u8>, ComposeError> {
    let mut graph = CompositionGraph::new();
    let inner = register(&mut graph, "handler", handler)?;
    let world = &graph.types()[graph[inner].ty()];
    let exports: Vec<String> = world.exports.keys().cloned().collect();
    if !exports.iter().any(|name| name.starts_with(HANDLER)) {
        return Err(ComposeError::MissingInterface { wanted: HANDLER.trim_end_matches('@').to_string(), exports });
    }
    let mut made = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let package = register_as(&mut graph, "imported component", &format!("part{number}"), part.bytes)?;
        made.push((graph.instantiate(package), part));
    }
    let inner = graph.instantiate(inner);
    for (instance, part) in made {
        for (export, import) in &part.exports {
            let implementation = graph.alias_instance_export(instance, export).map_err(ComposeError::wiring)?;
            graph.set_instantiation_argument(inner, import, implementation).map_err(ComposeError::wiring)?;
        }
    }
    for export in exports {
        let exported = graph.alias_instance_export(inner, &export).map_err(ComposeError::wiring)?;
        graph.export(exported, &export).map_err(ComposeError::wiring)?;
    }
    graph.encode(EncodeOptions::default()).map_err(ComposeError::wiring)
}

fn register(graph: &mut CompositionGraph, role: &'static str, bytes: &[u8]) -> Result<PackageId, ComposeError> {
    register_as(graph, role, role, bytes)
}

fn register_as(
    graph: &mut CompositionGraph,
    role: &'static str,
    name: &str,
    bytes: &[u8],
) -> Result<PackageId, ComposeError> {
    let not_a_component = |reason: String| ComposeError::NotAComponent { role, reason };
    match bytes {
        [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => {}
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => return Err(not_a_component("it is a core module".to_string())),
        _ => return Err(not_a_component("it does not begin like a WebAssembly binary".to_string())),
    }
    // The readers below recurse into nested components.
    tenon_screen::screen(bytes).map_err(|refused| not_a_component(refused.to_string()))?;
    let package = Package::from_bytes(&format!("tenon:{name}"), None, bytes, graph.types_mut())
        .map_err(|error| not_a_component(format!("{error:#}")))?;
    graph.register_package(package).map_err(ComposeError::wiring)
}

/// Returns the full name, with version, of an import of the bridge.
fn bridge_import(graph: &CompositionGraph, bridge: PackageId, interface: &str) -> Option<String> {
    let world = &graph.types()[graph[bridge].ty()];
    world.imports.keys().find(|name| name.starts_with(interface)).cloned()
}

/// Returns the full name of the handler's export for the bridge, after its type is checked.
fn handler_export(
    graph: &CompositionGraph,
    handler: PackageId,
    bridge: PackageId,
    import: &str,
) -> Result<String, ComposeError> {
    let types = graph.types();
    let world = &types[graph[handler].ty()];
    if let Some(export) = world.exports.keys().find(|name| name.starts_with(INCOMING_HANDLER)) {
        return Err(ComposeError::AlreadyComposed { export: export.clone() });
    }
    let Some((name, kind)) = world
        .exports
        .get_key_value(import)
        .or_else(|| world.exports.iter().find(|(name, _)| are_semver_compatible(name, import)))
    else {
        return Err(ComposeError::MissingInterface {
            wanted: import.to_string(),
            exports: world.exports.keys().cloned().collect(),
        });
    };
    let wanted = types[graph[bridge].ty()].imports[import];
    SubtypeChecker::new(&mut Default::default())
        .is_subtype(*kind, types, wanted, types)
        .map_err(|error| ComposeError::DifferentInterface { interface: name.clone(), reason: format!("{error:#}") })?;
    Ok(name.clone())
}

#[cfg(test)]
mod tests;
