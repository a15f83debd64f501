//! Characters that a terminal or an editor does not show, or by which it shows others differently: a client or a module
//! could hide a part of a log line with them, or make it read as another one.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Reports whether a character is a control, a mark of direction, a separator of lines or paragraphs, or ignorable by
/// default (Unicode: `Cc` without tab and line feed, `Cf`, `Zl`, `Zp`, and `Default_Ignorable_Code_Point` without the
/// variation selectors of emoji).
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        _ if c.is_ascii() => c.is_ascii_control(),
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// A text in which hidden characters are written as `\u{202e}`.
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// A JSON text in which hidden characters are written as `\u202e`. In valid JSON they can only be inside of strings.
#[must_use]
pub fn shown_in_json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string never fails.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    Cow::Owned(shown)
}

/// The bytes of a character in [`shown`].
#[must_use]
pub fn shown_bytes(c: char) -> usize {
    if is_hidden(c) { c.escape_unicode().count() } else { c.len_utf8() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: &str = "\u{0}\u{1b}\r\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\
        \u{2060}\u{2066}\u{2069}\u{206f}\u{feff}\u{fff9}\u{1d173}\u{e0001}\u{e007f}\u{3164}";

    #[test]
    fn hidden_characters_are_shown_and_others_stay() {
        let text = "tab\t, line\n, é, 日本, ☀\u{fe0f}, \u{fffd}";
        assert_eq!((shown(text).as_ref(), shown_in_json(text).as_ref()), (text, text));
        assert_eq!(shown("a\u{202e}b\u{9b}"), r"a\u{202e}b\u{9b}");
        assert_eq!(shown_in_json("\"a\u{202e}b\u{e0001}\""), r#""a\u202eb\udb40\udc01""#);
        for c in HIDDEN.chars() {
            assert!(is_hidden(c) && shown(&c.to_string()).is_ascii(), "{c:?}");
            assert_eq!(shown_bytes(c), shown(&c.to_string()).len());
        }
    }
}
