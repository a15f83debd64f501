//! Components of Tenon's own engine: an engine in a wrapper (`crates/engine/wrappers.mjs`).
//!
//! ```text
//!   bare       sdk:core/calls, sdk:core/log, WASI ──► engine ──► sdk:core/handler
//!   handler    WASI ──► the adapter in the engine, engine ──► sdk:core/handler
//!   composed   the same, and ──► the bridge in the engine ──► wasi:http/incoming-handler
//! ```
//!
//! The engine is the same in all of them, so a component of one kind becomes one of another when its engine, and what was linked
//! to it, is put into the other wrapper.

use std::ops::Range;

use wasmparser::{BinaryReader, ComponentExternalKind, ComponentInstantiationArg};

use crate::outline::{CORE_MODULE, CUSTOM, Instance, Outline, sections};
use crate::{HANDLER, Part, attach};

/// The interfaces of a component of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It imports `sdk:core/calls` and `sdk:core/log`, which Tenon's runtime implements.
    Bare,
    /// It imports only WASI.
    Handler,
    /// It imports only WASI, and exports `wasi:http/incoming-handler` besides.
    Composed,
}

/// Name of the custom section at the end of a wrapper. Its content is the kind and the version of the engine's places.
const MARKER: &str = "tenon-wrapper";

impl Kind {
    fn wrapper(self) -> &'static [u8] {
        match self {
            Self::Bare => include_bytes!("../../engine/wrappers/bare.wasm"),
            Self::Handler => include_bytes!("../../engine/wrappers/handler.wasm"),
            Self::Composed => include_bytes!("../../engine/wrappers/composed.wasm"),
        }
    }
}

/// The engine in a component, and the end of the wrapper.
struct Wrapped {
    section: usize,
    engine: Range<usize>,
    end: usize,
}

impl Wrapped {
    /// Finds them. None for any other component, and for one whose engine has other places.
    fn of(component: &[u8]) -> Option<Self> {
        let sections = sections(component).ok()?;
        let engine = sections.iter().find(|section| section.id == CORE_MODULE)?;
        let marker = sections.iter().find(|section| {
            let content = &component[section.content.clone()];
            section.id == CUSTOM && KINDS.iter().any(|kind| kind.wrapper().ends_with(content) && is_marker(content))
        })?;
        (engine.start < marker.start).then(|| Self {
            section: engine.start,
            engine: engine.content.clone(),
            end: marker.content.end,
        })
    }

    /// Puts the engine into another wrapper.
    fn within(&self, component: &[u8], kind: Kind) -> Vec<u8> {
        put(&component[self.engine.clone()], kind, &component[self.end..])
    }
}

const KINDS: [Kind; 3] = [Kind::Bare, Kind::Handler, Kind::Composed];

fn is_marker(content: &[u8]) -> bool {
    BinaryReader::new(content, 0).read_string().is_ok_and(|name| name == MARKER)
}

/// Makes a component of an engine, a core module of `crates/engine`.
#[must_use]
pub fn wrap(engine: &[u8], kind: Kind) -> Vec<u8> {
    put(engine, kind, &[])
}

fn put(engine: &[u8], kind: Kind, rest: &[u8]) -> Vec<u8> {
    let wrapper = kind.wrapper();
    let Some(wrapped) = Wrapped::of(wrapper) else { return Vec::new() };
    let mut made = wrapper[..wrapped.section].to_vec();
    made.reserve(wrapper.len() + engine.len() + rest.len());
    made.push(CORE_MODULE);
    let mut length = engine.len();
    while length >= 0x80 {
        made.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    made.push(length as u8);
    made.extend_from_slice(engine);
    made.extend_from_slice(&wrapper[wrapped.engine.end..]);
    made.extend_from_slice(rest);
    made
}

/// Makes a component of another kind from one of the engine, which may have components attached ([`attach`]). None for
/// any other component.
#[must_use]
pub fn rewrap(component: &[u8], kind: Kind) -> Option<Vec<u8>> {
    if let Some(wrapped) = Wrapped::of(component) {
        return Some(wrapped.within(component, kind));
    }
    let (inner, parts) = attached(component)?;
    let inner = &component[inner];
    attach(&Wrapped::of(inner)?.within(inner, kind), &parts).ok()
}

/// Finds the handler to which components are attached, and these.
fn attached(component: &[u8]) -> Option<(Range<usize>, Vec<Part<'_>>)> {
    let outline = Outline::of(component).ok()?;
    let (_, index) = outline.exports.iter().find(|(name, _)| name.starts_with(HANDLER))?;
    let Instance::Part { of, .. } = outline.instance(*index)? else { return None };
    let Instance::Made { component: handler, arguments } = outline.instance(*of)? else { return None };
    let mut parts: Vec<(u32, Part<'_>)> = Vec::new();
    for argument in arguments {
        if is_passed_on(&outline, argument) {
            continue;
        }
        let (instance, export) = outline.part(argument)?;
        let Instance::Made { component: part, arguments } = outline.instance(instance)? else { return None };
        if !arguments.iter().all(|argument| is_passed_on(&outline, argument)) {
            return None;
        }
        let names = (export.to_owned(), argument.name.to_owned());
        match parts.iter_mut().find(|(known, _)| *known == instance) {
            Some((_, part)) => part.exports.push(names),
            None => parts.push((instance, Part { bytes: &component[outline.range(*part)?], exports: vec![names] })),
        }
    }
    if parts.is_empty() {
        return None;
    }
    // In the order in which they were attached.
    parts.sort_by_key(|(instance, _)| *instance);
    Some((outline.range(*handler)?, parts.into_iter().map(|(_, part)| part).collect()))
}

/// Returns whether an argument is an import under its own name, in any version.
fn is_passed_on(outline: &Outline<'_>, argument: &ComponentInstantiationArg<'_>) -> bool {
    let interface = |name: &str| name.split('@').next().map(str::to_owned);
    argument.kind == ComponentExternalKind::Instance
        && matches!(outline.instance(argument.index), Some(Instance::Imported(name)) if interface(name) == interface(argument.name))
}

#[cfg(test)]
mod tests {
    use wasmparser::{Parser, Payload, Validator};

    use super::*;
    use crate::{BRIDGE, compose, interfaces};

    const ENGINE: &[u8] = include_bytes!("../../engine/engine.wasm");

    /// Counts the items of a component, while it is validated.
    fn counts(component: &[u8]) -> [u32; 8] {
        let mut validator = Validator::new();
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(component) {
            let payload = payload.unwrap();
            match &payload {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) if depth > 0 => depth -= 1,
                Payload::End(_) => {
                    let types = validator.types(0).unwrap();
                    return [
                        types.component_type_count(),
                        types.component_instance_count(),
                        types.component_function_count(),
                        types.component_count(),
                        types.function_count(),
                        types.memory_count(),
                        types.module_count(),
                        types.core_instance_count(),
                    ];
                }
                _ => {}
            }
            validator.payload(&payload).unwrap();
        }
        panic!("it is cut short");
    }

    #[test]
    fn an_engine_fits_into_all_wrappers() {
        for kind in KINDS {
            let component = wrap(ENGINE, kind);
            Validator::new().validate_all(&component).unwrap();
            let found = interfaces(&component).unwrap();
            let imports_only_wasi = found.imports.iter().all(|name| name.starts_with("wasi:"));
            assert_eq!(imports_only_wasi, kind != Kind::Bare, "{:?}", found.imports);
            assert!(found.exports.iter().any(|name| name.starts_with(HANDLER)));
            let is_composed = found.exports.iter().any(|name| name.starts_with("wasi:http/incoming-handler@"));
            assert_eq!(is_composed, kind == Kind::Composed);
        }
    }

    /// Otherwise what follows one cannot follow another.
    #[test]
    fn all_wrappers_have_the_same_number_of_items() {
        let [bare, handler, composed] = KINDS.map(|kind| counts(kind.wrapper()));
        assert_eq!(bare, handler);
        assert_eq!(bare, composed);
    }

    #[test]
    fn a_component_of_one_kind_becomes_one_of_another() {
        // Sections that tools append stay.
        let appended = [0, 5, 4, b'n', b'a', b'm', b'e'];
        for (from, to) in KINDS.into_iter().flat_map(|from| KINDS.map(|to| (from, to))) {
            let [before, after] = [from, to].map(|kind| [&wrap(ENGINE, kind)[..], &appended].concat());
            assert!(rewrap(&before, to).unwrap() == after, "{from:?} {to:?}");
        }
        assert!(compose(&wrap(ENGINE, Kind::Handler), BRIDGE).unwrap() == wrap(ENGINE, Kind::Composed));
        assert_eq!(compose(&wrap(ENGINE, Kind::Composed), BRIDGE).unwrap_err().code(), "ALREADY_COMPOSED");
    }

    #[test]
    fn a_component_of_the_engine_is_composed_with_a_bridge_of_another() {
        let handler = wrap(ENGINE, Kind::Handler);
        let bridge = [BRIDGE, &[0, 5, 4, b'n', b'a', b'm', b'e']].concat();
        let composed = compose(&handler, &bridge).unwrap();
        Validator::new().validate_all(&composed).unwrap();
        assert!(composed.len() > handler.len() + BRIDGE.len());
        // It is the engine's component that is within (`tenon_rewrite::inner_handler`).
        assert!(rewrap(&composed, Kind::Bare).is_none());
    }

    #[test]
    fn other_components_stay_as_they_are() {
        let echo = tenon_fixtures::echo(200);
        let mut other = wrap(ENGINE, Kind::Handler);
        // Another version of the places.
        *other.last_mut().unwrap() += 1;
        for component in [&echo[..], &other, BRIDGE, b"", b"no component", &echo[..echo.len() / 2]] {
            assert!(rewrap(component, Kind::Bare).is_none());
        }
    }
}
