//! Conditions of a request (RFC 9110, section 13).

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};
use chrono::{DateTime, Utc};

use super::Meta;

/// The preconditions of a request on the object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    if_match: Option<Vec<String>>,
    if_none_match: Option<Vec<String>>,
    if_modified_since: Option<DateTime<Utc>>,
    if_unmodified_since: Option<DateTime<Utc>>,
    if_range: Option<String>,
}

/// The decision about a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadAnswer {
    Proceed,
    NotModified,
    Failed,
}

impl Conditions {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self {
            if_match: tags(headers, &IF_MATCH),
            if_none_match: tags(headers, &IF_NONE_MATCH),
            if_modified_since: date(headers, &IF_MODIFIED_SINCE),
            if_unmodified_since: date(headers, &IF_UNMODIFIED_SINCE),
            if_range: headers.get(IF_RANGE).and_then(|value| value.to_str().ok()).map(str::to_owned),
        }
    }

    pub(crate) fn are_none(&self) -> bool {
        self.if_match.is_none()
            && self.if_none_match.is_none()
            && self.if_modified_since.is_none()
            && self.if_unmodified_since.is_none()
            && self.if_range.is_none()
    }

    /// Reports whether a write may replace `current`, or create the object.
    pub(crate) fn allow_write(&self, current: Option<&Meta>) -> bool {
        let matches = |tags: &[String]| current.is_some_and(|meta| any_strong(tags, &meta.etag));
        self.if_match.as_deref().is_none_or(matches)
            && !self.if_none_match.as_deref().is_some_and(|tags| current.is_some_and(|meta| any_weak(tags, &meta.etag)))
            && (self.if_match.is_some()
                || self
                    .if_unmodified_since
                    .is_none_or(|since| current.is_none_or(|meta| seconds(meta.modified) <= since)))
    }

    /// Evaluates in the order of section 13.2.2.
    pub(crate) fn of_read(&self, meta: &Meta) -> ReadAnswer {
        let failed = match (&self.if_match, self.if_unmodified_since) {
            (Some(tags), _) => !any_strong(tags, &meta.etag),
            (None, Some(since)) => seconds(meta.modified) > since,
            (None, None) => false,
        };
        let unchanged = match (&self.if_none_match, self.if_modified_since) {
            (Some(tags), _) => any_weak(tags, &meta.etag),
            (None, Some(since)) => seconds(meta.modified) <= since,
            (None, None) => false,
        };
        match (failed, unchanged) {
            (true, _) => ReadAnswer::Failed,
            (false, true) => ReadAnswer::NotModified,
            (false, false) => ReadAnswer::Proceed,
        }
    }

    /// Reports whether `Range` applies: an `If-Range` must name this object.
    pub(crate) fn allow_range(&self, meta: &Meta) -> bool {
        self.if_range.as_ref().is_none_or(|given| {
            (*given == meta.etag && !given.starts_with("W/"))
                || parse_date(given).is_some_and(|date| date == seconds(meta.modified))
        })
    }
}

/// HTTP's dates have no fractions.
fn seconds(time: DateTime<Utc>) -> DateTime<Utc> {
    DateTime::from_timestamp(time.timestamp(), 0).unwrap_or(time)
}

fn any_strong(tags: &[String], etag: &str) -> bool {
    tags.iter().any(|tag| tag == "*" || (tag == etag && !tag.starts_with("W/")))
}

fn any_weak(tags: &[String], etag: &str) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    tags.iter().any(|tag| tag == "*" || opaque(tag) == opaque(etag))
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<String>> {
    let mut tags = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).peekable();
    tags.peek()?;
    Some(tags.flat_map(|value| value.split(',')).map(|tag| tag.trim().to_owned()).collect())
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<DateTime<Utc>> {
    headers.get(name).and_then(|value| parse_date(value.to_str().ok()?))
}

fn parse_date(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc2822(text).ok().map(|date| date.to_utc())
}

/// A date in HTTP's format.
pub(crate) fn http_date(time: DateTime<Utc>) -> String {
    time.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Kept;

    fn meta() -> Meta {
        let modified = DateTime::from_timestamp(1_700_000_000, 5).unwrap();
        Meta { path: "a".into(), size: 1, kept: Kept::default(), etag: "\"x\"".into(), modified }
    }

    fn conditions(name: HeaderName, value: &str) -> Conditions {
        Conditions::of(&HeaderMap::from_iter([(name, value.parse().unwrap())]))
    }

    #[test]
    fn reads() {
        let at = http_date(meta().modified);
        assert_eq!(conditions(IF_NONE_MATCH, "\"y\", W/\"x\"").of_read(&meta()), ReadAnswer::NotModified);
        assert_eq!(conditions(IF_NONE_MATCH, "\"y\"").of_read(&meta()), ReadAnswer::Proceed);
        assert_eq!(conditions(IF_MATCH, "\"y\"").of_read(&meta()), ReadAnswer::Failed);
        assert_eq!(conditions(IF_MATCH, "*").of_read(&meta()), ReadAnswer::Proceed);
        assert_eq!(conditions(IF_MODIFIED_SINCE, &at).of_read(&meta()), ReadAnswer::NotModified);
        assert_eq!(conditions(IF_UNMODIFIED_SINCE, &at).of_read(&meta()), ReadAnswer::Proceed);
        assert!(!conditions(IF_RANGE, "\"y\"").allow_range(&meta()));
        assert!(conditions(IF_RANGE, &at).allow_range(&meta()));
    }

    #[test]
    fn writes() {
        let none = conditions(IF_NONE_MATCH, "*");
        assert!(none.allow_write(None) && !none.allow_write(Some(&meta())));
        let same = conditions(IF_MATCH, "\"x\"");
        assert!(same.allow_write(Some(&meta())) && !same.allow_write(None));
        assert!(!conditions(IF_MATCH, "\"y\"").allow_write(Some(&meta())));
    }
}
