//! The file format of compiled code: ELF of 64 bits, little-endian, with sections only.

use std::ops::Range;

/// Offsets of the header's fields for the section headers, and the length of one section header.
const SECTION_HEADERS: usize = 0x28;
const HEADER_LENGTH: usize = 0x3a;
const HEADER_COUNT: usize = 0x3c;
const NAMES_INDEX: usize = 0x3e;

/// Fields of a section header.
const NAME: usize = 0;
const OFFSET: usize = 24;
const SIZE: usize = 32;
const ALIGNMENT: usize = 48;

/// A section of an ELF file.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    header: usize,
    /// Range of its content in the file.
    pub(crate) content: Range<usize>,
    /// Alignment of its offset in the file.
    pub(crate) alignment: u64,
}

/// Finds a section by its name.
pub(crate) fn section(file: &[u8], name: &str) -> Option<Section> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = number(file, SECTION_HEADERS, 8)?;
    let length = number(file, HEADER_LENGTH, 2)?;
    let count = number(file, HEADER_COUNT, 2)?;
    let header = |index: usize| headers.checked_add(index.checked_mul(length)?);
    let names = content(file, header(number(file, NAMES_INDEX, 2)?)?)?;
    (0..count).filter_map(header).find_map(|header| {
        let found = file.get(names.clone())?.get(number(file, header + NAME, 4)?..)?;
        let found = found.split(|byte| *byte == 0).next()?;
        if found != name.as_bytes() {
            return None;
        }
        let alignment = number(file, header + ALIGNMENT, 8)? as u64;
        Some(Section { header, content: content(file, header)?, alignment: alignment.max(1) })
    })
}

/// Returns the content of a section of compiled code.
#[must_use]
pub fn content_of<'a>(code: &'a [u8], name: &str) -> Option<&'a [u8]> {
    code.get(section(code, name)?.content)
}

/// Replaces a section's content; the new content goes to the end of the file. Everything else keeps its offset, because
/// code and its metadata refer to each other by distance.
pub(crate) fn replace(file: &mut Vec<u8>, section: &Section, content: &[u8]) -> Option<()> {
    file.resize(file.len().next_multiple_of(usize::try_from(section.alignment).ok()?), 0);
    let offset = file.len() as u64;
    file.extend_from_slice(content);
    file.get_mut(section.header + OFFSET..)?.get_mut(..8)?.copy_from_slice(&offset.to_le_bytes());
    file.get_mut(section.header + SIZE..)?.get_mut(..8)?.copy_from_slice(&(content.len() as u64).to_le_bytes());
    Some(())
}

fn content(file: &[u8], header: usize) -> Option<Range<usize>> {
    let offset = number(file, header + OFFSET, 8)?;
    let end = offset.checked_add(number(file, header + SIZE, 8)?)?;
    (end <= file.len()).then_some(offset..end)
}

fn number(file: &[u8], at: usize, length: usize) -> Option<usize> {
    let mut bytes = [0; 8];
    bytes[..length].copy_from_slice(file.get(at..at.checked_add(length)?)?);
    usize::try_from(u64::from_le_bytes(bytes)).ok()
}
