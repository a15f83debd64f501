//! Values between JSON and SQLite.

use rusqlite::types::{Value as Bound, ValueRef};
use serde_json::Value;

use crate::sql::Cell;

/// A parameter. Booleans are 0 and 1; lists and objects are JSON texts, which SQLite's own functions read.
pub(crate) fn from_json(value: &Value) -> Bound {
    match value {
        Value::Null => Bound::Null,
        Value::Bool(value) => Bound::Integer((*value).into()),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Bound::Integer(integer),
            None => Bound::Real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Bound::Text(text.clone()),
        other => Bound::Text(other.to_string()),
    }
}

/// SQLite has no booleans; a column that was declared as one shows them.
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

/// A value of a row.
pub(crate) fn to_cell(value: ValueRef<'_>, boolean: bool) -> Cell {
    match value {
        ValueRef::Null => Cell::null(),
        ValueRef::Integer(number @ (0 | 1)) if boolean => Cell::Value(Value::Bool(number == 1)),
        ValueRef::Integer(number) => Cell::integer(number),
        ValueRef::Real(number) => Cell::float(number),
        ValueRef::Text(text) => Cell::text(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => Cell::bytes(bytes),
    }
}
