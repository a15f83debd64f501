//! Sections: their identifiers, and what they hold.

use tenon_code::Section;
use wasm_encoder::{ComponentSectionId, SectionId};
use wasmparser::BinaryReader;

/// Magic number and version, before the first section.
pub(crate) const PREAMBLE: usize = 8;

/// Sections of a core module (Core 5.5).
pub(crate) const CUSTOM: u8 = SectionId::Custom as u8;
pub(crate) const TYPE: u8 = SectionId::Type as u8;
pub(crate) const IMPORT: u8 = SectionId::Import as u8;
pub(crate) const FUNCTION: u8 = SectionId::Function as u8;
pub(crate) const MEMORY: u8 = SectionId::Memory as u8;
pub(crate) const GLOBAL: u8 = SectionId::Global as u8;
pub(crate) const EXPORT: u8 = SectionId::Export as u8;
pub(crate) const START: u8 = SectionId::Start as u8;
pub(crate) const CODE: u8 = SectionId::Code as u8;
pub(crate) const DATA: u8 = SectionId::Data as u8;
pub(crate) const DATA_COUNT: u8 = SectionId::DataCount as u8;

/// Sections of a component (Component Model, Binary).
pub(crate) const CORE_MODULE: u8 = ComponentSectionId::CoreModule as u8;
pub(crate) const COMPONENT: u8 = ComponentSectionId::Component as u8;

/// Reads a section of a module.
pub(crate) fn reader<'a>(bytes: &'a [u8], section: &Section) -> BinaryReader<'a> {
    BinaryReader::new(&bytes[section.content.clone()], section.content.start)
}
