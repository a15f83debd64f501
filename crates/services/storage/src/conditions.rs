//! Conditions of a request (RFC 9110, section 13).

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};
use chrono::{DateTime, Utc};
use tenon_service::http::entity_tags::EntityTags;

use super::Meta;

/// The preconditions of a request on the object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    if_match: Option<EntityTags>,
    if_none_match: Option<EntityTags>,
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
            if_match: EntityTags::of(headers, &IF_MATCH),
            if_none_match: EntityTags::of(headers, &IF_NONE_MATCH),
            if_modified_since: date(headers, &IF_MODIFIED_SINCE),
            if_unmodified_since: date(headers, &IF_UNMODIFIED_SINCE),
            if_range: headers.get(IF_RANGE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
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
        let matches = |tags: &EntityTags| current.is_some_and(|meta| tags.match_strongly(&meta.etag));
        let is_named = |tags: &EntityTags| current.is_some_and(|meta| tags.match_weakly(&meta.etag));
        self.if_match.as_ref().is_none_or(matches)
            && !self.if_none_match.as_ref().is_some_and(is_named)
            && (self.if_match.is_some()
                || self
                    .if_unmodified_since
                    .is_none_or(|since| current.is_none_or(|meta| seconds(meta.modified) <= since)))
    }

    /// Evaluates in the order of section 13.2.2.
    pub(crate) fn of_read(&self, meta: &Meta) -> ReadAnswer {
        let failed = match (&self.if_match, self.if_unmodified_since) {
            (Some(tags), _) => !tags.match_strongly(&meta.etag),
            (None, Some(since)) => seconds(meta.modified) > since,
            (None, None) => false,
        };
        let unchanged = match (&self.if_none_match, self.if_modified_since) {
            (Some(tags), _) => tags.match_weakly(&meta.etag),
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

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<DateTime<Utc>> {
    headers.get(name).and_then(|value| parse_date(value.to_str().ok()?))
}

/// Reads a date in any of HTTP's three formats (RFC 9110, section 5.6.7).
fn parse_date(text: &str) -> Option<DateTime<Utc>> {
    httpdate::parse_http_date(text).ok().map(DateTime::from)
}

/// A date in HTTP's format.
pub(crate) fn http_date(time: DateTime<Utc>) -> String {
    time.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::Kept;

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
    fn dates_have_three_formats() {
        for old in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            let date = DateTime::from_timestamp(784_111_777, 0);
            assert_eq!(parse_date(old), date, "{old}");
            assert!(!conditions(IF_UNMODIFIED_SINCE, old).allow_write(Some(&meta())), "{old}");
            assert_eq!(conditions(IF_MODIFIED_SINCE, old).of_read(&meta()), ReadAnswer::Proceed, "{old}");
        }
        // The condition is ignored.
        assert!(conditions(IF_UNMODIFIED_SINCE, "1994-11-06T08:49:37Z").allow_write(Some(&meta())));
    }

    #[test]
    fn writes() {
        let none = conditions(IF_NONE_MATCH, "*");
        assert!(none.allow_write(None) && !none.allow_write(Some(&meta())));
        let same = conditions(IF_MATCH, "\"x\"");
        assert!(same.allow_write(Some(&meta())) && !same.allow_write(None));
        assert!(!conditions(IF_MATCH, "\"y\"").allow_write(Some(&meta())));
    }

    #[test]
    fn a_condition_that_is_no_text_does_not_hold() {
        let odd = |name| Conditions::of(&HeaderMap::from_iter([(name, HeaderValue::from_bytes(b"\"\xe9\"").unwrap())]));
        assert!(!odd(IF_MATCH).allow_write(Some(&meta())));
        assert_eq!(odd(IF_MATCH).of_read(&meta()), ReadAnswer::Failed);
        assert!(odd(IF_NONE_MATCH).allow_write(Some(&meta())));
        assert!(!odd(IF_RANGE).allow_range(&meta()));
    }
}
