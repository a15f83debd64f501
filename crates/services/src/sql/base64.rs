//! Base64 (RFC 4648, section 4), the form of bytes in JSON.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in `{"base64":"…"}`, the form of a parameter of bytes. None for every other value; an error when the text
/// is not base64.
pub(crate) fn of_parameter(value: &serde_json::Value) -> Option<Result<Vec<u8>, ()>> {
    text_of_parameter(value).map(|text| decode(text).ok_or(()))
}

/// The text of `{"base64":"…"}`.
pub(crate) fn text_of_parameter(value: &serde_json::Value) -> Option<&str> {
    value.as_object().filter(|object| object.len() == 1)?.get("base64")?.as_str()
}

/// With padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            let digit = (group >> (18 - 6 * at)) & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[digit as usize]) } else { '=' });
        }
    }
    text
}

/// With or without padding; none when it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut group, mut bits) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = u32::try_from(ALPHABET.iter().position(|each| *each == digit)?).ok()?;
        group = ((group << 6) | value) & 0xFFF_FFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((group >> bits) & 0xFF).ok()?);
        }
    }
    Some(bytes)
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
        for wrong in ["A", "A===", "A-__", "AA AA"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
