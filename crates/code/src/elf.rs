//! The file format of compiled code: ELF of 64 bits, little-endian, with sections only.

use std::ops::Range;

/// Offsets of the header's fields for the section headers, and the length of one section header.
const SECTION_HEADERS: usize = 0x28;
const HEADER_LENGTH: usize = 0x3a;
const HEADER_COUNT: usize = 0x3c;
const NAMES_INDEX: usize = 0x3e;

/// Length of the file's header.
const FILE_HEADER: usize = 64;

/// Fields of a section header.
const NAME: usize = 0;
const TYPE: usize = 4;
const OFFSET: usize = 24;
const SIZE: usize = 32;
const LINK: usize = 40;
const ALIGNMENT: usize = 48;

/// Types of sections: an unused header, and a table of symbols, which links to the section with their names.
const NO_SECTION: usize = 0;
const SYMBOLS: usize = 2;

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

/// Writes the file anew, with other content in some sections and without symbols, which nobody reads. The sections are
/// packed as the compiler packs them. None when that would move `.eh_frame` away from `.text`, because they refer to each
/// other by distance.
pub(crate) fn with_contents(file: &[u8], contents: &[(&Section, &[u8])]) -> Option<Vec<u8>> {
    let (start, length) = (number(file, SECTION_HEADERS, 8)?, number(file, HEADER_LENGTH, 2)?);
    let count = number(file, HEADER_COUNT, 2)?;
    let mut headers = file.get(start..start.checked_add(length.checked_mul(count)?)?)?.to_vec();
    let header = |index: usize| headers.get(index * length..(index + 1) * length);
    let symbols = (0..count).find(|index| header(*index).and_then(kind) == Some(SYMBOLS));
    let names = symbols.and_then(|index| number(header(index)?, LINK, 4));
    let mut order: Vec<(usize, Range<usize>)> = (0..count)
        .filter(|index| header(*index).and_then(kind) != Some(NO_SECTION))
        .map(|index| Some((index, content(file, start + index * length)?)))
        .collect::<Option<_>>()?;
    order.sort_by_key(|(_, content)| content.start);
    let mut made = file.get(..FILE_HEADER)?.to_vec();
    made.reserve(file.len());
    for (index, range) in order {
        let header = headers.get_mut(index * length..(index + 1) * length)?;
        if Some(index) == symbols || Some(index) == names {
            header.fill(0);
            continue;
        }
        let replaced = contents.iter().find(|(section, _)| section.header == start + index * length);
        let content = replaced.map_or_else(|| file.get(range), |(_, content)| Some(*content))?;
        let alignment = number(header, ALIGNMENT, 8)?.max(1);
        made.resize(made.len().checked_next_multiple_of(alignment)?, 0);
        write(header, OFFSET, made.len())?;
        write(header, SIZE, content.len())?;
        made.extend_from_slice(content);
    }
    made.resize(made.len().next_multiple_of(8), 0);
    let start = made.len();
    write(&mut made, SECTION_HEADERS, start)?;
    made.extend_from_slice(&headers);
    let distance = |file: &[u8]| {
        let (text, unwinding) = (section(file, ".text")?, section(file, ".eh_frame")?);
        Some(unwinding.content.start.wrapping_sub(text.content.start))
    };
    (distance(&made) == distance(file)).then_some(made)
}

/// Returns the type of a section from its header.
fn kind(header: &[u8]) -> Option<usize> {
    number(header, TYPE, 4)
}

fn write(bytes: &mut [u8], at: usize, value: usize) -> Option<()> {
    bytes.get_mut(at..at.checked_add(8)?)?.copy_from_slice(&(value as u64).to_le_bytes());
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

#[cfg(test)]
mod tests {
    use wasmtime::Engine;

    use super::*;

    const INFO: &str = ".wasmtime.info";

    fn compiled() -> Vec<u8> {
        Engine::default().precompile_component(&tenon_fixtures::echo(200)).unwrap()
    }

    #[test]
    fn other_content_moves_neither_the_code_nor_its_tables_and_leaves_no_gap() {
        let code = compiled();
        let info = section(&code, INFO).unwrap();
        let longer = [&code[info.content.clone()], &[7; 9000]].concat();
        let made = with_contents(&code, &[(&info, &longer)]).unwrap();
        assert_eq!(content_of(&made, INFO), Some(&longer[..]));
        for name in [".text", ".eh_frame", ".wasmtime.traps"] {
            assert_eq!(section(&made, name).unwrap().content, section(&code, name).unwrap().content, "{name}");
            assert_eq!(content_of(&made, name), content_of(&code, name), "{name}");
        }
        assert!(section(&code, ".symtab").is_some() && section(&made, ".symtab").is_none());
        let symbols: usize = [".symtab", ".strtab"].iter().map(|name| content_of(&code, name).unwrap().len()).sum();
        assert!(made.len() < code.len() + 9000 - symbols + 64, "{} of {}", made.len(), code.len());
    }

    #[test]
    fn a_file_whose_tables_would_move_is_refused() {
        let code = compiled();
        let text = section(&code, ".text").unwrap();
        let longer = [&code[text.content.clone()], &[0; 9000]].concat();
        assert!(with_contents(&code, &[(&text, &longer)]).is_none());
        for end in [3, 63, 100, code.len() - 1] {
            assert!(with_contents(&code[..end], &[]).is_none(), "{end}");
        }
    }
}
