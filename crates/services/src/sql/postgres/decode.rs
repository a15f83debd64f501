//! Values of rows, from PostgreSQL's binary format to JSON.

use serde_json::Value;
use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

use super::{numeric, time};
use crate::sql::{Cell, SqlError};

/// Why a value has no form in JSON.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Its type has none.
    Type,
    /// The bytes are not what they should be.
    Bytes,
}

impl Unreadable {
    pub(crate) fn of_column(&self, column: &str, info: &PgTypeInfo) -> SqlError {
        let name = info.name().to_lowercase();
        match self {
            Self::Type => SqlError::Statement(format!(
                "column \"{column}\" has the type {name}, which JSON has no form for: select {column}::text"
            )),
            Self::Bytes => SqlError::Internal(format!("PostgreSQL: a value of the type {name} could not be read")),
        }
    }
}

/// A value that is not NULL.
pub(crate) fn cell(bytes: &[u8], info: &PgTypeInfo) -> Result<Cell, Unreadable> {
    match info.kind() {
        PgTypeKind::Domain(inner) => cell(bytes, inner),
        PgTypeKind::Enum(_) => text(bytes),
        PgTypeKind::Array(element) => array(bytes, element),
        _ => scalar(bytes, info.name()),
    }
}

fn scalar(bytes: &[u8], name: &str) -> Result<Cell, Unreadable> {
    Ok(match name {
        "BOOL" => Cell::Value(Value::Bool(bytes == [1])),
        "INT2" => Cell::integer(i16::from_be_bytes(fixed(bytes)?).into()),
        "INT4" => Cell::integer(i32::from_be_bytes(fixed(bytes)?).into()),
        "INT8" => Cell::integer(i64::from_be_bytes(fixed(bytes)?)),
        "OID" => Cell::integer(u32::from_be_bytes(fixed(bytes)?).into()),
        // By way of its shortest text: 0.1 of four bytes is 0.1, and not 0.10000000149011612.
        "FLOAT4" => Cell::float(f32::from_be_bytes(fixed(bytes)?).to_string().parse().map_err(|_| Unreadable::Bytes)?),
        "FLOAT8" => Cell::float(f64::from_be_bytes(fixed(bytes)?)),
        "NUMERIC" => Cell::text(numeric::decode(bytes).ok_or(Unreadable::Bytes)?),
        "TEXT" | "VARCHAR" | "CHAR" | "\"CHAR\"" | "NAME" | "UNKNOWN" | "citext" => text(bytes)?,
        "JSON" => Cell::Json(utf8(bytes)?),
        "JSONB" => Cell::Json(utf8(bytes.get(1..).ok_or(Unreadable::Bytes)?)?),
        "BYTEA" => Cell::bytes(bytes),
        "UUID" => Cell::text(uuid(bytes)),
        "DATE" => Cell::text(time::decode_date(fixed(bytes)?)),
        "TIME" => Cell::text(time::decode_time(fixed(bytes)?)),
        "TIMESTAMP" => Cell::text(time::decode_timestamp(fixed(bytes)?, false)),
        "TIMESTAMPTZ" => Cell::text(time::decode_timestamp(fixed(bytes)?, true)),
        "VOID" => Cell::null(),
        _ => return Err(Unreadable::Type),
    })
}

/// An array of any number of dimensions, as lists of lists.
fn array(bytes: &[u8], element: &PgTypeInfo) -> Result<Cell, Unreadable> {
    let mut reader = Reader(bytes);
    let dimensions = reader.int()?;
    reader.take(8)?;
    let mut lengths = Vec::new();
    for _ in 0..dimensions {
        lengths.push(usize::try_from(reader.int()?).map_err(|_| Unreadable::Bytes)?);
        reader.int()?;
    }
    if lengths.is_empty() {
        return Ok(Cell::Json("[]".to_string()));
    }
    let mut json = String::new();
    list(&mut reader, element, &lengths, &mut json)?;
    Ok(Cell::Json(json))
}

fn list(reader: &mut Reader<'_>, element: &PgTypeInfo, lengths: &[usize], json: &mut String) -> Result<(), Unreadable> {
    json.push('[');
    for index in 0..lengths[0] {
        if index > 0 {
            json.push(',');
        }
        if lengths.len() > 1 {
            list(reader, element, &lengths[1..], json)?;
            continue;
        }
        match usize::try_from(reader.int()?) {
            Err(_) => json.push_str("null"),
            Ok(length) => match cell(reader.take(length)?, element)? {
                Cell::Value(value) => json.push_str(&value.to_string()),
                Cell::Json(text) => json.push_str(&text),
            },
        }
    }
    json.push(']');
    Ok(())
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Unreadable::Bytes)?;
        self.0 = rest;
        Ok(taken)
    }

    fn int(&mut self) -> Result<i32, Unreadable> {
        Ok(i32::from_be_bytes(fixed(self.take(4)?)?))
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Unreadable> {
    bytes.try_into().map_err(|_| Unreadable::Bytes)
}

fn utf8(bytes: &[u8]) -> Result<String, Unreadable> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Unreadable::Bytes)
}

fn text(bytes: &[u8]) -> Result<Cell, Unreadable> {
    utf8(bytes).map(Cell::text)
}

fn uuid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
