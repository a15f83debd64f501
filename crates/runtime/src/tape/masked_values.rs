//! The values that are masked, and the forms in which they occur.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;

/// The shortest value that is looked for in other places than its own: shorter ones occur in ordinary texts.
pub(super) const SHORTEST: usize = 8;

/// Values that must not be written.
#[derive(Debug, Default)]
pub(crate) struct MaskedValues(pub(super) BTreeSet<Vec<u8>>);

impl MaskedValues {
    pub(super) fn add(&mut self, value: &[u8]) {
        if value.len() >= SHORTEST {
            self.0.insert(value.to_vec());
        }
        // A key in PEM, for example.
        if value.contains(&b'\n') {
            let lines = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            self.0.extend(lines.filter(|line| line.len() >= SHORTEST).map(<[u8]>::to_vec));
        }
    }

    /// Returns whether bytes contain one of the values, as it is or in a usual encoding.
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        let forms: BTreeSet<_> = self.0.iter().flat_map(|value| forms(value)).collect();
        if forms.is_empty() {
            return false;
        }
        let has_one = |bytes: &[u8]| {
            let lower = bytes.to_ascii_lowercase();
            forms.iter().any(|form| memmem::find(&lower, form).is_some())
        };
        if has_one(bytes) {
            return true;
        }
        // Encoders differ in the characters that they escape. JSON may be inside of a string of JSON.
        let json = unescaped(bytes);
        let percent = unpercented(bytes);
        let form = spaced(&percent);
        [unescaped(&json), json, percent, form].iter().any(|plain| plain != bytes && has_one(plain))
    }
}

/// The forms in which a value may occur, in small letters: as it is, in a JSON string, percent-encoded, in hexadecimal digits, in
/// UTF-16, and in base 64 at each of its three offsets.
fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec(), percent(value), hex::encode(value).into_bytes()];
    // As in JavaScript, as in other languages, and as some write slashes.
    forms.extend([json(value), ascii_json(value), slashes(&json(value))]);
    if value.is_ascii() {
        // The same bytes in both orders.
        let mut wide: Vec<u8> = value.iter().flat_map(|byte| [*byte, 0]).collect();
        wide.pop();
        forms.push(wide);
    }
    for offset in 0..3 {
        let padded: Vec<u8> = std::iter::repeat_n(0, offset).chain(value.iter().copied()).collect();
        for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            // The first characters depend on what is before the value, and the last ones on what is after it.
            let text = alphabet.encode(&padded).into_bytes();
            let (start, end) = ([0, 2, 3][offset], padded.len() / 3 * 4);
            if end > start + SHORTEST {
                forms.push(text[start..end].to_vec());
            }
        }
    }
    forms.iter().map(|form| form.to_ascii_lowercase()).collect()
}

/// The text of a JSON string, without its quotes.
pub(super) fn json(value: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(value) else { return value.to_vec() };
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().as_bytes().to_vec()
}

/// The same in ASCII alone.
fn ascii_json(value: &[u8]) -> Vec<u8> {
    let text = json(value);
    let Ok(text) = std::str::from_utf8(&text) else { return value.to_vec() };
    let escape = |c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect::<String>().into_bytes()
}

/// The same with slashes escaped.
fn slashes(text: &[u8]) -> Vec<u8> {
    let escaped = text.iter().flat_map(|byte| if *byte == b'/' { b"\\/".to_vec() } else { vec![*byte] });
    escaped.collect()
}

/// The value in percent-encoding.
pub(super) fn percent(value: &[u8]) -> Vec<u8> {
    let mut made = Vec::new();
    for byte in value {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => made.push(*byte),
            _ => made.extend(format!("%{byte:02X}").into_bytes()),
        }
    }
    made
}

/// The bytes without the escapes of JSON's strings, whatever characters those escape.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        made.extend_from_slice(&rest[..at]);
        let (plain, length) = escaped(&rest[at..]);
        made.extend(plain);
        rest = &rest[at + length..];
    }
    made.extend_from_slice(rest);
    made
}

/// The bytes that an escape of JSON stands for, and its length. `bytes` begin with a backslash.
fn escaped(bytes: &[u8]) -> (Vec<u8>, usize) {
    let unit = |from: usize| {
        let digits = bytes.get(from..from + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    if let Some(first) = unit(0) {
        return match char::decode_utf16(std::iter::once(first).chain(unit(6))).next() {
            Some(Ok(c)) => (c.to_string().into_bytes(), c.len_utf16() * 6),
            // Half of a surrogate pair.
            _ => (bytes[..6].to_vec(), 6),
        };
    }
    let plain = match bytes.get(1) {
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(other) => *other,
        None => b'\\',
    };
    (vec![plain], bytes.len().min(2))
}

/// The value of a form's field or of a parameter, where `+` is a space.
pub(super) fn of_form(bytes: &[u8]) -> Vec<u8> {
    unpercented(&spaced(bytes))
}

/// The bytes with a space for each `+`.
fn spaced(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect()
}

/// The bytes without percent-encoding.
pub(super) fn unpercented(bytes: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        let digits = if *first == b'%' { behind.get(..2) } else { None };
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        made.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    made
}
