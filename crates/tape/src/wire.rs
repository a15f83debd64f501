//! Values as bytes, and the strict reader.

use thiserror::Error;

use crate::dictionary;
use crate::event::Field;

/// The reason why bytes are not a recording.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TapeError {
    /// They begin with something else.
    #[error("the file must be a recording of Tenon")]
    NotATape,
    /// Another version of Tenon wrote it.
    #[error("the recording has version {0}, and this Tenon reads version {read}", read = crate::VERSION)]
    Version(u8),
    /// The checksum does not match.
    #[error("the recording is damaged: its checksum does not match")]
    Damaged,
    /// It is larger than a recording may be.
    #[error("the recording must have {0} bytes at most")]
    TooLarge(usize),
    /// It has more events, headers and variables than a recording may have.
    #[error("the recording must have {0} events and headers at most")]
    TooMany(usize),
    /// A value ends before its end.
    #[error("the recording is damaged: it ends within {0}")]
    Cut(&'static str),
    /// A value is not one.
    #[error("the recording is damaged: it has a wrong {0}")]
    Wrong(&'static str),
    /// There are bytes after its end.
    #[error("the recording is damaged: it has {0} bytes after its end")]
    Rest(usize),
}

/// Events, headers and variables of one file, at most. Each takes more room in memory than in the file.
pub(crate) const MAX_ENTRIES: usize = 1 << 20;

/// Writes values.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
    /// Events, headers and variables so far.
    pub(crate) entries: usize,
}

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// The kind of an event, which begins it.
    pub(crate) fn kind(&mut self, kind: u8) {
        self.entries += 1;
        self.byte(kind);
    }

    /// A number in groups of seven bits, the lowest first (LEB128).
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push((number as u8) | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A difference, whose sign is its lowest bit.
    pub(crate) fn difference(&mut self, from: u64, to: u64) {
        let difference = to.wrapping_sub(from).cast_signed();
        self.number(((difference << 1) ^ (difference >> 63)).cast_unsigned());
    }

    pub(crate) fn fixed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn data(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.fixed(bytes);
    }

    /// None is 0, and a length is one more.
    pub(crate) fn optional_data(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => {
                self.number(bytes.len() as u64 + 1);
                self.fixed(bytes);
            }
            None => self.number(0),
        }
    }

    /// A short text: one of the dictionary has an odd number.
    pub(crate) fn text(&mut self, text: &[u8]) {
        match dictionary::number(text) {
            Some(number) => self.number(number << 1 | 1),
            None => {
                self.number((text.len() as u64) << 1);
                self.fixed(text);
            }
        }
    }

    pub(crate) fn fields<'a>(&mut self, count: usize, fields: impl Iterator<Item = (&'a str, &'a [u8])>) {
        self.number(count as u64);
        self.entries += count;
        for (name, value) in fields {
            self.text(name.as_bytes());
            self.text(value);
        }
    }
}

/// Reads values, each checked against what is left.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// Entries that may still come.
    entries: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, entries: MAX_ENTRIES }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn byte(&mut self, what: &'static str) -> Result<u8, TapeError> {
        let (first, rest) = self.rest.split_first().ok_or(TapeError::Cut(what))?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self, what: &'static str) -> Result<u64, TapeError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(TapeError::Wrong(what));
            }
            number |= bits << shift;
            if byte < 0x80 {
                // One number has one form.
                return if byte == 0 && shift > 0 { Err(TapeError::Wrong(what)) } else { Ok(number) };
            }
        }
        Err(TapeError::Wrong(what))
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, TapeError> {
        T::try_from(self.number(what)?).map_err(|_| TapeError::Wrong(what))
    }

    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, TapeError> {
        match self.byte(what)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(TapeError::Wrong(what)),
        }
    }

    pub(crate) fn difference(&mut self, from: u64, what: &'static str) -> Result<u64, TapeError> {
        let number = self.number(what)?;
        let difference = (number >> 1) ^ (number & 1).wrapping_neg();
        Ok(from.wrapping_add(difference))
    }

    pub(crate) fn fixed(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], TapeError> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(TapeError::Cut(what))?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], TapeError> {
        self.fixed(N, what)?.try_into().map_err(|_| TapeError::Cut(what))
    }

    pub(crate) fn data(&mut self, what: &'static str) -> Result<Vec<u8>, TapeError> {
        let length = self.small(what)?;
        Ok(self.fixed(length, what)?.to_vec())
    }

    pub(crate) fn optional_data(&mut self, what: &'static str) -> Result<Option<Vec<u8>>, TapeError> {
        match self.small::<usize>(what)? {
            0 => Ok(None),
            length => Ok(Some(self.fixed(length - 1, what)?.to_vec())),
        }
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<Vec<u8>, TapeError> {
        let number = self.number(what)?;
        if number & 1 == 1 {
            return dictionary::text(number >> 1).map(<[u8]>::to_vec).ok_or(TapeError::Wrong(what));
        }
        let length = usize::try_from(number >> 1).map_err(|_| TapeError::Wrong(what))?;
        let text = self.fixed(length, what)?;
        // One text has one form.
        if dictionary::number(text).is_some() { Err(TapeError::Wrong(what)) } else { Ok(text.to_vec()) }
    }

    pub(crate) fn string(&mut self, what: &'static str) -> Result<String, TapeError> {
        String::from_utf8(self.text(what)?).map_err(|_| TapeError::Wrong(what))
    }

    /// The number of entries in a list, each of which takes so many bytes at least.
    pub(crate) fn count(&mut self, least: usize, what: &'static str) -> Result<usize, TapeError> {
        let count = self.small::<usize>(what)?;
        if count > self.rest.len() / least {
            return Err(TapeError::Cut(what));
        }
        self.take_entries(count)?;
        Ok(count)
    }

    /// Counts entries.
    pub(crate) fn take_entries(&mut self, count: usize) -> Result<(), TapeError> {
        self.entries = self.entries.checked_sub(count).ok_or(TapeError::TooMany(MAX_ENTRIES))?;
        Ok(())
    }

    pub(crate) fn fields(&mut self) -> Result<Vec<Field>, TapeError> {
        let count = self.count(2, "header")?;
        (0..count).map(|_| Ok((self.string("header")?, self.text("header")?))).collect()
    }
}
