//! JSON values as parameters, each of the type that the statement requires.

use serde_json::Value;
use serde_json::value::RawValue;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, PgTypeKind};
use sqlx::{Arguments, Encode, Postgres, Type, TypeInfo};

use super::{numeric, time};
use tenon_service::base64;

use crate::{SqlError, Statement, exact};

/// A parameter in PostgreSQL's binary format; none is NULL.
struct Parameter {
    info: PgTypeInfo,
    bytes: Option<Vec<u8>>,
}

impl Type<Postgres> for Parameter {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("unknown")
    }
}

impl Encode<'_, Postgres> for Parameter {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match &self.bytes {
            None => Ok(IsNull::Yes),
            Some(bytes) => {
                buffer.extend_from_slice(bytes);
                Ok(IsNull::No)
            }
        }
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(self.info.clone())
    }
}

/// The parameters of a statement whose placeholders have the given types.
pub(crate) fn arguments(statement: &Statement, types: &[PgTypeInfo]) -> Result<PgArguments, SqlError> {
    let values = &statement.params;
    if values.len() != types.len() {
        let (given, wanted) = (values.len(), types.len());
        return Err(SqlError::Statement(format!("{given} parameters were given for {wanted} placeholders")));
    }
    let mut arguments = PgArguments::default();
    for (index, (value, info)) in values.iter().zip(types).enumerate() {
        let text = statement.texts.get(index).map(|text| &**text);
        let exact = text.filter(|_| exact::has_fraction(value)).map(exact::decimals_of);
        let bytes = encode(exact.as_ref().unwrap_or(value), text, info)
            .map_err(|wrong| SqlError::Statement(format!("parameter {} {}", index + 1, wrong.sentence(info))))?;
        let parameter = Parameter { info: info.clone(), bytes };
        arguments.add(parameter).map_err(|error| SqlError::Internal(error.to_string()))?;
    }
    Ok(arguments)
}

/// The reason why a value cannot be bound.
enum Wrong {
    /// The value is not of the type.
    Value,
    /// The type has no form in JSON.
    Type,
    /// The number has no form in JSON.
    NoJson,
}

impl Wrong {
    fn sentence(&self, info: &PgTypeInfo) -> String {
        let name = info.name().to_lowercase();
        match self {
            Self::Value => format!("is not a value of the type {name}"),
            Self::NoJson => {
                format!("is a number that {name} does not have; for an object of this form, bind its JSON as a text")
            }
            Self::Type => {
                format!("has the type {name}, which JSON has no form for: cast a text, as in $1::text::{name}")
            }
        }
    }
}

type Encoded = Result<Option<Vec<u8>>, Wrong>;

/// `text` is the value's original text, where the parsed form may differ.
fn encode(value: &Value, text: Option<&RawValue>, info: &PgTypeInfo) -> Encoded {
    if let PgTypeKind::Domain(inner) = info.kind() {
        return encode(value, text, inner);
    }
    // JSON's own null is NULL here, as everywhere else.
    if value.is_null() {
        return Ok(None);
    }
    match info.kind() {
        PgTypeKind::Array(element) => array(value, text, element).map(Some),
        PgTypeKind::Enum(_) => value.as_str().map(|text| Some(text.into())).ok_or(Wrong::Value),
        _ => scalar(value, text, info.name()).map(Some),
    }
}

fn scalar(value: &Value, raw: Option<&RawValue>, name: &str) -> Result<Vec<u8>, Wrong> {
    let is_json = matches!(name, "JSON" | "JSONB");
    let spelled = match crate::float_of_parameter(value) {
        // A client sends this for any column, because its own JSON writer would send 0.
        Some("-0") => Some(if is_json { Value::from("-0") } else { Value::from(-0.0) }),
        Some("Infinity" | "-Infinity" | "NaN") if is_json => return Err(Wrong::NoJson),
        Some(text) if matches!(name, "FLOAT4" | "FLOAT8" | "NUMERIC") => Some(Value::from(text)),
        _ => None,
    };
    let raw = raw.filter(|_| spelled.is_none());
    let value = spelled.as_ref().unwrap_or(value);
    let wrong = || Wrong::Value;
    let integer = |min: i64, max: i64| integer(value).filter(|number| (min..=max).contains(number)).ok_or(Wrong::Value);
    let text = || value.as_str().ok_or(Wrong::Value);
    Ok(match name {
        "BOOL" => vec![u8::from(boolean(value).ok_or_else(wrong)?)],
        "INT2" => be(&integer(i16::MIN.into(), i16::MAX.into())?.to_be_bytes(), 2),
        "INT4" => be(&integer(i32::MIN.into(), i32::MAX.into())?.to_be_bytes(), 4),
        "INT8" => be(&integer(i64::MIN, i64::MAX)?.to_be_bytes(), 8),
        "OID" => be(&integer(0, u32::MAX.into())?.to_be_bytes(), 4),
        "FLOAT4" => float::<f32>(value).ok_or_else(wrong)?.to_be_bytes().to_vec(),
        "FLOAT8" => float::<f64>(value).ok_or_else(wrong)?.to_be_bytes().to_vec(),
        "NUMERIC" => numeric::encode(&decimal(value).ok_or_else(wrong)?).ok_or_else(wrong)?,
        "\"CHAR\"" => vec![character(text()?).ok_or_else(wrong)?],
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "citext" => plain(value).ok_or_else(wrong)?.into_bytes(),
        "JSON" => json(value, raw).into_bytes(),
        // The version of the format.
        "JSONB" => [vec![1], json(value, raw).into_bytes()].concat(),
        "BYTEA" => match base64::of_parameter(value) {
            Some(bytes) => bytes.map_err(|()| Wrong::Value)?,
            None => base64::decode(text()?).ok_or_else(wrong)?,
        },
        "UUID" => uuid(text()?).ok_or_else(wrong)?,
        "DATE" => time::encode_date(text()?).ok_or_else(wrong)?,
        "TIME" => time::encode_time(text()?).ok_or_else(wrong)?,
        "TIMESTAMP" => time::encode_timestamp(text()?, false).ok_or_else(wrong)?,
        "TIMESTAMPTZ" => time::encode_timestamp(text()?, true).ok_or_else(wrong)?,
        _ => return Err(Wrong::Type),
    })
}

/// PostgreSQL's limit of an array's dimensions.
const MAX_DIMENSIONS: usize = 6;

/// Converts nested lists to an array of as many dimensions, with lower bounds of 1. In an array of JSON, inner lists
/// are elements.
fn array(value: &Value, text: Option<&RawValue>, element: &PgTypeInfo) -> Result<Vec<u8>, Wrong> {
    // An array of JSON has one dimension.
    let texts = text.filter(|_| is_json(element)).and_then(exact::items_of).unwrap_or_default();
    let mut lengths = Vec::new();
    let mut inner = value;
    while let Some(items) = inner.as_array() {
        lengths.push(items.len());
        match items.first() {
            Some(first) if !is_json(element) && lengths.len() <= MAX_DIMENSIONS => inner = first,
            _ => break,
        }
    }
    if lengths.is_empty() || lengths.len() > MAX_DIMENSIONS {
        return Err(Wrong::Value);
    }
    let mut items = vec![value];
    for length in &lengths {
        let mut within = Vec::new();
        for item in items {
            let list = item.as_array().filter(|list| list.len() == *length).ok_or(Wrong::Value)?;
            within.extend(list);
        }
        items = within;
    }
    let encoded: Vec<Option<Vec<u8>>> = items
        .iter()
        .enumerate()
        .map(|(index, item)| encode(item, texts.get(index).map(|text| &**text), element))
        .collect::<Result<_, _>>()?;
    let oid = element.oid().ok_or(Wrong::Type)?.0;
    let count = |number: usize| i32::try_from(number).map_err(|_| Wrong::Value);
    let dimensions = if items.is_empty() { &[][..] } else { &lengths };
    let mut bytes = Vec::new();
    bytes.extend(count(dimensions.len())?.to_be_bytes());
    bytes.extend(i32::from(encoded.iter().any(Option::is_none)).to_be_bytes());
    bytes.extend(oid.to_be_bytes());
    for length in dimensions {
        bytes.extend(count(*length)?.to_be_bytes());
        bytes.extend(1_i32.to_be_bytes());
    }
    for item in encoded {
        match item {
            None => bytes.extend((-1_i32).to_be_bytes()),
            Some(item) => {
                bytes.extend(count(item.len())?.to_be_bytes());
                bytes.extend(item);
            }
        }
    }
    Ok(bytes)
}

/// The last `length` bytes.
fn be(bytes: &[u8; 8], length: usize) -> Vec<u8> {
    bytes[8 - length..].to_vec()
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A whole number, or a text of one, which is the form of integers beyond JSON's numbers.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            // 5.0 is a whole number too; beyond 2^53 a double is not exact.
            #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
            (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_991.0).then_some(float as i64)
        }),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn float<F: std::str::FromStr + Copy + Into<f64>>(value: &Value) -> Option<F> {
    match value {
        // The nearest four-byte float to the double's shortest text.
        Value::Number(number) => exact::float(&number.to_string()),
        Value::String(text) => exact::float(text.trim()),
        _ => None,
    }
}

fn decimal(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(digits_of(number)),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn digits_of(number: &serde_json::Number) -> String {
    let text = number.to_string();
    if text == "-0.0" { "-0".to_owned() } else { text }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!text.contains('\0')).then(|| text.clone()),
        Value::Number(number) => Some(digits_of(number)),
        Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Reports whether a type, or the base type of a domain, is JSON.
pub(super) fn is_json(info: &PgTypeInfo) -> bool {
    match info.kind() {
        PgTypeKind::Domain(inner) => is_json(inner),
        _ => matches!(info.name(), "JSON" | "JSONB"),
    }
}

/// A text is JSON already; any other value is written as JSON, with each number's original digits.
fn json(value: &Value, raw: Option<&RawValue>) -> String {
    match raw.map(|raw| raw.get().trim()).filter(|raw| !raw.starts_with('"')) {
        Some(raw) => raw.to_owned(),
        None => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// A single byte in PostgreSQL's form of the type `"char"`: empty for 0, and `\\ooo` beyond ASCII.
fn character(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [] => Some(0),
        [byte] => Some(*byte),
        [b'\\', digits @ ..] if digits.len() == 3 && digits.iter().all(|digit| matches!(digit, b'0'..=b'7')) => {
            u8::from_str_radix(&text[1..], 8).ok()
        }
        _ => None,
    }
}

/// 32 hexadecimal digits, with a dash after any group of four, as PostgreSQL accepts them.
fn uuid(text: &str) -> Option<Vec<u8>> {
    let mut digits = String::with_capacity(32);
    let mut may_be_dash = false;
    for character in text.chars() {
        if character == '-' && may_be_dash && digits.len() < 32 {
            may_be_dash = false;
        } else if character.is_ascii_hexdigit() && digits.len() < 32 {
            digits.push(character);
            may_be_dash = digits.len().is_multiple_of(4);
        } else {
            return None;
        }
    }
    (digits.len() == 32).then(|| hex::decode(digits).ok())?
}
