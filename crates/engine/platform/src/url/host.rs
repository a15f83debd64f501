//! Hosts (URL Standard, section 3.5), as they are serialized.
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::Ipv6Addr;
use idna::AsciiDenyList;

use super::Invalid;
use super::percent::{self, encode};

/// Parses a host. That of a URL whose scheme is not special may be nearly any text.
fn parse(input: &str, is_special: bool) -> Result<String, Invalid> {
    if let Some(rest) = input.strip_prefix('[') {
        return rest.strip_suffix(']').and_then(|text| text.parse().ok()).map(serialize_ipv6).ok_or(Invalid);
    }
    if !is_special {
        return opaque(input);
    }
    // The list has the code points that a domain must not have.
    let decoded = percent_decode(input);
    let domain = idna::domain_to_ascii_cow(&decoded, AsciiDenyList::URL).map_err(|_| Invalid)?;
    if domain.is_empty() {
        return Err(Invalid);
    }
    if ends_in_number(&domain) { parse_ipv4(&domain) } else { Ok(domain.into_owned()) }
}

/// [`parse`], for the URLs that need no host.
pub fn parse_or_empty(input: &str, is_special: bool) -> Result<String, Invalid> {
    if input.is_empty() { Ok(String::new()) } else { parse(input, is_special) }
}

fn opaque(input: &str) -> Result<String, Invalid> {
    let is_forbidden = |char| {
        matches!(
            char,
            '\0' | '\t' | '\n' | '\r' | ' ' | '#' | '/' | ':' | '<' | '>' | '?' | '@' | '[' | '\\' | ']' | '^' | '|'
        )
    };
    if input.contains(is_forbidden) {
        return Err(Invalid);
    }
    let mut host = String::new();
    encode(input, percent::CONTROL, &mut host);
    Ok(host)
}

fn percent_decode(input: &str) -> Cow<'_, [u8]> {
    let input = input.as_bytes();
    if !input.contains(&b'%') {
        return Cow::Borrowed(input);
    }
    let mut decoded = Vec::with_capacity(input.len());
    let mut rest = input;
    while let [byte, after @ ..] = rest {
        rest = after;
        decoded.push(*byte);
        if let (b'%', [high, low, after @ ..]) = (byte, after)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            decoded.pop();
            decoded.push(high << 4 | low);
            rest = after;
        }
    }
    Cow::Owned(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// Returns whether the last label is a number, so that the host must be an IPv4 address.
fn ends_in_number(domain: &str) -> bool {
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let last = domain.rsplit('.').next().unwrap_or(domain);
    !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) || parse_ipv4_number(last).is_some()
}

/// Reads a number, decimal, octal or hexadecimal. A number that is too large becomes `u64::MAX`.
fn parse_ipv4_number(text: &str) -> Option<u64> {
    let (digits, radix) = match text.as_bytes() {
        [] => return None,
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    digits.chars().try_fold(0_u64, |number, digit| {
        Some(number.saturating_mul(u64::from(radix)).saturating_add(u64::from(digit.to_digit(radix)?)))
    })
}

fn parse_ipv4(domain: &str) -> Result<String, Invalid> {
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let mut numbers = Vec::new();
    for part in domain.split('.') {
        numbers.push(parse_ipv4_number(part).ok_or(Invalid)?);
    }
    let last = numbers.pop().ok_or(Invalid)?;
    // The last number is all the bytes that are left.
    if numbers.len() > 3 || numbers.iter().any(|&number| number > 255) || last >> (8 * (4 - numbers.len())) != 0 {
        return Err(Invalid);
    }
    let address =
        numbers.iter().enumerate().fold(last, |address, (index, number)| address | number << (8 * (3 - index)));
    let mut host = String::new();
    for shift in [24, 16, 8, 0] {
        if !host.is_empty() {
            host.push('.');
        }
        push_decimal(address >> shift & 255, &mut host);
    }
    Ok(host)
}

/// Appends a decimal number.
pub fn push_decimal(number: u64, into: &mut String) {
    if number > 9 {
        push_decimal(number / 10, into);
    }
    into.push(char::from(b'0' + (number % 10) as u8));
}

fn serialize_ipv6(address: Ipv6Addr) -> String {
    let pieces = address.segments();
    // The first of the longest runs of two zeros or more.
    let (mut start, mut length) = (0, 1);
    for index in 0..pieces.len() {
        let run = pieces[index..].iter().take_while(|&&piece| piece == 0).count();
        if run > length {
            (start, length) = (index, run);
        }
    }
    let mut host = String::from("[");
    let mut index = 0;
    while index < pieces.len() {
        if length > 1 && index == start {
            host.push_str(if index == 0 { "::" } else { ":" });
            index += length;
            continue;
        }
        push_hex(pieces[index], &mut host);
        index += 1;
        if index < pieces.len() {
            host.push(':');
        }
    }
    host.push(']');
    host
}

fn push_hex(piece: u16, into: &mut String) {
    if piece > 15 {
        push_hex(piece >> 4, into);
    }
    into.extend(char::from_digit(u32::from(piece & 15), 16));
}
