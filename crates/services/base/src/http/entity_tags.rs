//! The entity tags of conditions (RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2).

use axum::http::HeaderMap;
use axum::http::header::HeaderName;

/// The tags of `If-Match` or `If-None-Match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityTags {
    /// `*`: every entity.
    Any,
    /// These tags.
    Listed(Vec<EntityTag>),
}

/// A tag of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag {
    is_weak: bool,
    /// With its quotes.
    opaque: String,
}

impl EntityTag {
    /// Reads a tag as a header has it. Some clients leave the quotes out.
    fn of(text: &str) -> Self {
        let (is_weak, opaque) = text.strip_prefix("W/").map_or((false, text), |opaque| (true, opaque));
        let opaque = if opaque.starts_with('"') { opaque.to_owned() } else { format!("\"{opaque}\"") };
        Self { is_weak, opaque }
    }
}

impl EntityTags {
    /// Reads a header; none when the request lacks it. A tag that is no text matches nothing, and the condition stays.
    pub fn of(headers: &HeaderMap, name: &HeaderName) -> Option<Self> {
        let mut tags = Vec::new();
        let mut is_given = false;
        for value in headers.get_all(name) {
            is_given = true;
            let text = String::from_utf8_lossy(value.as_bytes());
            for tag in split(&text) {
                if tag == "*" {
                    return Some(Self::Any);
                }
                tags.push(EntityTag::of(tag));
            }
        }
        is_given.then_some(Self::Listed(tags))
    }

    /// Reports whether one of them is the same as `etag`, by the strong comparison of `If-Match`.
    pub fn match_strongly(&self, etag: &str) -> bool {
        let etag = EntityTag::of(etag);
        self.strong().is_none_or(|mut tags| !etag.is_weak && tags.any(|tag| tag == etag.opaque))
    }

    /// Reports whether one of them is equivalent to `etag`, by the weak comparison of `If-None-Match`.
    pub fn match_weakly(&self, etag: &str) -> bool {
        let etag = EntityTag::of(etag);
        self.all().is_none_or(|mut tags| tags.any(|tag| tag == etag.opaque))
    }

    /// The tags that a strong comparison may find, with their quotes; none for any tag.
    pub fn strong(&self) -> Option<impl Iterator<Item = &str>> {
        self.listed().map(|tags| tags.iter().filter(|tag| !tag.is_weak).map(|tag| tag.opaque.as_str()))
    }

    /// All tags with their quotes, weak ones without their mark; none for any tag.
    pub fn all(&self) -> Option<impl Iterator<Item = &str>> {
        self.listed().map(|tags| tags.iter().map(|tag| tag.opaque.as_str()))
    }

    fn listed(&self) -> Option<&[EntityTag]> {
        match self {
            Self::Any => None,
            Self::Listed(tags) => Some(tags),
        }
    }
}

/// The members of a list. A comma between quotes is part of its tag.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let members = list.split(move |character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    });
    members.map(str::trim).filter(|member| !member.is_empty())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::IF_MATCH;

    use super::*;

    fn tags(values: &[&[u8]]) -> EntityTags {
        let values = values.iter().map(|value| (IF_MATCH, HeaderValue::from_bytes(value).unwrap()));
        EntityTags::of(&values.collect(), &IF_MATCH).unwrap()
    }

    #[test]
    fn lists_have_quoted_tags() {
        let both = tags(&[b"\"a,b\" , W/\"c\", bare", b"\"d\""]);
        for (etag, strong, weak) in [
            ("\"a,b\"", true, true),
            ("\"c\"", false, true),
            ("W/\"d\"", false, true),
            ("\"d\"", true, true),
            ("\"bare\"", true, true),
            ("\"a\"", false, false),
        ] {
            assert_eq!((both.match_strongly(etag), both.match_weakly(etag)), (strong, weak), "{etag}");
        }
        assert_eq!(EntityTags::of(&HeaderMap::new(), &IF_MATCH), None);
    }

    #[test]
    fn any_is_a_star_without_quotes() {
        assert_eq!(tags(&[b" * "]), EntityTags::Any);
        assert!(EntityTags::Any.match_strongly("\"a\"") && EntityTags::Any.match_weakly("\"a\""));
        for quoted in [b"\"*\"".as_slice(), b"\"a,*,b\""] {
            assert!(!tags(&[quoted]).match_strongly("\"a\""), "{quoted:?}");
        }
    }

    #[test]
    fn a_tag_that_is_no_text_matches_nothing() {
        let tags = tags(&[b"\"\xe9\""]);
        assert!(!tags.match_strongly("\"\u{e9}\"") && !tags.match_weakly("\"a\""));
    }
}
