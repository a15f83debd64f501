//! The line before each chunk: its size and extensions (RFC 9112, section 7.1).

use super::Violation;
use super::field::is_token;

/// Maximum number of digits of a size.
const MOST_DIGITS: u8 = 15;

/// A chunk line that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkLine {
    pub(super) size: u64,
    digits: u8,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Size,
    /// Whitespace that must be followed by `;`.
    BeforeExtension,
    BeforeName,
    Name,
    /// Whitespace that must be followed by `=` or `;`.
    AfterName,
    BeforeValue,
    Token,
    Quoted,
    /// After a backslash in a quoted string.
    Escaped,
    /// After a quoted string.
    AfterQuoted,
    /// After the CR.
    Cr,
}

impl ChunkLine {
    pub(super) fn new() -> Self {
        Self { size: 0, digits: 0, part: Part::Size }
    }

    /// Takes the next byte, and returns true for the last byte of the line.
    pub(super) fn push(&mut self, byte: u8) -> Result<bool, Violation> {
        self.part = match (self.part, byte) {
            (Part::Cr, b'\n') => return Ok(true),
            (Part::Cr, _) => return Err(Violation::BareCr),
            (_, b'\n') => return Err(Violation::BareLf),
            (Part::Size, byte) => self.size(byte)?,
            (Part::BeforeExtension, b';') | (Part::Name | Part::AfterName | Part::Token | Part::AfterQuoted, b';') => {
                Part::BeforeName
            }
            (Part::BeforeExtension, b' ' | b'\t') => Part::BeforeExtension,
            (Part::BeforeName, b' ' | b'\t') => Part::BeforeName,
            (Part::BeforeName | Part::Name, byte) if is_token(byte) => Part::Name,
            (Part::Name | Part::AfterName, b'=') => Part::BeforeValue,
            (Part::Name | Part::AfterName, b' ' | b'\t') => Part::AfterName,
            (Part::Name | Part::Token | Part::AfterQuoted, b'\r') => Part::Cr,
            (Part::BeforeValue, b' ' | b'\t') => Part::BeforeValue,
            (Part::BeforeValue, b'"') => Part::Quoted,
            (Part::BeforeValue | Part::Token, byte) if is_token(byte) => Part::Token,
            (Part::Token | Part::AfterQuoted, b' ' | b'\t') => Part::BeforeExtension,
            (Part::Quoted, b'"') => Part::AfterQuoted,
            (Part::Quoted, b'\\') => Part::Escaped,
            (Part::Quoted | Part::Escaped, b'\t' | b' '..=b'~' | 0x80..) => Part::Quoted,
            _ => return Err(Violation::ChunkExtension),
        };
        Ok(false)
    }

    fn size(&mut self, byte: u8) -> Result<Part, Violation> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\r' if self.digits > 0 => return Ok(Part::Cr),
            b';' if self.digits > 0 => return Ok(Part::BeforeName),
            b' ' | b'\t' if self.digits > 0 => return Ok(Part::BeforeExtension),
            _ => return Err(Violation::ChunkSize),
        };
        if self.digits == MOST_DIGITS {
            return Err(Violation::ChunkSize);
        }
        self.digits += 1;
        self.size = self.size * 16 + u64::from(digit);
        Ok(Part::Size)
    }
}
