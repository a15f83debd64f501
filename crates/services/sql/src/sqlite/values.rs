//! Values between JSON and SQLite.

use serde_json::Value;
use tenon_sqlite::{Value as Bound, ValueRef};

use tenon_service::base64;

use crate::{Cell, SqlError, exact};

/// A parameter, or the end of the sentence "parameter 1 …". `text` is its original text, where a number in it may be
/// rounded.
///
/// Booleans are 0 and 1. `{"base64":"…"}` is a BLOB, and `{"float":"Infinity"}` a REAL. Every other list or object is
/// JSON text, which SQLite's own functions read.
pub(crate) fn from_json(value: &Value, text: Option<&str>) -> Result<Bound, &'static str> {
    Ok(match value {
        Value::Null => Bound::Null,
        Value::Bool(value) => Bound::Integer((*value).into()),
        Value::Number(number) => match (number.as_i64(), text) {
            (Some(integer), _) => Bound::Integer(integer),
            // Integers have no negative zero.
            (None, Some("-0")) => Bound::Real(-0.0),
            (None, Some(text)) if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => {
                return Err("is a whole number beyond 64 bits: write it as a text, or with an exponent");
            }
            // The JSON reader does not always find the nearest double.
            (None, Some(text)) => Bound::Real(exact::float(text).ok_or("is too small a number for a double")?),
            (None, None) => Bound::Real(number.as_f64().ok_or("is not a number that SQLite has")?),
        },
        Value::String(text) => Bound::Text(text.clone()),
        other => match (base64::of_parameter(other), float_of(other)) {
            (Some(bytes), _) => Bound::Blob(bytes.map_err(|()| "is not base64")?),
            (None, Some(float)) => Bound::Real(float.ok_or("is not a number that SQLite has")?),
            (None, None) => Bound::Text(text.map_or_else(|| other.to_string(), str::to_owned)),
        },
    })
}

/// The number in `{"float":"…"}`, which may be infinite, unlike JSON's numbers. SQLite has no NaN.
fn float_of(value: &Value) -> Option<Option<f64>> {
    let text = crate::float_of_parameter(value)?;
    let is_spelled = matches!(text, "Infinity" | "-Infinity");
    Some(exact::float(text).filter(|float: &f64| float.is_finite() || is_spelled))
}

/// SQLite has no booleans; a column's declared type reveals them.
pub(crate) fn is_boolean(declared: Option<&str>) -> bool {
    declared.is_some_and(|name| name.eq_ignore_ascii_case("boolean") || name.eq_ignore_ascii_case("bool"))
}

/// The bytes of a text or a blob.
pub(crate) fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}

/// A value of a row; none when it is a text that is not UTF-8.
pub(crate) fn to_cell(value: ValueRef<'_>, boolean: bool) -> Option<Cell> {
    Some(match value {
        ValueRef::Null => Cell::null(),
        ValueRef::Integer(number @ (0 | 1)) if boolean => Cell::Value(Value::Bool(number == 1)),
        ValueRef::Integer(number) => Cell::integer(number),
        ValueRef::Real(number) => Cell::float(number),
        ValueRef::Text(text) => Cell::text(std::str::from_utf8(text).ok()?),
        ValueRef::Blob(bytes) => Cell::bytes(bytes),
    })
}

/// The error of a column whose text is not UTF-8.
pub(crate) fn no_utf8(name: &str) -> SqlError {
    SqlError::Statement(format!("column \"{name}\" has a text that is not UTF-8: select CAST({name} AS BLOB)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_bound_as_they_are_written() {
        let bind = |text: &str| from_json(&serde_json::from_str(text).unwrap(), Some(text));
        let text = |text: &str| Ok(Bound::Text(text.to_owned()));
        assert_eq!(bind("9223372036854775807"), Ok(Bound::Integer(i64::MAX)));
        assert!(bind("9223372036854775808").is_err() && bind("-9223372036854775809").is_err());
        assert_eq!(bind("1e20"), Ok(Bound::Real(1e20)));
        assert_eq!(bind(r#"{"base64":"AP8="}"#), Ok(Bound::Blob(vec![0, 255])));
        assert_eq!(bind(r#"{"base64":"?"}"#), Err("is not base64"));
        assert_eq!(bind(r#"{"float":"-Infinity"}"#), Ok(Bound::Real(f64::NEG_INFINITY)));
        let is_zero = |bound| matches!(bound, Ok(Bound::Real(float)) if float == 0.0 && float.is_sign_negative());
        assert!(is_zero(bind("-0")) && is_zero(bind("-0.0")) && is_zero(bind(r#"{"float":"-0"}"#)));
        assert_eq!(bind("1e-400"), Err("is too small a number for a double"));
        for wrong in ["NaN", "x", "1e999", "1e-400", "inf"] {
            assert_eq!(bind(&format!(r#"{{"float":"{wrong}"}}"#)), Err("is not a number that SQLite has"));
        }
        for json in
            [r#"{"base64":"AP8=","more":1}"#, r#"{"base64":5}"#, r#"{ "b": 0.10000000000000000555 , "a": [1]}"#, "[]"]
        {
            assert_eq!(bind(json), text(json));
        }
    }
}
