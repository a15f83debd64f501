//! The form of a request's target (RFC 9112, section 3.2).

use std::net::Ipv6Addr;

use http::request::Parts;
use http::{Method, Uri};

use crate::request::problem::Problem;

/// The kind of a request's target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A path: the origin form, or the absolute form, which servers must accept as well.
    Path,
    /// The server as a whole: `OPTIONS *`.
    Server,
}

impl Target {
    /// Finds the form of a target.
    ///
    /// # Errors
    ///
    /// [`Problem::InvalidTarget`] for `*` and for an authority where the method has no use for them, and
    /// [`Problem::NoTunnel`] for `CONNECT`.
    pub(crate) fn of(parts: &Parts) -> Result<Self, Problem> {
        let uri = &parts.uri;
        if parts.method == Method::CONNECT {
            // The authority form: a host and a port, and nothing else.
            return Err(if is_authority(uri) && uri.port().is_some() {
                Problem::NoTunnel
            } else {
                Problem::InvalidTarget
            });
        }
        match uri.path() {
            "*" if parts.method == Method::OPTIONS => Ok(Self::Server),
            "*" => Err(Problem::InvalidTarget),
            _ if is_authority(uri) => Err(Problem::InvalidTarget),
            _ => Ok(Self::Path),
        }
    }
}

fn is_authority(uri: &Uri) -> bool {
    uri.scheme().is_none() && uri.authority().is_some()
}

/// Reports whether a text is a host and perhaps a port, and nothing else (RFC 3986, section 3.2). No label of a name is
/// empty.
pub(crate) fn is_host(text: &[u8]) -> bool {
    let unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte);
    let (is_named, port) = if let Some(literal) = text.strip_prefix(b"[") {
        let Some(end) = literal.iter().position(|byte| *byte == b']') else { return false };
        let address = &literal[..end];
        let is_address = match address.strip_prefix(b"v") {
            Some(future) => future.iter().all(|byte| *byte == b':' || unreserved(byte)),
            None => std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok()),
        };
        (is_address, &literal[end + 1..])
    } else {
        let end = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
        let name = &text[..end];
        let has_label = !name.is_empty() && name != b"." && !name.windows(2).any(|pair| pair == b"..");
        (has_label && name.iter().all(|byte| *byte == b'%' || unreserved(byte)), &text[end..])
    };
    is_named && (port.is_empty() || is_port(port))
}

/// Reports whether a text is a colon and perhaps a number that a port can have.
fn is_port(text: &[u8]) -> bool {
    let Some(digits) = text.strip_prefix(b":") else { return false };
    let number = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number.is_some_and(|number| number.is_empty() || number.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_and_perhaps_a_port() {
        for host in [
            "a",
            "A_b",
            "a.example.",
            "a.example:80",
            "a:",
            "127.0.0.1:3000",
            "[::1]",
            "[::1]:",
            "[::ffff:1.2.3.4]:65535",
            "[v1.a:b]",
            "%61",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            ".",
            ":80",
            "a..b",
            "a.:1.2",
            "a:65536",
            "a:-1",
            "a:+1",
            "a:80:80",
            "a b",
            "a/b",
            "a\\b",
            "u@a",
            "a,b c",
            "[::1",
            "[::1].",
            "[::1].:98",
            "[::g]",
            "[]",
            "x[::1]",
            "::1",
            "a\u{e9}",
            "a\0",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn each_method_takes_the_forms_that_it_has_a_use_for() {
        let of = |method: &str, uri: &str| {
            Target::of(&Request::builder().method(method).uri(uri).body(()).unwrap().into_parts().0)
        };
        for uri in ["/", "/a?b", "http://x", "http://x/a"] {
            assert_eq!(of("GET", uri), Ok(Target::Path), "{uri}");
            assert_eq!(of("CONNECT", uri), Err(Problem::InvalidTarget), "{uri}");
        }
        assert_eq!(of("OPTIONS", "*"), Ok(Target::Server));
        assert_eq!(of("OPTIONS", "/"), Ok(Target::Path));
        for (method, uri) in [("GET", "*"), ("GET", "x:80"), ("OPTIONS", "x"), ("CONNECT", "x"), ("CONNECT", "*")] {
            assert_eq!(of(method, uri), Err(Problem::InvalidTarget), "{method} {uri}");
        }
        assert_eq!(of("CONNECT", "x:80"), Err(Problem::NoTunnel));
    }
}
