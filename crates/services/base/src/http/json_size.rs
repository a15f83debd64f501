//! The memory of a JSON text's values, before they are parsed.

/// Bytes of an object: a node of its map has room for eleven members.
const OBJECT: usize = 656;

/// Bytes of each further member, whose node may be half empty.
const MEMBER: usize = 160;

/// Bytes of a list: it begins with room for four values.
const LIST: usize = 160;

/// Bytes of each further value of a list. A full list moves to one of twice the size.
const ITEM: usize = 96;

/// Bytes of a text besides its characters.
const TEXT: usize = 48;

/// Nesting at which `serde_json` gives up.
const DEPTH: usize = 128;

/// An upper bound of the memory of a text's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of lists, objects, and all values besides the characters of texts.
    pub(super) values: usize,
    /// Bytes of the characters, with the buffer that collects a text with escapes.
    pub(super) texts: usize,
}

/// An upper bound of the bytes that `serde_json::Value` and its parser take for a text. For a text that is not JSON it
/// bounds what is taken until the parser notices.
pub(super) fn of(text: &[u8]) -> Size {
    let (mut bytes, mut texts, mut buffer) = (LIST, 0, 0);
    // One bit for each open list or object, the innermost last: 1 is an object.
    let (mut open, mut depth) = (0_u128, 0);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let (begin, mut has_escapes) = (at, false);
                while let Some(byte) = text.get(at) {
                    at += 1;
                    match byte {
                        b'"' => break,
                        b'\\' => {
                            has_escapes = true;
                            at += 1;
                        }
                        _ => {}
                    }
                }
                let length = at.min(text.len()) - begin;
                bytes += TEXT;
                texts += length;
                // The parser has one buffer for texts with escapes, which doubles.
                if has_escapes && length > buffer {
                    buffer = length;
                }
            }
            b'{' | b'[' => {
                if depth == DEPTH {
                    break;
                }
                open = open << 1 | u128::from(*byte == b'{');
                depth += 1;
                bytes += if *byte == b'{' { OBJECT } else { LIST };
            }
            b'}' | b']' => {
                open >>= 1;
                depth = depth.saturating_sub(1);
            }
            b',' => bytes += if open & 1 == 1 { MEMBER } else { ITEM },
            _ => {}
        }
    }
    Size { values: bytes, texts: texts + 3 * buffer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_and_not_the_characters_of_texts() {
        let size = |text: &[u8]| (of(text).values, of(text).texts);
        assert_eq!(size(b"1"), (LIST, 0));
        assert_eq!(size(br#"{"":0}"#), (LIST + OBJECT + TEXT, 1));
        assert_eq!(size(b"[[0,1]]"), (3 * LIST + ITEM, 0));
        assert_eq!(size(br#"{"a":[1],"b":{}}"#), (2 * LIST + 2 * OBJECT + MEMBER + 2 * TEXT, 4));
        assert_eq!(size(br#""[{,\"[{,""#), (LIST + TEXT, 4 * 9));
        // Nested too deeply, and no JSON.
        assert!(of(&b"[".repeat(100_000)).values < 130 * LIST);
        assert_eq!(size(br#""\"#), (LIST + TEXT, 4));
        assert_eq!(size(b"]]]]"), (LIST, 0));
    }
}
