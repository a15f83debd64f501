//! Field lines. Only the fields that frame a request matter.

use super::Violation;

/// Length of `transfer-encoding`, the longest relevant name.
const LONGEST_NAME: usize = 17;

/// Maximum length of a framing field's value; `chunked` has 7 bytes and a length 20.
const LONGEST_VALUE: usize = 64;

/// Fields that determine the end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ContentLength,
    TransferEncoding,
    Other,
}

/// The field line that is being read.
#[derive(Clone, Debug)]
pub(super) struct Field {
    name: [u8; LONGEST_NAME],
    name_length: usize,
    value: [u8; LONGEST_VALUE],
    value_length: usize,
}

impl Field {
    pub(super) fn new() -> Self {
        Self { name: [0; LONGEST_NAME], name_length: 0, value: [0; LONGEST_VALUE], value_length: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.name_length = 0;
        self.value_length = 0;
    }

    /// Takes bytes of the name, and returns the number of leading token bytes.
    pub(super) fn push_name(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.iter().position(|byte| !is_token(*byte)).unwrap_or(bytes.len());
        let kept = taken.min(LONGEST_NAME.saturating_sub(self.name_length));
        self.name[self.name_length.min(LONGEST_NAME)..][..kept].copy_from_slice(&bytes[..kept]);
        // A longer name keeps a length that no framing field has.
        self.name_length = (self.name_length + taken).min(LONGEST_NAME + 1);
        taken
    }

    /// Returns the kind of the field whose name has ended.
    pub(super) fn kind(&self) -> Result<Kind, Violation> {
        let (kind, name, lookalike): (_, &[u8], &[u8]) = match self.name_length {
            0 => return Err(Violation::FieldName),
            14 => (Kind::ContentLength, b"content-length", b"content_length"),
            17 => (Kind::TransferEncoding, b"transfer-encoding", b"transfer_encoding"),
            _ => return Ok(Kind::Other),
        };
        let given = &self.name[..self.name_length];
        if given.eq_ignore_ascii_case(name) {
            Ok(kind)
        } else if given.eq_ignore_ascii_case(lookalike) {
            Err(Violation::Lookalike)
        } else {
            Ok(Kind::Other)
        }
    }

    /// Takes a byte of the value, without leading whitespace.
    pub(super) fn push_value(&mut self, byte: u8, too_long: Violation) -> Result<(), Violation> {
        if self.value_length == 0 && matches!(byte, b' ' | b'\t') {
            return Ok(());
        }
        let slot = self.value.get_mut(self.value_length).ok_or(too_long)?;
        *slot = byte;
        self.value_length += 1;
        Ok(())
    }

    fn value(&self) -> &[u8] {
        self.value[..self.value_length].trim_ascii_end()
    }

    /// Parses the value as a number of bytes: only digits.
    pub(super) fn length(&self) -> Result<u64, Violation> {
        let value = self.value();
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(Violation::ContentLength);
        }
        let text = std::str::from_utf8(value).map_err(|_| Violation::ContentLength)?;
        text.parse().map_err(|_| Violation::ContentLength)
    }

    /// Checks that the value is a list of codings that ends with `chunked` and contains it once.
    pub(super) fn ends_with_chunked(&self) -> Result<(), Violation> {
        let mut chunked = false;
        for coding in self.value().split(|byte| *byte == b',') {
            let coding = coding.trim_ascii();
            if chunked || coding.is_empty() {
                return Err(Violation::TransferEncoding);
            }
            chunked = coding.eq_ignore_ascii_case(b"chunked");
        }
        if chunked { Ok(()) } else { Err(Violation::TransferEncoding) }
    }
}

/// Returns whether a byte is allowed in a token (RFC 9110, section 5.6.2).
pub(super) fn is_token(byte: u8) -> bool {
    TOKENS[usize::from(byte)]
}

const TOKENS: [bool; 256] = {
    let mut tokens = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        tokens[byte] = matches!(
            byte as u8,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-'
                | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        );
        byte += 1;
    }
    tokens
};
