//! The form of a request's target (RFC 9112, section 3.2).

use std::net::Ipv6Addr;

use http::header::{HOST, HeaderValue};
use http::request::Parts;
use http::{Method, Uri, Version};

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

/// The host that a request names, in its URL or else in its header.
pub(crate) fn host_of(parts: &Parts) -> Option<&[u8]> {
    match parts.uri.authority() {
        Some(authority) => Some(authority.as_str().as_bytes()),
        None => parts.headers.get(HOST).map(HeaderValue::as_bytes),
    }
}

/// Requires that a request names its host once, and without a user name (RFC 9112, section 3.2; RFC 9110, section 4.2.4).
/// Before HTTP/1.1 the name is optional, and the server's own takes its place (RFC 9112, section 3.3).
pub(crate) fn name_host(parts: &mut Parts) -> Result<(), Problem> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    let said = [parts.uri.authority().map(|authority| authority.as_str().as_bytes()), first.map(HeaderValue::as_bytes)];
    if second.is_some() || !said.iter().flatten().all(|host| is_host(host)) {
        return Err(Problem::NoHost);
    }
    if said == [None, None] {
        if parts.version > Version::HTTP_10 {
            return Err(Problem::NoHost);
        }
        parts.headers.insert(HOST, HeaderValue::from_static("localhost"));
    }
    Ok(())
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

    #[test]
    fn a_request_names_one_host() {
        let named = |uri: &str, hosts: &[&str], version| {
            let mut builder = Request::builder().uri(uri).version(version);
            for host in hosts {
                builder = builder.header(HOST, *host);
            }
            let mut parts = builder.body(()).unwrap().into_parts().0;
            name_host(&mut parts).ok().map(|()| parts.headers.get(HOST).map(|host| host.to_str().unwrap().to_string()))
        };
        for host in ["a", "a.example:80", "127.0.0.1:3000", "[::1]:3000", "a_b"] {
            assert_eq!(named("/x", &[host], Version::HTTP_11), Some(Some(host.to_string())), "{host}");
        }
        assert_eq!(named("http://a/x", &[], Version::HTTP_2), Some(None));
        assert_eq!(named("http://a/x", &["b"], Version::HTTP_11), Some(Some("b".to_string())));
        assert_eq!(named("/x", &[], Version::HTTP_10), Some(Some("localhost".to_string())));
        for (uri, hosts) in [
            ("/x", &[][..]),
            ("/x", &["a", "a"]),
            ("/x", &["a b/c"]),
            ("/x", &["a/c"]),
            ("/x", &["u@a"]),
            ("/x", &[""]),
            ("/x", &["a:1.2"]),
            ("http://[::1].:80/x", &["a"]),
            ("http://u:p@a/x", &["a"]),
        ] {
            assert_eq!(named(uri, hosts, Version::HTTP_11), None, "{uri} {hosts:?}");
        }
    }
}
