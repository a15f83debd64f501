//! The headers that are stored and sent with an object.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, EXPIRES,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use object_store::{Attribute, Attributes};
use tenon_service::http::problem::Problem;

/// The content type of an object that was stored without one.
const DEFAULT_TYPE: &str = "application/octet-stream";

/// The prefix of metadata headers.
const METADATA: &str = "x-meta-";

/// Limit in bytes of an object's metadata, names and values; the same as S3's.
const MAX_METADATA: usize = 2048;

/// The properties stored with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) content_type: String,
    /// `cache-control`, `content-disposition`, `content-encoding`, `content-language` and `x-meta-…`, in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { content_type: DEFAULT_TYPE.to_owned(), headers: Vec::new() }
    }
}

impl Kept {
    /// Reads the headers of a request that stores an object.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        // Not every store supports it.
        if headers.contains_key(EXPIRES) {
            return Err(Problem::bad_request("the header expires is not kept with an object: use cache-control"));
        }
        let mut kept = Self::default();
        let mut metadata = 0;
        for (name, value) in headers {
            let name = name.as_str();
            let is_metadata = name.starts_with(METADATA);
            if !is_metadata && !is_kept(name) {
                continue;
            }
            let wrong = || Problem::bad_request(format!("the header {name} must be printable ASCII, and occur once"));
            let text = value.to_str().map_err(|_| wrong())?;
            if name == CONTENT_TYPE.as_str() {
                kept.content_type = text.to_owned();
                continue;
            }
            if kept.headers.iter().any(|(each, _)| each == name) {
                return Err(wrong());
            }
            metadata += if is_metadata { name.len() - METADATA.len() + text.len() } else { 0 };
            kept.headers.push((name.to_owned(), text.to_owned()));
        }
        if metadata > MAX_METADATA {
            return Err(Problem::bad_request(format!(
                "the headers X-Meta-* must not have more than {MAX_METADATA} bytes"
            )));
        }
        kept.headers.sort();
        Ok(kept)
    }

    /// Adds them to an answer.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                headers.insert(name, value);
            }
        }
    }

    /// The stored form in a folder; none when there are none.
    pub(crate) fn headers_json(&self) -> Option<String> {
        (!self.headers.is_empty()).then(|| serde_json::json!(self.headers).to_string())
    }

    /// The stored form in S3.
    pub(crate) fn to_attributes(&self) -> Attributes {
        let mut attributes = Attributes::from_iter([(Attribute::ContentType, self.content_type.clone())]);
        for (name, value) in &self.headers {
            let attribute = match name.strip_prefix(METADATA) {
                Some(name) => Attribute::Metadata(name.to_owned().into()),
                None if name == CACHE_CONTROL.as_str() => Attribute::CacheControl,
                None if name == CONTENT_DISPOSITION.as_str() => Attribute::ContentDisposition,
                None if name == CONTENT_LANGUAGE.as_str() => Attribute::ContentLanguage,
                None => Attribute::ContentEncoding,
            };
            attributes.insert(attribute, value.clone().into());
        }
        attributes
    }

    /// Reads S3's form.
    pub(crate) fn from_attributes(attributes: &Attributes) -> Self {
        let mut kept = Self::default();
        for (attribute, value) in attributes {
            let value = value.as_ref().to_owned();
            let name = match attribute {
                Attribute::ContentType => {
                    kept.content_type = value;
                    continue;
                }
                Attribute::CacheControl => CACHE_CONTROL.as_str().to_owned(),
                Attribute::ContentDisposition => CONTENT_DISPOSITION.as_str().to_owned(),
                Attribute::ContentEncoding => CONTENT_ENCODING.as_str().to_owned(),
                Attribute::ContentLanguage => CONTENT_LANGUAGE.as_str().to_owned(),
                Attribute::Metadata(name) => format!("{METADATA}{name}"),
                _ => continue,
            };
            kept.headers.push((name, value));
        }
        kept.headers.sort();
        kept
    }
}

fn is_kept(name: &str) -> bool {
    let kept = [CONTENT_TYPE, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LANGUAGE];
    kept.iter().any(|each| each.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_s3() {
        let headers = [
            ("content-type", "text/x"),
            ("cache-control", "max-age=5"),
            ("content-disposition", "attachment; filename=\"a\""),
            ("content-encoding", "gzip"),
            ("content-language", "de"),
            ("x-meta-owner", "Ann"),
            ("host", "x"),
        ];
        let map = headers.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let kept = Kept::of(&map.into_iter().collect()).unwrap();
        assert_eq!((kept.content_type.as_str(), kept.headers.len()), ("text/x", 5));
        assert_eq!(Kept::from_attributes(&kept.to_attributes()), kept);
    }
}
