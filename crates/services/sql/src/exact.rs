//! The text of numeric parameters. A JSON reader converts them to doubles, and not always to the nearest ones.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

/// The texts of parameters, where a parsed value may lose something.
pub(crate) type Texts = Vec<Box<RawValue>>;

#[derive(Deserialize)]
struct Parameters {
    #[serde(default)]
    params: Option<Texts>,
}

#[derive(Deserialize)]
struct Batch {
    statements: Vec<Parameters>,
}

/// Reports whether a parsed value may differ from its text: a number that is fractional or too large, and values that
/// are bound as JSON, which have blanks, an order of members, and repeated names.
pub(super) fn needs_text(value: &Value) -> bool {
    match value {
        Value::Number(_) => has_fraction(value),
        Value::Array(items) => !items.is_empty(),
        Value::Object(_) => tenon_service::base64::text_of_parameter(value).is_none(),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Reports whether a number, or a list of them, has one that is fractional or too large.
pub(crate) fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_i64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => false,
    }
}

/// The nearest float of a decimal text. None when it is not a number, or is beyond the range of the type, as `1e999`
/// and `1e-999`.
pub(crate) fn float<F: std::str::FromStr + Copy + Into<f64>>(text: &str) -> Option<F> {
    let float: F = text.parse().ok()?;
    let wide: f64 = float.into();
    // Only a spelled infinity is infinite, and only zeros are 0.
    let is_spelled = text.trim_start_matches(['+', '-']).starts_with(['i', 'I']);
    ((wide.is_finite() || wide.is_nan() || is_spelled) && (wide != 0.0 || digits(text).is_empty())).then_some(float)
}

/// The texts of the parameters of a statement. None when the body is not a statement, which is reported elsewhere.
pub(super) fn of_statement(body: &[u8]) -> Option<Texts> {
    serde_json::from_slice::<Parameters>(body).ok()?.params
}

/// The texts of the parameters of each statement of a batch.
pub(super) fn of_batch(body: &[u8]) -> Option<Vec<Option<Texts>>> {
    Some(serde_json::from_slice::<Batch>(body).ok()?.statements.into_iter().map(|each| each.params).collect())
}

/// The value of a text, in which numbers with more digits than a double are texts.
pub(crate) fn decimals_of(text: &RawValue) -> Value {
    let raw = text.get().trim();
    match raw.as_bytes().first() {
        Some(b'[') => {
            let items = items_of(text).unwrap_or_default();
            Value::Array(items.iter().map(|item| decimals_of(item)).collect())
        }
        Some(b'-' | b'0'..=b'9') => number(raw),
        // An object is bound as its text.
        _ => serde_json::from_str(raw).unwrap_or_default(),
    }
}

/// The texts of a list's items; none when it is not a list.
pub(crate) fn items_of(text: &RawValue) -> Option<Texts> {
    serde_json::from_str(text.get()).ok()
}

fn number(raw: &str) -> Value {
    // `-0` is a float, because integers have no negative zero.
    if let Some(whole) = raw.parse::<i64>().ok().filter(|whole| *whole != 0 || !raw.starts_with('-')) {
        return whole.into();
    }
    let Ok(float) = raw.parse::<f64>() else { return Value::Null };
    if is_rounded(raw, float) {
        return Value::String(raw.to_owned());
    }
    Number::from_f64(float).map_or(Value::Null, Value::Number)
}

fn is_rounded(raw: &str, float: f64) -> bool {
    digits(raw) != digits(&format!("{float:e}"))
}

/// The numbers of a JSON text that a JSON reader rounds, in their order.
pub(super) fn rounded(text: &[u8]) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            match *rest.first()? {
                b'"' => {
                    let mut at = 1;
                    while *rest.get(at)? != b'"' {
                        at += if rest[at] == b'\\' { 2 } else { 1 };
                    }
                    rest = &rest[at + 1..];
                }
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                    let (number, behind) = rest.split_at(length);
                    rest = behind;
                    let number = std::str::from_utf8(number).ok()?;
                    if number.parse::<i64>().is_err() && number.parse().is_ok_and(|float| is_rounded(number, float)) {
                        return Some(number);
                    }
                }
                _ => rest = &rest[1..],
            }
        }
    })
}

/// The significant digits of a number.
fn digits(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        for (text, exact) in [
            ("5", "5"),
            ("5.0", "5.0"),
            ("-0.1", "-0.1"),
            ("1500.250", "1500.25"),
            ("4.683689251375931e-187", "4.683689251375931e-187"),
            ("0.10000000000000000555", "\"0.10000000000000000555\""),
            ("12345678901234567890.5", "\"12345678901234567890.5\""),
            ("18446744073709551616", "\"18446744073709551616\""),
            ("-0", "-0.0"),
            ("1e-400", "\"1e-400\""),
            ("[1.5, [\"a\", 0.10000000000000000555], null]", "[1.5,[\"a\",\"0.10000000000000000555\"],null]"),
        ] {
            assert_eq!(decimals_of(&raw(text)).to_string(), exact);
        }
    }

    #[test]
    fn floats_have_a_range() {
        assert_eq!(float::<f64>("-0").map(f64::to_bits), Some((-0.0_f64).to_bits()));
        assert_eq!((float("-Infinity"), float("inf")), (Some(f64::NEG_INFINITY), Some(f64::INFINITY)));
        assert_eq!((float("5e-324"), float("0e-999")), (Some(5e-324), Some(0.0)));
        // Rounding twice, through a double, would give 16777216.
        assert_eq!(float("16777217.0000000001"), Some(16_777_218_f32));
        assert!(float::<f64>("NaN").is_some_and(f64::is_nan));
        for wrong in ["1e999", "-1e-999", "", "0x1", " 1"] {
            assert_eq!(float::<f64>(wrong), None, "{wrong}");
        }
        assert_eq!((float::<f32>("1e39"), float::<f32>("1e-46")), (None, None));
    }

    #[test]
    fn rounded_numbers_are_found_outside_of_texts() {
        let text = br#"{"a\"0.10000000000000000555":[0.10000000000000000555, 0.5, 7, -18446744073709551617],"b":"\\", "c":1.50}"#;
        assert_eq!(rounded(text).collect::<Vec<_>>(), ["0.10000000000000000555", "-18446744073709551617"]);
        assert_eq!(rounded(b"\"open \\").count(), 0);
    }
}
