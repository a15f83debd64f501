//! Base64 (RFC 4648, section 4), the form of bytes in JSON.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, STANDARD as PADDED};

/// Reads texts without their padding, and ignores bits beyond the last byte.
const READER: GeneralPurpose = GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));

/// The bytes in `{"base64":"…"}`, the form of a parameter of bytes. None for every other value; an error when the text
/// is not base64.
pub fn of_parameter(value: &serde_json::Value) -> Option<Result<Vec<u8>, ()>> {
    text_of_parameter(value).map(|text| decode(text).ok_or(()))
}

/// The text of `{"base64":"…"}`.
pub fn text_of_parameter(value: &serde_json::Value) -> Option<&str> {
    value.as_object().filter(|object| object.len() == 1)?.get("base64")?.as_str()
}

/// With padding.
pub fn encode(bytes: &[u8]) -> String {
    PADDED.encode(bytes)
}

/// With or without padding; none when it is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 { None } else { READER.decode(digits).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_rfc() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(decode(&encode(&[0, 255, 128])), Some(vec![0, 255, 128]));
        assert_eq!(decode("Zm9vYg=").as_deref(), Some(&b"foob"[..]));
        assert_eq!(decode("Zh").as_deref(), Some(&b"f"[..]), "bits beyond the last byte are ignored");
        for wrong in ["A", "A===", "A-__", "AA AA"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
