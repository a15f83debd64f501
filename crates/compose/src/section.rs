//! Sections of modules and components.

use std::ops::Range;

use wasmparser::{BinaryReader, BinaryReaderError};

/// A section: its identifier, its start and the range of its content.
#[derive(Clone, Debug)]
pub struct Section {
    /// See the specification of the binary format.
    pub id: u8,
    /// Offset of its identifier.
    pub start: usize,
    /// Range of its content.
    pub content: Range<usize>,
}

impl Section {
    /// Returns a reader of the section's content in `bytes`.
    #[must_use]
    pub fn reader<'a>(&self, bytes: &'a [u8]) -> BinaryReader<'a> {
        BinaryReader::new(&bytes[self.content.clone()], self.content.start)
    }
}

/// Lists the sections in `content`, which begins at the offset `start` of a file.
///
/// # Errors
///
/// A section is malformed or reaches beyond the content.
pub fn sections(content: &[u8], start: usize) -> Result<Vec<Section>, BinaryReaderError> {
    let mut reader = BinaryReader::new(content, start);
    let mut found = Vec::new();
    while !reader.eof() {
        let start = reader.original_position();
        let id = reader.read_u8()?;
        let size = reader.read_var_u32()? as usize;
        let content = reader.original_position();
        reader.read_bytes(size)?;
        found.push(Section { id, start, content: content..content + size });
    }
    Ok(found)
}
