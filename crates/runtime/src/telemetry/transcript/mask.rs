//! Masks secrets in a transcript, for the page.

use std::ops::Range;

use crate::config::environment::is_secret;

/// The text in place of a secret.
pub(super) const MASK: &str = "***";

/// The secrets of a runtime.
#[derive(Debug)]
pub(crate) struct Secrets(Vec<Vec<u8>>);

impl Secrets {
    /// The secrets among the variables of the modules: those of `[secrets]`, and the tokens of sidecars.
    pub(crate) fn of(environment: &[(String, String)]) -> Self {
        let secrets = environment.iter().filter(|(name, value)| is_secret(name) && !value.is_empty());
        Self(secrets.map(|(_, value)| value.clone().into_bytes()).collect())
    }

    /// Finds secrets in a text, in order and disjoint. The start of a secret at the end of a text that is `cut` off counts.
    pub(super) fn find(&self, text: &[u8], cut: bool) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for at in 0..text.len() {
            let end = self.0.iter().filter_map(|secret| end_of(secret, text, at, cut)).max();
            match (end, found.last_mut()) {
                (Some(end), Some(last)) if at <= last.end => last.end = last.end.max(end),
                (Some(end), _) => found.push(at..end),
                (None, _) => {}
            }
        }
        found
    }

    /// A text with a mask in the place of each secret.
    pub(super) fn apply(&self, text: &[u8], cut: bool) -> Vec<u8> {
        replace(text, 0, &self.find(text, cut))
    }
}

/// A part of a text that begins at `offset`, with a mask in the place of each range.
pub(super) fn replace(part: &[u8], offset: usize, ranges: &[Range<usize>]) -> Vec<u8> {
    let mut masked = Vec::with_capacity(part.len());
    let mut at = 0;
    for range in ranges {
        let start = range.start.saturating_sub(offset).clamp(at, part.len());
        let end = range.end.saturating_sub(offset).min(part.len());
        if end > start {
            masked.extend_from_slice(part.get(at..start).unwrap_or_default());
            masked.extend_from_slice(MASK.as_bytes());
            at = end;
        }
    }
    masked.extend_from_slice(part.get(at..).unwrap_or_default());
    masked
}

/// The end of a secret that begins at `at`. Each of its bytes may be written as it is, percent-encoded, escaped as in a JSON
/// string, or replaced as the log does with control characters. A byte may be read in more than one way, so that all of the
/// positions that fit are followed.
fn end_of(secret: &[u8], text: &[u8], at: usize, cut: bool) -> Option<usize> {
    let mut positions = vec![at];
    for byte in secret {
        let mut next = Vec::new();
        for position in positions {
            let rest = text.get(position..).unwrap_or_default();
            // The text ends within the secret, or within an escape.
            if cut && position > at && (rest.is_empty() || is_part_of_escape(rest)) {
                return Some(text.len());
            }
            for length in lengths(*byte, rest).into_iter().flatten() {
                if !next.contains(&(position + length)) {
                    next.push(position + length);
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        positions = next;
    }
    positions.into_iter().max()
}

/// How many bytes of the text stand for a byte, in each way in which they can.
fn lengths(byte: u8, rest: &[u8]) -> [Option<usize>; 3] {
    let Some(first) = rest.first() else { return [None; 3] };
    let escaped = match first {
        b'%' => (hex(rest.get(1..3)) == Some(u32::from(byte))).then_some(3),
        b'\\' => match rest.get(1) {
            Some(b'u') => (hex(rest.get(2..6)) == Some(u32::from(byte)) && byte.is_ascii()).then_some(6),
            Some(letter) => (unescape(*letter) == Some(byte)).then_some(2),
            None => None,
        },
        b'+' => (byte == b' ').then_some(1),
        _ => None,
    };
    let replaced = (byte.is_ascii_control() && rest.starts_with("\u{fffd}".as_bytes())).then_some(3);
    [(*first == byte).then_some(1), escaped, replaced]
}

fn is_part_of_escape(rest: &[u8]) -> bool {
    match rest {
        [b'%', more @ ..] => more.len() < 2,
        [b'\\'] => true,
        [b'\\', b'u', more @ ..] => more.len() < 4,
        _ => false,
    }
}

/// The byte of an escape of JSON (RFC 8259, section 7).
fn unescape(letter: u8) -> Option<u8> {
    match letter {
        b'"' | b'\\' | b'/' => Some(letter),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'b' => Some(8),
        b'f' => Some(12),
        _ => None,
    }
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = std::str::from_utf8(digits?).ok()?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(secrets: &[&str], text: &str, cut: bool) -> String {
        let environment: Vec<_> =
            secrets.iter().enumerate().map(|(n, value)| (format!("TENON_SECRET_{n}"), (*value).to_string())).collect();
        String::from_utf8(Secrets::of(&environment).apply(text.as_bytes(), cut)).unwrap()
    }

    #[test]
    fn a_secret_is_found_in_each_of_its_spellings() {
        let secret = "a \"b\\c/d%2F\n\u{e9}";
        let percent = "a%20%22b%5cc%2fd%252F%0A%C3%A9";
        let form = "a+%22b%5Cc%2Fd%252F%0A%C3%A9";
        let json = "a \\\"b\\\\c\\/d%2F\\n\u{e9}";
        for spelled in [secret, percent, form, json, &secret.replace('\n', "\u{fffd}"), &json.replace("\\n", "\\u000a")]
        {
            assert_eq!(masked(&[secret], &format!("<{spelled}>"), false), "<***>", "{spelled}");
        }
        for other in ["a \"b", "a b", ""] {
            assert_eq!(masked(&[secret], other, false), other);
        }
    }

    #[test]
    fn secrets_that_overlap_leave_nothing() {
        assert_eq!(masked(&["abcd", "cdef", "b"], "xabcdefx b abc", false), "x***x *** a***c");
        assert_eq!(masked(&["aa"], "aaa", false), "***");
    }

    #[test]
    fn the_start_of_a_secret_is_masked_where_a_text_is_cut_off() {
        assert_eq!(masked(&["s3cret"], "is s3c", true), "is ***");
        assert_eq!(masked(&["s3cret"], "is s3c", false), "is s3c");
        assert_eq!(masked(&["a/b"], "is a%2", true), "is ***");
        assert_eq!(masked(&["s3cret"], "is s3x", true), "is s3x");
    }

    #[test]
    fn only_secrets_are_masked() {
        let environment = [("GREETING", "hi"), ("SIDECAR_DB_TOKEN", "t0ken"), ("SIDECAR_DB_URL", "http://db")];
        let masks = Secrets::of(&environment.map(|(name, value)| (name.to_string(), value.to_string())));
        assert_eq!(masks.apply(b"hi t0ken http://db", false), b"hi *** http://db");
    }
}
