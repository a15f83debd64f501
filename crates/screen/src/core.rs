//! Sections of core modules.

use wasmparser::{
    BinaryReader, CodeSectionReader, MemorySectionReader, SectionLimited, TableSectionReader, TypeSectionReader,
};

use crate::Refused;
use crate::bounds;
use crate::census::Census;

/// Section identifiers (Core 5.5).
const CUSTOM: u8 = 0;
const TYPE: u8 = 1;
const IMPORT: u8 = 2;
const FUNCTION: u8 = 3;
const TABLE: u8 = 4;
const MEMORY: u8 = 5;
const GLOBAL: u8 = 6;
const EXPORT: u8 = 7;
const START: u8 = 8;
const ELEMENT: u8 = 9;
const CODE: u8 = 10;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;
const TAG: u8 = 13;

/// Counts the definitions of a section. A section that is not listed is refused, because nothing here counts it.
pub(crate) fn count(id: u8, mut reader: BinaryReader<'_>, census: &mut Census) -> Result<(), Refused> {
    match id {
        TYPE => {
            for group in TypeSectionReader::new(reader)? {
                census.core_types += group?.types().len() as u64;
                bounds::CORE_TYPES.check(census.core_types)?;
            }
        }
        IMPORT | EXPORT => census.core_names += entries(&mut reader)?,
        FUNCTION => census.functions += entries(&mut reader)?,
        TABLE => {
            let tables: TableSectionReader<'_> = SectionLimited::new(reader)?;
            for table in tables {
                census.tables += 1;
                census.elements = census.elements.saturating_add(table?.ty.initial);
                bounds::TABLES.check(census.tables)?;
            }
        }
        MEMORY => census.tables += u64::from(MemorySectionReader::new(reader)?.count()),
        GLOBAL => census.globals += entries(&mut reader)?,
        ELEMENT | DATA => census.segments += entries(&mut reader)?,
        CODE => bodies(reader, census)?,
        TAG => census.tags += entries(&mut reader)?,
        // One number, or nothing that a validator reads.
        START | DATA_COUNT | CUSTOM => {}
        id => return Err(Refused::Section { id, whose: "a core module", at: reader.original_position() }),
    }
    Ok(())
}

/// Reads the announced number of entries of a section. The validator reads the entries one by one, and so refuses a
/// section with fewer.
fn entries(reader: &mut BinaryReader<'_>) -> Result<u64, Refused> {
    Ok(u64::from(reader.read_var_u32()?))
}

fn bodies(reader: BinaryReader<'_>, census: &mut Census) -> Result<(), Refused> {
    for body in CodeSectionReader::new(reader)? {
        let body = body?;
        census.largest_body = census.largest_body.max(body.range().len() as u64);
        bounds::BODY.check(census.largest_body)?;
        let mut locals = 0_u64;
        for group in body.get_locals_reader()? {
            locals += u64::from(group?.0);
            bounds::LOCALS.check(locals)?;
        }
        census.most_locals = census.most_locals.max(locals);
    }
    Ok(())
}
