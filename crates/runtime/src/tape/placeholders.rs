//! Placeholders: values of the same length and kind in the place of masked ones.
//!
//! They are made with a key that is never written, so nobody who has a recording can try values. Equal values have equal
//! placeholders, so a value that comes back in an answer of a service is still the one that was sent.

use sha2::{Digest, Sha256};

use super::derived::Remade;

/// The fewest digits that are taken for the number of a card.
const CARD: usize = 12;

/// The beginning of the secrets of Standard Webhooks, after which there is a key in base 64.
pub(super) const WEBHOOK_PREFIX: &[u8] = b"whsec_";

/// Makes placeholders.
#[derive(Clone)]
pub(crate) struct Placeholders {
    key: [u8; 32],
    /// True when random values are replaced, because a masked value may have been made of them.
    replaces_random: bool,
    /// Texts that the guest itself makes in the place of some values.
    remade: Remade,
}

impl Placeholders {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { key, replaces_random: false, remade: Remade::new() }
    }

    /// The same, in which some values have what the guest makes in their place.
    pub(super) fn remaking(self, remade: &Remade) -> Self {
        Self { remade: remade.clone(), ..self }
    }

    /// The values that have what the guest makes in their place.
    pub(super) fn remade(&self) -> impl Iterator<Item = &[u8]> {
        self.remade.keys().map(Vec::as_slice)
    }

    /// The same, which replaces random values or does not.
    pub(super) fn replacing_random(self, replaces_random: bool) -> Self {
        Self { replaces_random, ..self }
    }

    /// Replaces the random bytes of an event, if that is needed.
    pub(super) fn random(&self, event: usize, bytes: &mut [u8]) {
        if self.replaces_random {
            let mut stream = Stream::new(&self.key, b"random", &event.to_le_bytes());
            bytes.iter_mut().for_each(|byte| *byte = stream.next());
        }
    }

    /// The placeholder of a value: digits for digits, letters for letters, and all else as it is.
    pub(super) fn of(&self, value: &[u8]) -> Vec<u8> {
        if let Some(made) = self.remade.get(value) {
            return made.clone();
        }
        let mut stream = Stream::new(&self.key, b"value", value);
        let mut made = Vec::with_capacity(value.len());
        let kind = Kind::of(value);
        let mut rest = value;
        if let Some(behind) = value.strip_prefix(WEBHOOK_PREFIX) {
            made.extend_from_slice(WEBHOOK_PREFIX);
            rest = behind;
        }
        while let Some((first, behind)) = rest.split_first() {
            let escape = match first {
                b'%' => behind.first_chunk::<2>().and_then(hex),
                _ => None,
            };
            if let Some(byte) = escape {
                // An escaped separator stays one.
                let is_hidden = byte.is_ascii_alphanumeric() || !byte.is_ascii();
                made.extend_from_slice(if is_hidden { b"%78" } else { &rest[..3] });
                rest = &behind[2..];
                continue;
            }
            if first.is_ascii() {
                made.push(kind.of_byte(value, made.len(), *first, &mut stream));
                rest = behind;
                continue;
            }
            let length = character(rest);
            made.extend(of_character(rest, length, &mut stream));
            rest = &rest[length..];
        }
        if kind == Kind::Card {
            mend_check_digit(&mut made);
        }
        debug_assert_eq!(made.len(), value.len());
        made
    }

    /// The placeholder of a JSON number: other digits, up to its exponent.
    pub(super) fn of_number(&self, number: &[u8]) -> Vec<u8> {
        let digits = number.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(number.len());
        let mut made = self.of(&number[..digits]);
        made.extend_from_slice(&number[digits..]);
        made
    }

    /// The placeholder of the text between the quotes of a JSON string.
    pub(super) fn of_json(&self, text: &[u8]) -> Vec<u8> {
        if !text.contains(&b'\\') {
            return self.of(text);
        }
        let mut made = Vec::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
            made.extend(self.of(&rest[..plain]));
            rest = &rest[plain..];
            let length = if rest.get(1) == Some(&b'u') { 6 } else { 2 }.min(rest.len());
            made.extend_from_slice(if length == 6 { b"\\u0078" } else { &rest[..length] });
            rest = &rest[length..];
        }
        made
    }
}

/// The kinds of values whose form has a meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Only hexadecimal digits and what separates them.
    Hex,
    Uuid,
    /// The number of a card, whose last digit checks the others.
    Card,
}

impl Kind {
    fn of(value: &[u8]) -> Self {
        let is_separator = |byte: &u8| matches!(byte, b'-' | b' ' | b':');
        let mut digits = value.iter().filter(|byte| !is_separator(byte));
        let count = digits.clone().count();
        if count >= CARD && digits.clone().all(u8::is_ascii_digit) && check_sum(value) == 0 {
            return Self::Card;
        }
        let is_hex = count >= 8 && digits.all(u8::is_ascii_hexdigit);
        let dashes = [8, 13, 18, 23];
        let is_uuid = value.len() == 36 && count == 32 && dashes.iter().all(|at| value.get(*at) == Some(&b'-'));
        match is_hex {
            true if is_uuid => Self::Uuid,
            true => Self::Hex,
            false => Self::Text,
        }
    }

    fn of_byte(self, value: &[u8], at: usize, byte: u8, stream: &mut Stream) -> u8 {
        // The version and the variant.
        if self == Self::Uuid && matches!(at, 14 | 19) {
            return byte;
        }
        let is_hex = matches!(self, Self::Hex | Self::Uuid);
        let is_first = at == 0 || !value[at - 1].is_ascii_alphanumeric();
        match byte {
            // A number that begins with 0 stays one.
            b'0' if is_first => b'0',
            b'0'..=b'9' if is_first => b'1' + stream.below(9),
            b'0'..=b'9' => b'0' + stream.below(10),
            b'a'..=b'z' => b'a' + stream.below(if is_hex { 6 } else { 26 }),
            b'A'..=b'Z' => b'A' + stream.below(if is_hex { 6 } else { 26 }),
            other => other,
        }
    }
}

/// The length of the first character, which is not ASCII; 1 for a byte that is no UTF-8.
fn character(bytes: &[u8]) -> usize {
    let most = bytes.len().min(4);
    (2..=most).find(|length| std::str::from_utf8(&bytes[..*length]).is_ok()).unwrap_or(1)
}

/// Returns another character of `length` bytes.
fn of_character(bytes: &[u8], length: usize, stream: &mut Stream) -> Vec<u8> {
    let first = match length {
        2 => 0xe0,
        3 => 0x4e00,
        4 => 0x1_f300,
        _ => return bytes[..1].iter().map(|byte| byte | 0x80).map(|byte| byte ^ (stream.next() & 0x3f)).collect(),
    };
    let other = char::from_u32(first + u32::from(stream.below(23)));
    other.map_or_else(|| bytes[..length].to_vec(), |other| other.to_string().into_bytes())
}

fn hex(digits: &[u8; 2]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The remainder of Luhn's sum (ISO/IEC 7812-1): 0 for the number of a card.
fn check_sum(value: &[u8]) -> u32 {
    let digits = value.iter().rev().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'));
    let weighed = digits.enumerate().map(|(at, digit)| match at % 2 {
        0 => digit,
        _ => digit * 2 / 10 + digit * 2 % 10,
    });
    weighed.sum::<u32>() % 10
}

fn mend_check_digit(value: &mut [u8]) {
    let wrong = check_sum(value);
    if let Some(last) = value.iter_mut().rev().find(|byte| byte.is_ascii_digit()) {
        *last = b'0' + ((u32::from(*last - b'0') + 10 - wrong) % 10) as u8;
    }
}

/// A stream of bytes that only the key determines.
struct Stream {
    seed: [u8; 32],
    block: [u8; 32],
    at: usize,
    count: u64,
}

impl Stream {
    fn new(key: &[u8; 32], label: &[u8], of: &[u8]) -> Self {
        let seed: [u8; 32] = Sha256::new().chain_update(key).chain_update(label).chain_update(of).finalize().into();
        Self { seed, block: [0; 32], at: 32, count: 0 }
    }

    fn next(&mut self) -> u8 {
        if self.at == self.block.len() {
            let block = Sha256::new().chain_update(self.seed).chain_update(self.count.to_le_bytes());
            (self.block, self.at, self.count) = (block.finalize().into(), 0, self.count + 1);
        }
        self.at += 1;
        self.block[self.at - 1]
    }

    /// A number below another, nearly evenly.
    fn below(&mut self, end: u8) -> u8 {
        let wide = u16::from(self.next()) << 8 | u16::from(self.next());
        (wide % u16::from(end)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders() -> Placeholders {
        Placeholders::new([3; 32])
    }

    fn of(text: &str) -> String {
        String::from_utf8(placeholders().of(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_placeholder_has_the_length_and_the_kind_of_its_value() {
        for value in
            ["sk_live_4eC39HqLyjWDarjtT1", "Zoë Ångström 日本 🦀", "a", "", "2024-01-31", "it's\tme@example.org"]
        {
            let made = of(value);
            assert_eq!(made.len(), value.len(), "{value}: {made}");
            assert_eq!(made.chars().count(), value.chars().count(), "{value}: {made}");
            for (one, other) in value.chars().zip(made.chars()) {
                assert_eq!(one.is_ascii_digit(), other.is_ascii_digit(), "{value}: {made}");
                assert_eq!(one.is_alphabetic(), other.is_alphabetic(), "{value}: {made}");
                assert_eq!(one.is_ascii_uppercase(), other.is_ascii_uppercase(), "{value}: {made}");
            }
            assert_eq!(made, of(value), "equal values have equal placeholders");
            assert!(value.len() < 8 || made != value);
        }
        assert_ne!(
            Placeholders::new([4; 32]).of(b"sk_live_4eC39HqLyjWDarjtT1"),
            placeholders().of(b"sk_live_4eC39HqLyjWDarjtT1")
        );
        let bytes = [0xff, 0x80, b'a', 0xc3];
        assert_eq!(placeholders().of(&bytes).len(), bytes.len());
    }

    #[test]
    fn cards_uuids_numbers_and_escapes_stay_what_they_are() {
        let card = of("4111 1111 1111 1111");
        assert!(card != "4111 1111 1111 1111" && check_sum(card.as_bytes()) == 0, "{card}");
        let uuid = of("0190b5f2-7c1e-7d3a-9abc-0123456789ab");
        assert!(uuid.as_bytes()[14] == b'7' && uuid.as_bytes()[19] == b'9', "{uuid}");
        assert!(uuid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'), "{uuid}");
        let number = |text: &str| String::from_utf8(placeholders().of_number(text.as_bytes())).unwrap();
        for text in ["-0.52e-7", "12", "0", "1.5E+10"] {
            let value: serde_json::Value = serde_json::from_str(&number(text)).unwrap();
            assert!(value.is_number() && number(text).len() == text.len(), "{text}");
        }
        assert_eq!(of("s%3Aabc%20%41")[..4], *"s%3A".replace('s', &of("s%3Aabc%20%41")[..1]));
        assert!(of("s%3Aabc%20%41").ends_with("%20%78"));
        let json = String::from_utf8(placeholders().of_json(br#"a\"b\u0041\n"#)).unwrap();
        assert!(json.contains(r#"\""#) && json.ends_with(r"\u0078\n"), "{json}");
    }
}
