//! Percent-encode sets (URL Standard, section 1.3).
use alloc::string::String;

/// A set, as its bit in `SETS`.
#[derive(Clone, Copy)]
pub struct Set(u8);

pub const CONTROL: Set = Set(1);
pub const FRAGMENT: Set = Set(2);
pub const QUERY: Set = Set(4);
pub const SPECIAL_QUERY: Set = Set(8);
pub const PATH: Set = Set(16);
pub const USERINFO: Set = Set(32);

/// The sets that each byte is in.
static SETS: [u8; 256] = sets();

const fn sets() -> [u8; 256] {
    let mut sets = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte < 0x20 || byte > 0x7e {
            sets[byte] = 0xff;
        }
        byte += 1;
    }
    add(&mut sets, FRAGMENT, b" \"<>`");
    add(&mut sets, QUERY, b" \"#<>");
    add(&mut sets, SPECIAL_QUERY, b" \"#<>'");
    add(&mut sets, PATH, b" \"#<>?^`{}");
    add(&mut sets, USERINFO, b" \"#<>?^`{}/:;=@[\\]|");
    sets
}

const fn add(sets: &mut [u8; 256], set: Set, members: &[u8]) {
    let mut index = 0;
    while index < members.len() {
        sets[members[index] as usize] |= set.0;
        index += 1;
    }
}

/// Appends a text, and escapes the bytes that are in the set.
pub fn encode(text: &str, set: Set, into: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| SETS[usize::from(byte)] & set.0 != 0) {
        // The text before the byte ends at a character's end.
        let end = at + rest[at..].chars().next().map_or(1, char::len_utf8);
        into.push_str(&rest[..at]);
        for &byte in &rest.as_bytes()[at..end] {
            into.push('%');
            into.push(char::from(DIGITS[usize::from(byte >> 4)]));
            into.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        rest = &rest[end..];
    }
    into.push_str(rest);
}
