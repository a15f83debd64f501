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

/// An upper bound of the bytes that `serde_json::Value` and its parser take for a text. For a text that is not JSON it
/// bounds what is taken until the parser notices.
pub(super) fn of_values(text: &[u8]) -> usize {
    let mut bytes = LIST;
    // One bit for each open list or object, the innermost last: 1 is an object.
    let (mut open, mut depth) = (0_u128, 0);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let begin = at;
                while let Some(byte) = text.get(at) {
                    at += 1;
                    match byte {
                        b'"' => break,
                        b'\\' => at += 1,
                        _ => {}
                    }
                }
                // A text with escapes is collected in a buffer that doubles, and copied.
                bytes += TEXT + 3 * (at.min(text.len()) - begin);
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
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_and_not_the_characters_of_texts() {
        assert_eq!(of_values(b"1"), LIST);
        assert_eq!(of_values(br#"{"":0}"#), LIST + OBJECT + TEXT + 3);
        assert_eq!(of_values(b"[[0,1]]"), 3 * LIST + ITEM);
        assert_eq!(of_values(br#"{"a":[1],"b":{}}"#), 2 * LIST + 2 * OBJECT + MEMBER + 2 * (TEXT + 6));
        assert_eq!(of_values(br#""[{,\"[{,""#), LIST + TEXT + 3 * 9);
        // Nested too deeply, and no JSON.
        assert!(of_values(&b"[".repeat(100_000)) < 130 * LIST);
        assert_eq!(of_values(br#""\"#), LIST + TEXT + 3);
        assert_eq!(of_values(b"]]]]"), LIST);
    }
}
