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

use wasmparser::BinaryReader;

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
    let Some(place) = Wrapped::of(wrapper) else { return Vec::new() };
    let mut made = wrapper[..place.section].to_vec();
    made.reserve(wrapper.len() + engine.len() + rest.len());
    made.push(CORE_MODULE);
    let mut length = engine.len();
    while length >= 0x80 {
        made.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    made.push(length as u8);
    made.extend_from_slice(engine);
    made.extend_from_slice(&wrapper[place.engine.end..]);
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
        let Some((instance, export)) = outline.part(argument) else {
            // All others are imports under their own names.
            continue;
        };
        let Instance::Made { component: part, .. } = outline.instance(instance)? else { return None };
        let names = (export.to_owned(), argument.name.to_owned());
        match parts.iter_mut().find(|(known, _)| *known == instance) {
            Some((_, part)) => part.exports.push(names),
            None => parts.push((instance, Part { bytes: &component[outline.place(*part)?], exports: vec![names] })),
        }
    }
    Some((outline.place(*handler)?, parts.into_iter().map(|(_, part)| part).collect()))
}
