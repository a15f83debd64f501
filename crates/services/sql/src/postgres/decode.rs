//! Values of rows, from PostgreSQL's binary format to JSON.

use serde_json::Value;
use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

use super::encode::is_json;
use super::{numeric, time};
use crate::{Cell, SqlError, too_large};

/// The reason why a value has no form in JSON.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Its type has no form in JSON.
    Type,
    /// An array that lists cannot represent.
    Bounds,
    /// The bytes are invalid.
    Bytes,
    /// It is larger than a result may be, which has this limit of bytes.
    TooLarge(usize),
}

impl Unreadable {
    pub(crate) fn of_column(&self, column: &str, info: &PgTypeInfo) -> SqlError {
        let name = info.name().to_lowercase();
        match self {
            Self::Type => SqlError::Statement(format!(
                "column \"{column}\" has the type {name}, which JSON has no form for: select {column}::text"
            )),
            Self::Bounds => SqlError::Statement(format!(
                "column \"{column}\" has an array that begins elsewhere than at 1, or one of JSON with several dimensions, which \
                 lists do not show: select {column}::text"
            )),
            Self::Bytes => SqlError::Internal(format!("PostgreSQL: a value of the type {name} could not be read")),
            Self::TooLarge(most) => too_large(*most),
        }
    }
}

/// Decodes a non-NULL value. A value of more than `most` bytes is refused before it is copied.
pub(crate) fn cell(bytes: &[u8], info: &PgTypeInfo, most: usize) -> Result<Cell, Unreadable> {
    match info.kind() {
        PgTypeKind::Domain(inner) => cell(bytes, inner, most),
        // Its JSON may be shorter or longer, depending on its elements.
        PgTypeKind::Array(element) => array(bytes, element, most),
        _ if bytes.len() > most => Err(Unreadable::TooLarge(most)),
        PgTypeKind::Enum(_) => text(bytes),
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
        // Through its shortest text, so that 0.1 of four bytes is not 0.10000000149011612.
        "FLOAT4" => Cell::float(f32::from_be_bytes(fixed(bytes)?).to_string().parse().map_err(|_| Unreadable::Bytes)?),
        "FLOAT8" => Cell::float(f64::from_be_bytes(fixed(bytes)?)),
        "NUMERIC" => Cell::text(numeric::decode(bytes).ok_or(Unreadable::Bytes)?),
        "\"CHAR\"" => match *bytes {
            [0] => Cell::text(""),
            [byte] if byte.is_ascii() => Cell::text(char::from(byte)),
            [byte] => Cell::text(format!("\\{byte:03o}")),
            _ => return Err(Unreadable::Bytes),
        },
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "citext" => text(bytes)?,
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
fn array(bytes: &[u8], element: &PgTypeInfo, most: usize) -> Result<Cell, Unreadable> {
    let mut reader = Reader(bytes);
    let dimensions = reader.int()?;
    reader.take(8)?;
    let mut lengths = Vec::new();
    for _ in 0..dimensions {
        lengths.push(usize::try_from(reader.int()?).map_err(|_| Unreadable::Bytes)?);
        if reader.int()? != 1 {
            return Err(Unreadable::Bounds);
        }
    }
    // A nested list in JSON would look like an element.
    if lengths.len() > 1 && is_json(element) {
        return Err(Unreadable::Bounds);
    }
    if lengths.is_empty() {
        return Ok(Cell::Json("[]".to_string()));
    }
    let mut list = List { reader, element, json: String::new(), most };
    list.read(&lengths)?;
    Ok(Cell::Json(list.json))
}

/// An array in decoding.
struct List<'a> {
    reader: Reader<'a>,
    element: &'a PgTypeInfo,
    json: String,
    most: usize,
}

impl List<'_> {
    fn read(&mut self, lengths: &[usize]) -> Result<(), Unreadable> {
        self.json.push('[');
        for index in 0..lengths[0] {
            if index > 0 {
                self.json.push(',');
            }
            if lengths.len() > 1 {
                self.read(&lengths[1..])?;
            } else {
                self.element()?;
            }
            if self.json.len() > self.most {
                return Err(Unreadable::TooLarge(self.most));
            }
        }
        self.json.push(']');
        Ok(())
    }

    fn element(&mut self) -> Result<(), Unreadable> {
        match usize::try_from(self.reader.int()?) {
            Err(_) => self.json.push_str("null"),
            Ok(length) => match cell(self.reader.take(length)?, self.element, self.most)? {
                Cell::Value(value) => self.json.push_str(&value.to_string()),
                Cell::Json(text) => self.json.push_str(&text),
            },
        }
        Ok(())
    }
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
    let digits = hex::encode(bytes);
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| digits.get(group).unwrap_or_default()).join("-")
}

#[cfg(test)]
mod tests {
    use sqlx::{Postgres, Type};

    use super::*;

    /// One dimension of elements, as PostgreSQL sends it; their type is not looked at.
    fn array_of(element: &[u8], count: usize) -> Vec<u8> {
        let int = |number: usize| i32::try_from(number).unwrap().to_be_bytes();
        let one = [&int(element.len()), element].concat();
        [int(1), int(0), int(0), int(count), int(1)].concat().into_iter().chain(one.repeat(count)).collect()
    }

    #[test]
    fn too_large_values_are_refused_before_they_are_copied() {
        let (text, bytes) = (<str as Type<Postgres>>::type_info(), <[u8] as Type<Postgres>>::type_info());
        assert!(cell(b"12345", &text, 5).is_ok());
        // A decoder that looked at it would report invalid UTF-8.
        assert!(matches!(cell(&[0xff; 6], &text, 5), Err(Unreadable::TooLarge(5))));
        assert!(matches!(cell(&[0; 6], &bytes, 5), Err(Unreadable::TooLarge(5))));
    }

    #[test]
    fn arrays_are_as_large_as_their_json() {
        let integers = <Vec<i64> as Type<Postgres>>::type_info();
        let bytes = array_of(&1_i64.to_be_bytes(), 1000);
        assert!(matches!(cell(&bytes, &integers, 2001), Ok(Cell::Json(json)) if json.len() == 2001));
        assert!(matches!(cell(&bytes, &integers, 1000), Err(Unreadable::TooLarge(1000))));
    }
}
