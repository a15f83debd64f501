//! Metadata: names and values stored with an entry, and sent as `X-Meta-<name>`.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use tenon_service::http::problem::Problem;

const PREFIX: &str = "x-meta-";

/// Limit in bytes of an entry's names and values together, the same as for objects of storage.
const MAX_BYTES: usize = 2048;

/// The metadata of an entry, by name in lower case, without the prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata(Map<String, Value>);

impl Metadata {
    /// Reads the headers `X-Meta-*`.
    pub(crate) fn of_headers(headers: &HeaderMap) -> Result<Self, Problem> {
        let mut metadata = Map::new();
        for (name, value) in headers {
            let Some(name) = name.as_str().strip_prefix(PREFIX) else { continue };
            let text = value.to_str().map_err(|_| wrong())?;
            if metadata.insert(name.to_owned(), text.into()).is_some() {
                return Err(wrong());
            }
        }
        Self(metadata).checked()
    }

    /// Reads `{"name":"value"}`; null means no metadata.
    pub(crate) fn of_json(value: &Value) -> Result<Self, Problem> {
        match value {
            Value::Null => Ok(Self::default()),
            Value::Object(members) => {
                let named = members.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
                Self(named.collect()).checked()
            }
            _ => Err(wrong()),
        }
    }

    fn checked(self) -> Result<Self, Problem> {
        let mut bytes = 0;
        for (name, value) in &self.0 {
            let text = value.as_str().ok_or_else(wrong)?;
            let is_value = HeaderValue::try_from(text).is_ok_and(|value| value.to_str().is_ok());
            if name.is_empty() || HeaderName::try_from(format!("{PREFIX}{name}")).is_err() || !is_value {
                return Err(wrong());
            }
            bytes += name.len() + text.len();
        }
        if bytes > MAX_BYTES {
            return Err(Problem::bad_request(format!("metadata must not have more than {MAX_BYTES} bytes")));
        }
        Ok(self)
    }

    /// The stored form; none when there is no metadata.
    pub(crate) fn to_text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| Value::from(self.0.clone()).to_string())
    }

    /// Reads the stored form.
    pub(crate) fn of_text(text: Option<String>) -> Self {
        Self(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Adds the headers to an answer.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0 {
            let name = HeaderName::try_from(format!("{PREFIX}{name}"));
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value.as_str().unwrap_or_default())) {
                headers.insert(name, value);
            }
        }
    }

    /// As JSON; none when there is none.
    pub(crate) fn to_json(&self) -> Option<Value> {
        (!self.0.is_empty()).then(|| self.0.clone().into())
    }
}

fn wrong() -> Problem {
    Problem::bad_request("each name and value of metadata must be printable ASCII, and occur once")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_survive_a_store() {
        let metadata = Metadata::of_json(&json!({ "Owner": "Ann" })).unwrap();
        let mut headers = HeaderMap::new();
        Metadata::of_text(metadata.to_text()).write(&mut headers);
        assert_eq!(headers.get("x-meta-owner").unwrap(), "Ann");
        assert_eq!(Metadata::of_headers(&headers).unwrap(), metadata);
        for wrong in [json!([]), json!({ "a": 1 }), json!({ "": "x" }), json!({ "a b": "x" }), json!({ "a": "é" })] {
            assert!(Metadata::of_json(&wrong).is_err(), "{wrong}");
        }
        assert!(Metadata::of_json(&json!({ "a": "x".repeat(2048) })).is_err());
    }
}
