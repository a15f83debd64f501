//! Texts from a URL: percent-decoded exactly once, into bytes.

use axum::http::Uri;

use super::problem::Problem;

/// Decodes `%XX`, once. A lone `%` is an error.
pub fn decode(text: &str) -> Result<Vec<u8>, Problem> {
    let wrong = || Problem::bad_request("each % of the URL must have two hexadecimal digits after it");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
        bytes.push(u8::try_from(high * 16 + low).map_err(|_| wrong())?);
    }
    Ok(bytes)
}

/// The parameters of a query string.
pub struct Query(Vec<(Vec<u8>, Vec<u8>)>);

impl Query {
    /// Splits at `&` and `=`; `+` is a space.
    pub fn of(uri: &Uri) -> Result<Self, Problem> {
        let pairs = uri.query().unwrap_or("").split('&').filter(|pair| !pair.is_empty());
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(&name.replace('+', " "))?, decode(&value.replace('+', " "))?))
        });
        Ok(Self(decoded.collect::<Result<_, Problem>>()?))
    }

    /// The last value of a name, as it was sent.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().rev().find(|(each, _)| each == name.as_bytes()).map(|(_, value)| value.as_slice())
    }

    /// The last value of a name, as text.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        let text = |bytes| {
            std::str::from_utf8(bytes).map_err(|_| Problem::bad_request(format!("`{name}` must be text in UTF-8")))
        };
        self.bytes(name).map(text).transpose()
    }

    /// `limit`: the size of a page.
    pub fn limit(&self, default: usize, max: usize) -> Result<usize, Problem> {
        let Some(text) = self.text("limit")? else { return Ok(default) };
        let limit = text.parse::<usize>().ok().filter(|limit| (1..=max).contains(limit));
        limit.ok_or_else(|| Problem::bad_request(format!("`limit` must be a number from 1 to {max}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_once() {
        assert_eq!(decode("a%2Fb%252F+%FF%00").unwrap(), b"a/b%2F+\xff\0");
        for wrong in ["%", "%1", "%g0", "%%41"] {
            assert!(decode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn queries_have_a_last_value() {
        let query = Query::of(&"/x?prefix=a%26b+c&limit=1&limit=5&empty".parse().unwrap()).unwrap();
        assert_eq!(query.bytes("prefix"), Some(b"a&b c".as_slice()));
        assert_eq!(query.limit(10, 100).unwrap(), 5);
        assert_eq!(query.bytes("empty"), Some(b"".as_slice()));
        assert!(query.bytes("none").is_none());
    }
}
