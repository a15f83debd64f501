//! Sections of modules and components: identifiers and ranges.

use std::ops::Range;

use wasm_encoder::{ComponentSectionId, SectionId};

use crate::state::StateError;

pub use tenon_compose::section::Section;

/// Magic number and version, before the first section.
pub const PREAMBLE: usize = 8;

/// Sections of a core module (Core 5.5).
pub const CUSTOM: u8 = SectionId::Custom as u8;
/// Types.
pub const TYPE: u8 = SectionId::Type as u8;
/// Imports.
pub const IMPORT: u8 = SectionId::Import as u8;
/// Types of functions.
pub const FUNCTION: u8 = SectionId::Function as u8;
/// Tables.
pub const TABLE: u8 = SectionId::Table as u8;
/// Memories.
pub const MEMORY: u8 = SectionId::Memory as u8;
/// Tags of exceptions.
pub const TAG: u8 = SectionId::Tag as u8;
/// Globals.
pub const GLOBAL: u8 = SectionId::Global as u8;
/// Exports.
pub const EXPORT: u8 = SectionId::Export as u8;
/// Elements of tables.
pub const ELEMENT: u8 = SectionId::Element as u8;
/// The start function.
pub const START: u8 = SectionId::Start as u8;
/// Bodies of functions.
pub const CODE: u8 = SectionId::Code as u8;
/// Data.
pub const DATA: u8 = SectionId::Data as u8;
/// Number of data segments.
pub const DATA_COUNT: u8 = SectionId::DataCount as u8;

/// Sections of a component (Component Model, Binary).
pub const CORE_MODULE: u8 = ComponentSectionId::CoreModule as u8;
/// Instances of core modules.
pub const CORE_INSTANCE: u8 = ComponentSectionId::CoreInstance as u8;
/// A nested component.
pub const COMPONENT: u8 = ComponentSectionId::Component as u8;

/// Exports of a component.
pub const COMPONENT_EXPORT: u8 = ComponentSectionId::Export as u8;

/// Lists the sections in `range` of a module or a component.
///
/// # Errors
///
/// When one is malformed or reaches beyond the range.
pub fn sections(bytes: &[u8], range: Range<usize>) -> Result<Vec<Section>, StateError> {
    let content = bytes.get(range.clone()).ok_or(StateError::Foreign("a section is cut short"))?;
    Ok(tenon_compose::section::sections(content, range.start)?)
}
