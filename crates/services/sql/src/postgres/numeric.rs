//! `numeric`: digits to the base of 10,000, a weight, a sign and a scale (PostgreSQL's `numeric_send`).

const POSITIVE: u16 = 0;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;

/// The largest accepted exponent: `numeric` has at most 131,072 digits before the point and 16,383 after it, and the
/// digits may begin at either end.
const MAX_EXPONENT: i32 = 131_072 + 16_383;

/// Encodes a decimal such as `-12.50` or `1.5e-7`; none when it is not a number.
pub(crate) fn encode(text: &str) -> Option<Vec<u8>> {
    match text {
        "NaN" => return Some(header(0, 0, NAN, 0)),
        "Infinity" => return Some(header(0, 0, INFINITY, 0)),
        "-Infinity" => return Some(header(0, 0, NEGATIVE_INFINITY, 0)),
        _ => {}
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (NEGATIVE, rest),
        None => (POSITIVE, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) || exponent.abs() > MAX_EXPONENT {
        return None;
    }
    // The number of digits before the point, which may lie outside them.
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let scale =
        u16::try_from((i32::try_from(digits.len()).ok()? - point).max(0)).ok().filter(|scale| *scale < 0x4000)?;
    // Zeros are added before and after, so that the point falls between two groups of four.
    let front = usize::try_from((-point).rem_euclid(4)).ok()?;
    let mut padded = "0".repeat(front) + &digits;
    padded.push_str(&"0".repeat((4 - padded.len() % 4) % 4));
    let mut weight = (point + i32::try_from(front).ok()?).div_euclid(4) - 1;
    let mut groups: Vec<i16> = padded
        .as_bytes()
        .chunks(4)
        .map(|group| group.iter().fold(0, |sum, digit| sum * 10 + i16::from(digit - b'0')))
        .collect();
    while groups.last() == Some(&0) {
        groups.pop();
    }
    let leading = groups.iter().take_while(|group| **group == 0).count();
    groups.drain(..leading);
    weight -= i32::try_from(leading).ok()?;
    if groups.is_empty() {
        weight = 0;
    }
    let mut bytes = header(u16::try_from(groups.len()).ok()?, i16::try_from(weight).ok()?, sign, scale);
    bytes.extend(groups.iter().flat_map(|group| group.to_be_bytes()));
    Some(bytes)
}

fn header(count: u16, weight: i16, sign: u16, scale: u16) -> Vec<u8> {
    let (count, weight, sign, scale) =
        (count.to_be_bytes(), weight.to_be_bytes(), sign.to_be_bytes(), scale.to_be_bytes());
    [count, weight, sign, scale].concat()
}

/// Decodes to PostgreSQL's own text.
pub(crate) fn decode(bytes: &[u8]) -> Option<String> {
    let word = |at: usize| Some(u16::from_be_bytes(bytes.get(at * 2..at * 2 + 2)?.try_into().ok()?));
    let count = usize::from(word(0)?);
    let weight = i32::from(i16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?));
    let (sign, scale) = (word(2)?, usize::from(word(3)?));
    match sign {
        NAN => return Some("NaN".into()),
        INFINITY => return Some("Infinity".into()),
        NEGATIVE_INFINITY => return Some("-Infinity".into()),
        _ => {}
    }
    let groups: Vec<u16> = (0..count).map(|index| word(4 + index)).collect::<Option<_>>()?;
    let group = |at: i32| usize::try_from(at).ok().and_then(|at| groups.get(at)).copied().unwrap_or(0);
    let mut text = String::from(if sign == NEGATIVE { "-" } else { "" });
    if weight < 0 {
        text.push('0');
    } else {
        text.push_str(&group(0).to_string());
        for at in 1..=weight {
            text.push_str(&format!("{:04}", group(at)));
        }
    }
    if scale > 0 {
        // From the first group after the point on; leading zero groups are not sent.
        let mut fraction = String::new();
        let mut at = weight + 1;
        while fraction.len() < scale {
            fraction.push_str(&format!("{:04}", group(at)));
            at += 1;
        }
        text.push('.');
        text.push_str(&fraction[..scale]);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_survive() {
        for text in [
            "0",
            "1",
            "-1",
            "10000",
            "12345678",
            "0.5",
            "-0.0001",
            "0.00001",
            "123456.789",
            "1.10",
            "100.000",
            "9999.9999",
            "0.000000000012",
            "99999999999999999999999999999999.5",
        ] {
            assert_eq!(decode(&encode(text).unwrap()).as_deref(), Some(text), "{text}");
        }
        for (text, same) in [("1e3", "1000"), ("1.5E-7", "0.00000015"), ("+7", "7"), ("007", "7"), ("1.25e1", "12.5")] {
            assert_eq!(decode(&encode(text).unwrap()).as_deref(), Some(same), "{text}");
        }
        let largest = "9".repeat(131_072);
        assert_eq!(decode(&encode(&largest).unwrap()).as_deref(), Some(largest.as_str()));
        assert_eq!(encode("1e131071"), encode(&format!("1{}", "0".repeat(131_071))));
        for text in ["NaN", "Infinity", "-Infinity"] {
            assert_eq!(decode(&encode(text).unwrap()).as_deref(), Some(text));
        }
        for wrong in ["", "-", ".", "1..2", "1e", "0x1", "1 ", "1e147456", "1e-16384"] {
            assert_eq!(encode(wrong), None, "{wrong}");
        }
    }
}
