//! Strings of JavaScript as UTF-8.
use alloc::borrow::Cow;
use alloc::string::String;

/// Converts a string of JavaScript to a `USVString` (WebIDL): a lone surrogate, which QuickJS encodes in three bytes as if it
/// were a character, becomes U+FFFD.
pub fn scalar_values(bytes: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(replace_surrogates(bytes)),
    }
}

fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // The three bytes of a surrogate are three errors, because UTF-8 has no character that begins with the first two. The
        // other two are continuation bytes.
        if chunk.invalid().first() == Some(&0xed) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}
