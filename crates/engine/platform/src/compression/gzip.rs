//! The header and the trailer of a gzip stream (RFC 1952).
use crc32fast::Hasher;

use super::Corrupt;

/// The header that a compressor writes: deflate, no name, no time, an unknown system.
pub const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

const FLAG_HEADER_CHECKSUM: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// The checksum and the length of the content.
#[derive(Default)]
pub struct Trailer {
    content: Hasher,
    length: u32,
    /// Bytes of the trailer that are written or verified.
    done: usize,
}

impl Trailer {
    pub fn update(&mut self, content: &[u8]) {
        self.content.update(content);
        // The length is kept modulo 2^32.
        self.length = self.length.wrapping_add(content.len() as u32);
    }

    fn bytes(&self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&self.content.clone().finalize().to_le_bytes());
        bytes[4..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    /// Writes as much as fits, and returns the number of bytes.
    pub fn write(&mut self, output: &mut [u8]) -> usize {
        let bytes = self.bytes();
        let part = &bytes[self.done..];
        let written = part.len().min(output.len());
        output[..written].copy_from_slice(&part[..written]);
        self.done += written;
        written
    }

    /// Compares the next bytes, and returns their number and whether the trailer is complete.
    pub fn verify(&mut self, input: &[u8]) -> Result<(usize, bool), Corrupt> {
        let bytes = self.bytes();
        let part = &bytes[self.done..];
        let read = part.len().min(input.len());
        if part[..read] != input[..read] {
            return Err(Corrupt);
        }
        self.done += read;
        Ok((read, self.done == bytes.len()))
    }
}

/// The part of a header that is read next.
#[derive(Clone, Copy, Default)]
enum Field {
    #[default]
    Fixed,
    ExtraLength,
    Extra,
    Name,
    Comment,
    Checksum,
}

/// Reads a header byte by byte, because it may arrive in pieces.
#[derive(Default)]
pub struct HeaderReader {
    field: Field,
    /// Bytes of the field that are read.
    at: usize,
    flags: u8,
    extra_length: usize,
    /// The checksum of all bytes before the header's own.
    checksum: Hasher,
}

impl HeaderReader {
    /// Returns the number of bytes that belong to the header, and whether it is complete.
    pub fn read(&mut self, input: &[u8]) -> Result<(usize, bool), Corrupt> {
        for (index, &byte) in input.iter().enumerate() {
            if self.accept(byte)? {
                return Ok((index + 1, true));
            }
        }
        Ok((input.len(), false))
    }

    /// Reads one byte, and returns whether it is the header's last one.
    fn accept(&mut self, byte: u8) -> Result<bool, Corrupt> {
        let at = self.at;
        self.at += 1;
        if !matches!(self.field, Field::Checksum) {
            self.checksum.update(&[byte]);
        }
        let field_ends = match self.field {
            Field::Fixed => {
                if at < 3 && byte != HEADER[at] || at == 3 && byte & RESERVED != 0 {
                    return Err(Corrupt);
                }
                if at == 3 {
                    self.flags = byte;
                }
                self.at == HEADER.len()
            }
            Field::ExtraLength => {
                self.extra_length |= usize::from(byte) << (8 * at);
                self.at == 2
            }
            Field::Extra => self.at == self.extra_length,
            Field::Name | Field::Comment => byte == 0,
            Field::Checksum => {
                let expected = self.checksum.clone().finalize().to_le_bytes()[at];
                if byte != expected {
                    return Err(Corrupt);
                }
                self.at == 2
            }
        };
        Ok(field_ends && !self.next_field())
    }

    /// Goes on to the next field that the flags announce, if there is one.
    fn next_field(&mut self) -> bool {
        self.at = 0;
        loop {
            let (next, present) = match self.field {
                Field::Fixed => (Field::ExtraLength, self.flags & FLAG_EXTRA != 0),
                Field::ExtraLength => (Field::Extra, self.extra_length > 0),
                Field::Extra => (Field::Name, self.flags & FLAG_NAME != 0),
                Field::Name => (Field::Comment, self.flags & FLAG_COMMENT != 0),
                Field::Comment => (Field::Checksum, self.flags & FLAG_HEADER_CHECKSUM != 0),
                Field::Checksum => return false,
            };
            self.field = next;
            if present {
                return true;
            }
        }
    }
}
