//! The rules for the requests that are passed on, by method and path.

use std::sync::Arc;

use tenon_service::ServicesError;

/// A rule such as `POST /v1/charges`, `GET /v1/customers/*` or `* /v1/**`.
pub(super) struct Rule {
    /// The rule as written, which is also a label in metrics.
    pub(super) text: Arc<str>,
    /// None for every method.
    method: Option<String>,
    /// The segments, without a last `**`.
    fixed: Vec<String>,
    /// Ends in `**`.
    open: bool,
}

impl Rule {
    /// Parses a rule: a method or `*`, and a path. A segment `*` matches any one segment that is not empty, a last segment
    /// `**` any number of segments. GET also allows HEAD.
    ///
    /// # Errors
    ///
    /// A rule that allows nothing; the error has the valid forms.
    pub(super) fn parse(text: &str) -> Result<Self, ServicesError> {
        let wrong = || {
            ServicesError::Config(format!(
                "{text:?} allows nothing: write a method and a path, such as \"POST /v1/charges\", \"GET /v1/customers/*\" or \
                 \"* /v1/**\""
            ))
        };
        let (method, path) = text.split_once(' ').ok_or_else(wrong)?;
        let is_method = method == "*" || (!method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase()));
        let mut fixed =
            segments(path).filter(|_| is_method && !path.contains(char::is_whitespace)).ok_or_else(wrong)?;
        let open = fixed.last().is_some_and(|last| last == "**");
        if open {
            fixed.pop();
        }
        if fixed.iter().any(|segment| segment == "**") {
            return Err(wrong());
        }
        Ok(Self { text: text.into(), method: (method != "*").then(|| method.to_owned()), fixed, open })
    }

    pub(super) fn allows(&self, method: &str, segments: &[String]) -> bool {
        let is_of_method =
            self.method.as_deref().is_none_or(|each| each == method || (each == "GET" && method == "HEAD"));
        let is_of_length =
            if self.open { segments.len() > self.fixed.len() } else { segments.len() == self.fixed.len() };
        let fits = |(rule, segment): (&String, &String)| if rule == "*" { is_filled(segment) } else { rule == segment };
        is_of_method && is_of_length && self.fixed.iter().zip(segments).all(fits)
    }
}

/// Reports whether a segment has a name. Some servers cut a segment off at a semicolon, so `;a` is as good as empty.
fn is_filled(segment: &str) -> bool {
    !segment.is_empty() && !segment.starts_with(';')
}

/// The segments of a path, percent-decoded once. None for a path that another server could read differently: with `.`
/// or `..`, an encoded slash, question mark or number sign, a backslash, a control character, a malformed escape, or an
/// escape that was escaped.
pub(super) fn segments(path: &str) -> Option<Vec<String>> {
    path.strip_prefix('/')?.split('/').map(segment).collect()
}

fn segment(raw: &str) -> Option<String> {
    let segment = String::from_utf8(decoded(raw.as_bytes())?).ok()?;
    // Some servers cut a segment off at a semicolon, and then see dots. Some drop blanks after dots. Some decode twice,
    // or before they look for the query.
    let is_of_dots = segment.strip_prefix('.').is_some_and(|rest| {
        let rest = rest.trim_start_matches(['.', ' ']);
        rest.is_empty() || rest.starts_with(';')
    });
    let is_ambiguous = segment.contains(|each: char| matches!(each, '/' | '\\' | '?' | '#' | '\0'..='\x1f' | '\x7f'));
    let bytes = segment.as_bytes();
    let has_escape = bytes.windows(3).any(|each| each[0] == b'%' && each[1..].iter().all(u8::is_ascii_hexdigit));
    (!is_of_dots && !is_ambiguous && !has_escape).then_some(segment)
}

/// Decodes escapes; none when one is malformed.
fn decoded(raw: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, behind @ ..] = rest else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = behind;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rule: &str, path: &str) -> bool {
        Rule::parse(rule).unwrap().allows("GET", &segments(path).unwrap_or_default())
    }

    #[test]
    fn a_star_stands_for_one_segment_that_is_not_empty() {
        assert!(allows("GET /v1/customers/*", "/v1/customers/cus_1"));
        assert!(allows("GET /v1/*/cards", "/v1/cus_1/cards"));
        for path in ["/v1/customers/", "/v1/customers", "/v1/customers//", "/v1/customers/;x", "/v1/customers/%3bx"] {
            assert!(!allows("GET /v1/customers/*", path), "{path}");
        }
        assert!(!allows("GET /v1/*/cards", "/v1//cards"));
        assert!(!allows("GET /*/**", "//v1"));
        assert!(!allows("GET /*", "/"));
    }

    #[test]
    fn two_stars_at_the_end_stand_for_all_that_follows() {
        for path in ["/v1/", "/v1/a", "/v1/a/b/"] {
            assert!(allows("GET /v1/**", path), "{path}");
        }
        assert!(!allows("GET /v1/**", "/v1"));
        assert!(allows("GET /**", "/"));
    }

    #[test]
    fn methods() {
        let rule = Rule::parse("GET /a").unwrap();
        let path = segments("/a").unwrap();
        assert!(rule.allows("HEAD", &path) && rule.allows("GET", &path) && !rule.allows("POST", &path));
        assert!(Rule::parse("* /a").unwrap().allows("DELETE", &path));
        for wrong in ["/v1", "GET /**/a", "get /a", "GET", "GET  /a", "GET /a b", "GET a", "GET /../a", " /a", "*"] {
            assert!(Rule::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_that_two_servers_could_read_differently() {
        for path in [
            "/open/../v1",
            "/open/%2e%2e/v1",
            "/open/..;/v1",
            "/open/a%2fb",
            "/open/a%5cb",
            "/open/%00",
            "/open/%zz",
            "/open/%252e%252e/v1",
            "/open/%252fv1",
            "/open/%25%32%65%25%32%65/v1",
            "/open/.%20/v1",
            "/open/..%20/v1",
            "/open/.../v1",
            "/open/%2e./v1",
            "/open/%2E%2E%3B/v1",
            "/open/%3f/v1",
            "/open/%23/v1",
            "/open\\..\\v1",
            "/open/%c0%ae%c0%ae/v1",
            "*",
            "",
            "/%",
            "/%4",
        ] {
            assert_eq!(segments(path), None, "{path}");
        }
        assert!(segments("/v1/ch%61rges/.well-known/%").is_none());
        assert_eq!(segments("/ch%61rges/.a/..b/%25").unwrap(), ["charges", ".a", "..b", "%"]);
    }
}
