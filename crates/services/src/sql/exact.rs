//! Numbers of parameters, as they were written. A JSON reader makes doubles of them, and not always the nearest ones.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

/// The texts of parameters, for those that have a number which is not whole.
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

/// Whether a value has a number that is not whole, or too large.
pub(super) fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_i64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(members) => members.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// The texts of the parameters of a statement. None when the body is no statement, which is found out elsewhere.
pub(super) fn of_statement(body: &[u8]) -> Option<Texts> {
    serde_json::from_slice::<Parameters>(body).ok()?.params
}

/// The texts of the parameters of each statement of a batch.
pub(super) fn of_batch(body: &[u8]) -> Option<Vec<Option<Texts>>> {
    Some(serde_json::from_slice::<Batch>(body).ok()?.statements.into_iter().map(|each| each.params).collect())
}

/// The value of a text, with the nearest double for each number.
pub(crate) fn value_of(text: &RawValue) -> Value {
    read(text, false)
}

/// The same, with a text for each number that has more digits than a double.
pub(crate) fn decimals_of(text: &RawValue) -> Value {
    read(text, true)
}

/// The texts of a list's items; none when it is no list.
pub(crate) fn items_of(text: &RawValue) -> Option<Texts> {
    serde_json::from_str(text.get()).ok()
}

fn read(text: &RawValue, keeps_digits: bool) -> Value {
    let raw = text.get().trim();
    match raw.as_bytes().first() {
        Some(b'[') => {
            let items = items_of(text).unwrap_or_default();
            Value::Array(items.iter().map(|item| read(item, keeps_digits)).collect())
        }
        Some(b'-' | b'0'..=b'9') => number(raw, keeps_digits),
        // What an object is bound as has its text.
        _ => serde_json::from_str(raw).unwrap_or_default(),
    }
}

fn number(raw: &str, keeps_digits: bool) -> Value {
    if let Ok(whole) = raw.parse::<i64>() {
        return whole.into();
    }
    let Ok(float) = raw.parse::<f64>() else { return Value::Null };
    if keeps_digits && digits(raw) != digits(&format!("{float:e}")) {
        return Value::String(raw.to_owned());
    }
    Number::from_f64(float).map_or(Value::Null, Value::Number)
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
        for (text, exact, double) in [
            ("5", "5", "5"),
            ("5.0", "5.0", "5.0"),
            ("-0.1", "-0.1", "-0.1"),
            ("1500.250", "1500.25", "1500.25"),
            ("4.683689251375931e-187", "4.683689251375931e-187", "4.683689251375931e-187"),
            ("0.10000000000000000555", "\"0.10000000000000000555\"", "0.1"),
            ("12345678901234567890.5", "\"12345678901234567890.5\"", "1.2345678901234567e+19"),
            ("18446744073709551616", "\"18446744073709551616\"", "1.8446744073709552e+19"),
            (
                "[1.5, [\"a\", 0.10000000000000000555], null]",
                "[1.5,[\"a\",\"0.10000000000000000555\"],null]",
                "[1.5,[\"a\",0.1],null]",
            ),
        ] {
            assert_eq!(
                (decimals_of(&raw(text)).to_string(), value_of(&raw(text)).to_string()),
                (exact.into(), double.into())
            );
        }
    }
}
