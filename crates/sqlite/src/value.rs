//! Values of SQLite.

/// Bytes that an allocation costs besides its own.
const ALLOCATION: usize = 16;

/// A value to bind, or of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT.
    Text(String),
    /// BLOB.
    Blob(Vec<u8>),
}

impl Value {
    /// Bytes of memory that the value holds.
    pub(crate) fn size(&self) -> usize {
        let more = match self {
            Self::Text(text) => text.len() + ALLOCATION,
            Self::Blob(bytes) => bytes.len() + ALLOCATION,
            Self::Null | Self::Integer(_) | Self::Real(_) => 0,
        };
        size_of::<Self>() + more
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

/// A value of a row, whose bytes are the instance's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT, which may not be UTF-8.
    Text(&'a [u8]),
    /// BLOB.
    Blob(&'a [u8]),
}

impl ValueRef<'_> {
    /// Copies the value. A text that is not UTF-8 becomes a BLOB.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(number),
            Self::Real(number) => Value::Real(number),
            Self::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::Text(text.to_owned()),
                Err(_) => Value::Blob(bytes.to_vec()),
            },
            Self::Blob(bytes) => Value::Blob(bytes.to_vec()),
        }
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::Integer(*number),
            Value::Real(number) => Self::Real(*number),
            Value::Text(text) => Self::Text(text.as_bytes()),
            Value::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl<'a> From<&'a str> for ValueRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl<'a> From<&'a String> for ValueRef<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for ValueRef<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a, T: Into<ValueRef<'a>>> From<Option<T>> for ValueRef<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A type that a value of a row can be read as. NULL is read as an `Option` only.
pub trait FromValue: Sized {
    /// Reads a value; none when it has another type, or does not fit.
    fn from_value(value: ValueRef<'_>) -> Option<Self>;
}

impl FromValue for String {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        let ValueRef::Text(bytes) = value else { return None };
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        let ValueRef::Blob(bytes) = value else { return None };
        Some(bytes.to_vec())
    }
}

impl FromValue for bool {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        let ValueRef::Integer(number) = value else { return None };
        Some(number != 0)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: ValueRef<'_>) -> Option<Self> {
        if value == ValueRef::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

macro_rules! integers {
    ($($integer:ty)+) => {
        $(
            impl From<$integer> for ValueRef<'_> {
                fn from(number: $integer) -> Self {
                    Self::Integer(number.into())
                }
            }

            impl FromValue for $integer {
                fn from_value(value: ValueRef<'_>) -> Option<Self> {
                    let ValueRef::Integer(number) = value else { return None };
                    number.try_into().ok()
                }
            }
        )+
    };
}

integers! { i64 i32 u32 u16 }
