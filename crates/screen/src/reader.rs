//! The walk over all sections of a file.

use std::ops::Range;

use wasmparser::{
    BinaryReader, ComponentAlias, ComponentAliasSectionReader, ComponentCanonicalSectionReader,
    ComponentExportSectionReader, ComponentExternalKind, ComponentImportSectionReader, ComponentInstance,
    ComponentInstanceSectionReader, ComponentOuterAliasKind, CoreTypeSectionReader, Instance, InstanceSectionReader,
};

use crate::Refused;
use crate::bounds;
use crate::census::Census;
use crate::core;
use crate::expansion::Scope;
use crate::types;

/// Magic number and version of a module, and of a component (Component Model, Binary Format: preamble).
const MODULE: [u8; 8] = *b"\0asm\x01\0\0\0";
const COMPONENT: [u8; 8] = *b"\0asm\x0d\0\x01\0";

/// Section identifiers of a component.
mod section {
    pub(super) const CUSTOM: u8 = 0;
    pub(super) const CORE_MODULE: u8 = 1;
    pub(super) const CORE_INSTANCE: u8 = 2;
    pub(super) const CORE_TYPE: u8 = 3;
    pub(super) const COMPONENT: u8 = 4;
    pub(super) const INSTANCE: u8 = 5;
    pub(super) const ALIAS: u8 = 6;
    pub(super) const TYPE: u8 = 7;
    pub(super) const CANONICAL: u8 = 8;
    pub(super) const IMPORT: u8 = 10;
    pub(super) const EXPORT: u8 = 11;
}

/// A component or module that is being read.
struct Level {
    end: usize,
    /// None for a core module.
    scope: Option<Scope>,
}

/// Reads a component or a core module, and refuses one beyond [`crate::BOUNDS`].
///
/// # Errors
///
/// The exceeded bound, or the position where it is malformed.
pub fn screen(bytes: &[u8]) -> Result<Census, Refused> {
    let mut census = Census { bytes: bytes.len() as u64, ..Census::default() };
    census.check()?;
    let mut levels = Vec::new();
    let mut at = enter(bytes, 0..bytes.len(), None, &mut levels, &mut census)?;
    while let Some((end, is_component)) = levels.last().map(|level: &Level| (level.end, level.scope.is_some())) {
        if at == end {
            leave(&mut levels, &mut census);
            census.check()?;
            continue;
        }
        let mut reader = BinaryReader::new(&bytes[at..end], at);
        let id = reader.read_u8()?;
        let length = reader.read_var_u32()? as usize;
        let start = reader.original_position();
        let content = reader.read_bytes(length)?;
        census.sections += 1;
        let range = start..start + length;
        at = range.end;
        match id {
            section::CORE_MODULE if is_component => at = enter(bytes, range, Some(MODULE), &mut levels, &mut census)?,
            section::COMPONENT if is_component => at = enter(bytes, range, Some(COMPONENT), &mut levels, &mut census)?,
            _ if is_component => definitions(id, BinaryReader::new(content, start), &mut levels, &mut census)?,
            _ => core::count(id, BinaryReader::new(content, start), &mut census)?,
        }
        census.check()?;
    }
    Ok(census)
}

/// Opens a component or module, and returns the offset of its first section.
fn enter(
    bytes: &[u8],
    range: Range<usize>,
    expected: Option<[u8; 8]>,
    levels: &mut Vec<Level>,
    census: &mut Census,
) -> Result<usize, Refused> {
    let mut reader = BinaryReader::new(&bytes[range.clone()], range.start);
    let preamble = reader.read_bytes(COMPONENT.len())?;
    let is_component = preamble == COMPONENT;
    if preamble != expected.unwrap_or(if is_component { COMPONENT } else { MODULE }) {
        return Err(Refused::Preamble(range.start));
    }
    if is_component {
        census.components += 1;
    } else {
        census.modules += 1;
    }
    levels.push(Level { end: range.end, scope: is_component.then(Scope::default) });
    census.depth = census.depth.max(levels.len() as u64);
    bounds::DEPTH.check(census.depth)?;
    Ok(range.start + COMPONENT.len())
}

/// Closes the innermost level. The outer level can then instantiate a closed component.
fn leave(levels: &mut Vec<Level>, census: &mut Census) {
    let Some(Level { scope: Some(scope), .. }) = levels.pop() else { return };
    match levels.last_mut().and_then(|around| around.scope.as_mut()) {
        Some(around) => around.add(Some(scope.weight())),
        None => census.expanded = scope.weight(),
    }
}

/// Counts the definitions of a component's section, and follows references to components.
fn definitions(id: u8, reader: BinaryReader<'_>, levels: &mut [Level], census: &mut Census) -> Result<(), Refused> {
    let depth = levels.len();
    let (around, own) = levels.split_at_mut(depth.saturating_sub(1));
    let Some(scope) = own.first_mut().and_then(|level| level.scope.as_mut()) else { return Ok(()) };
    let mut define = |scope: &mut Scope, count: usize| {
        census.items += count as u64;
        scope.define(count as u64);
        bounds::ITEMS.check(census.items)?;
        bounds::EXPANDED.check(scope.weight())
    };
    match id {
        section::CORE_INSTANCE => {
            for instance in InstanceSectionReader::new(reader)? {
                let arguments = match instance? {
                    Instance::Instantiate { args, .. } => args.len(),
                    Instance::FromExports(exports) => exports.len(),
                };
                define(scope, 1 + arguments)?;
            }
        }
        section::INSTANCE => {
            for instance in ComponentInstanceSectionReader::new(reader)? {
                match instance? {
                    ComponentInstance::Instantiate { component_index, args } => {
                        define(scope, 1 + args.len())?;
                        scope.instantiate(component_index)?;
                        bounds::EXPANDED.check(scope.weight())?;
                    }
                    ComponentInstance::FromExports(exports) => define(scope, 1 + exports.len())?,
                }
            }
        }
        section::ALIAS => {
            for alias in ComponentAliasSectionReader::new(reader)? {
                define(scope, 1)?;
                match alias? {
                    ComponentAlias::InstanceExport { kind, .. } => add_foreign(scope, kind),
                    ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                        let weight = match count {
                            0 => scope.component(index),
                            count => outer(around, count).and_then(|scope| scope.component(index)),
                        };
                        scope.add(weight);
                    }
                    ComponentAlias::CoreInstanceExport { .. }
                    | ComponentAlias::Outer {
                        kind:
                            ComponentOuterAliasKind::CoreModule
                            | ComponentOuterAliasKind::CoreType
                            | ComponentOuterAliasKind::Type,
                        ..
                    } => {}
                }
            }
        }
        section::CORE_TYPE => {
            for ty in CoreTypeSectionReader::new(reader)? {
                ty?;
                census.types += 1;
                bounds::TYPES.check(census.types)?;
            }
        }
        section::TYPE => types::count(reader, census)?,
        section::CANONICAL => {
            for function in ComponentCanonicalSectionReader::new(reader)? {
                function?;
                define(scope, 1)?;
            }
        }
        section::IMPORT => {
            for import in ComponentImportSectionReader::new(reader)? {
                define(scope, 1)?;
                add_foreign(scope, import?.ty.kind());
            }
        }
        section::EXPORT => {
            for export in ComponentExportSectionReader::new(reader)? {
                let export = export?;
                define(scope, 1)?;
                if export.kind == ComponentExternalKind::Component {
                    // An exported component gets a second index.
                    scope.add(scope.component(export.index));
                }
            }
        }
        section::CUSTOM => {}
        // Among them the start section, which no engine implements.
        id => return Err(Refused::Section { id, whose: "a component", at: reader.original_position() }),
    }
    Ok(())
}

/// Adds an item from elsewhere. Only components have weights.
fn add_foreign(scope: &mut Scope, kind: ComponentExternalKind) {
    match kind {
        ComponentExternalKind::Component => scope.add(None),
        ComponentExternalKind::Module
        | ComponentExternalKind::Func
        | ComponentExternalKind::Value
        | ComponentExternalKind::Type
        | ComponentExternalKind::Instance => {}
    }
}

/// Returns the component `count` levels outside of the innermost one.
fn outer(around: &[Level], count: u32) -> Option<&Scope> {
    let index = around.len().checked_sub(count as usize)?;
    around.get(index)?.scope.as_ref()
}
