//! Keys are bytes. JSON has text only, so a byte outside UTF-8 becomes a private-use character.

/// The private-use character of byte 0; bytes 0x80 to 0xFF have U+10FF80 to U+10FFFF.
const BASE: u32 = 0x0010_FF00;

/// A key: any bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// Makes a key from a URL's bytes. The characters that [`Key::to_text`] writes for bytes outside UTF-8 are read as
    /// those bytes, so that a listed key can be requested as it was shown.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut key = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                match u8::try_from(u32::from(c).wrapping_sub(BASE)) {
                    Ok(byte) if byte >= 0x80 => key.push(byte),
                    _ => key.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            key.extend_from_slice(chunk.invalid());
        }
        Self(key)
    }

    /// A stored key.
    pub(crate) fn from_store(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The key as text, each byte that is not UTF-8 as a private-use character.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for chunk in self.0.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(BASE + u32::from(*byte))));
        }
        text
    }

    /// The first key after all with this prefix; none when there is no such key.
    pub(crate) fn behind_prefix(&self) -> Option<Self> {
        let mut bytes = self.0.clone();
        while let Some(last) = bytes.pop() {
            if last < 0xFF {
                bytes.push(last + 1);
                return Some(Self(bytes));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_survive_being_text() {
        for bytes in [b"a/b%2F \0".as_slice(), "é🎉".as_bytes(), b"\xff\x80a\xc3", b"\xc3\xff\xa9"] {
            let key = Key::new(bytes);
            assert_eq!(key.as_bytes(), bytes);
            assert_eq!(Key::new(key.to_text().as_bytes()), key);
        }
        assert_eq!(Key::new(b"a\xffb").to_text(), "a\u{10FFFF}b");
    }

    #[test]
    fn a_prefix_ends_somewhere() {
        assert_eq!(Key::new(b"ab").behind_prefix(), Some(Key::new(b"ac")));
        assert_eq!(Key::new(b"a\xff").behind_prefix(), Some(Key::new(b"b")));
        assert_eq!(Key::new(b"\xff\xff").behind_prefix(), None);
        assert_eq!(Key::new(b"").behind_prefix(), None);
    }
}
