//! Facts about where a request comes from: the client's address, and the scheme, host and path prefix that the client used.
//!
//! The connection shows them, or a proxy reports them in `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix`. A client can
//! send the same headers, so they are believed only from the addresses in `trusted_proxies`. A module reads the facts as
//! variables of its environment, where no client can write.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue};
use tenon_abi::{REQUEST_BASE as BASE, REQUEST_HOST as HOST, REQUEST_IP as IP, REQUEST_SCHEME as SCHEME};

use crate::config::TrustedProxies;
use crate::request::target::{host_of, is_host};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PREFIX: HeaderName = HeaderName::from_static("x-forwarded-prefix");

/// Longest prefix that is believed, in bytes.
const MAX_PREFIX: usize = 1024;

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Reports whether the connection is encrypted.
    pub secure: bool,
}

/// The facts of one request. The default is that of a call without a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    ip: Option<IpAddr>,
    secure: bool,
    /// The host that the request names.
    named: Option<Box<str>>,
    forwarded: Option<Arc<Forwarded>>,
    /// The path of the mount by which the module was found; none when that is `/run/<module>`.
    mount: Option<Arc<str>>,
}

/// The part of the facts that a trusted proxy reports.
#[derive(Debug, Default, PartialEq, Eq)]
struct Forwarded {
    host: Option<String>,
    prefix: Option<String>,
}

impl Origin {
    /// The client as one of many: its address, or the /64 network of an IPv6 address. None for the program, for a trusted proxy that
    /// reports no client, and on this machine, where clients are proxies.
    pub(crate) fn network(&self, trusted: &TrustedProxies) -> Option<IpAddr> {
        self.ip.filter(|ip| !ip.is_loopback() && !trusted.contain(*ip)).map(tenon_http_server::network)
    }

    /// The facts of a request: of a peer's, or of one that the embedding program made, whose URL has the scheme.
    pub(crate) fn of(peer: Option<Peer>, parts: &Parts, trusted: &TrustedProxies) -> Self {
        let named = host_of(parts).and_then(|host| std::str::from_utf8(host).ok()).map(Box::from);
        let Some(Peer { address, secure }) = peer else {
            let secure = parts.uri.scheme_str() == Some("https");
            return Self { secure, named, ..Self::default() };
        };
        let address = address.to_canonical();
        if trusted.contain(address) {
            return Self { named, ..Self::behind(address, secure, &parts.headers, trusted) };
        }
        Self { ip: Some(address), secure, named, ..Self::default() }
    }

    /// The facts that a proxy at `address` reports.
    fn behind(address: IpAddr, secure: bool, headers: &HeaderMap, trusted: &TrustedProxies) -> Self {
        let (ip, proxies) = client_of(address, headers, trusted);
        let said = |name: &HeaderName| said_by(headers, name, proxies);
        let secure = match said(&FORWARDED_PROTO) {
            Some(scheme) if scheme.eq_ignore_ascii_case("https") => true,
            Some(scheme) if scheme.eq_ignore_ascii_case("http") => false,
            _ => secure,
        };
        let host = said(&FORWARDED_HOST).filter(|host| is_host(host.as_bytes())).map(ToString::to_string);
        let prefix = said(&FORWARDED_PREFIX).and_then(prefix_of).map(ToString::to_string);
        let forwarded = (host.is_some() || prefix.is_some()).then(|| Arc::new(Forwarded { host, prefix }));
        Self { ip, secure, forwarded, ..Self::default() }
    }

    /// Reports whether the client used `https`.
    pub(crate) fn is_secure(&self) -> bool {
        self.secure
    }

    /// Notes that the module is served below a mount.
    pub(crate) fn mounted(&mut self, mount: Arc<str>) {
        self.mount = Some(mount);
    }

    /// The host that the client used: the one that a trusted proxy reports, or else the one of the request.
    pub(crate) fn host(&self) -> Option<&str> {
        let forwarded = self.forwarded.as_deref().and_then(|forwarded| forwarded.host.as_deref());
        forwarded.or(self.named.as_deref())
    }

    /// The facts as variables of the environment of a module. The first two are those that an absolute URL needs.
    pub(crate) fn variables(&self, module: &str) -> Vec<(String, String)> {
        let variable = |name: &str, value: String| (name.to_string(), value);
        let prefix = self.forwarded.as_deref().and_then(|forwarded| forwarded.prefix.as_deref()).unwrap_or_default();
        let base = match self.mount.as_deref() {
            Some(mount) => format!("{prefix}{mount}"),
            None => format!("{prefix}/run/{module}"),
        };
        let mut variables = vec![variable(SCHEME, if self.secure { "https" } else { "http" }.to_string())];
        variables.extend(self.host().map(|host| variable(HOST, host.to_string())));
        variables.push(variable(BASE, base));
        variables.extend(self.ip.map(|ip| variable(IP, ip.to_string())));
        variables
    }
}

/// The client's address and the number of trusted proxies on its way, by `X-Forwarded-For` read from its end: each
/// proxy appends its caller's address. None where a trusted proxy wrote an invalid address.
fn client_of(peer: IpAddr, headers: &HeaderMap, trusted: &TrustedProxies) -> (Option<IpAddr>, usize) {
    let (mut client, mut proxies) = (peer, 1);
    for entry in values(headers, &FORWARDED_FOR).into_iter().rev() {
        let Some(address) = entry.and_then(address_of) else { return (None, proxies) };
        client = address;
        if !trusted.contain(address) {
            break;
        }
        proxies += 1;
    }
    (Some(client), proxies)
}

/// The value that the outermost of `proxies` wrote; earlier ones come from the client. Proxies that replace the header
/// instead of appending leave fewer values.
fn said_by<'a>(headers: &'a HeaderMap, name: &HeaderName, proxies: usize) -> Option<&'a str> {
    let values = values(headers, name);
    values.get(values.len().saturating_sub(proxies)).copied().flatten()
}

/// The values of a list header (RFC 9110, section 5.6.1), over all of its lines. One with bytes beyond ASCII is unknown, and
/// keeps its place: without it, a proxy would be taken for the client, or a client's value for a proxy's.
fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<Option<&'a str>> {
    let lines = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let values = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    let text = |value: &'a [u8]| std::str::from_utf8(value).ok().filter(|text| text.is_ascii());
    values.filter(|value| !value.is_empty()).map(text).collect()
}

/// An address, with or without a port; IPv6 with a port is in brackets.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse::<IpAddr>().or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip()));
    address.ok().map(|address| address.to_canonical())
}

/// A path without a slash at its end. Two slashes at its beginning would make an address of another host in a link.
fn prefix_of(text: &str) -> Option<&str> {
    let path = text.trim_end_matches('/');
    let parsed = path.parse::<PathAndQuery>().ok()?;
    let is_path = path.starts_with('/') && !path.starts_with("//") && parsed.query().is_none() && parsed.path() == path;
    (is_path && path.len() <= MAX_PREFIX).then_some(path)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn origin(peer: &str, headers: &[(&str, &str)]) -> Vec<String> {
        let trusted = TrustedProxies::parse(&["10.0.0.0/8", "fd00::1"]).unwrap();
        let mut request = Request::builder().uri("/");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let peer = Peer { address: peer.parse().unwrap(), secure: false };
        let variables = Origin::of(Some(peer), &parts, &trusted).variables("shop");
        variables.iter().map(|(name, value)| format!("{}={value}", &name["TENON_REQUEST_".len()..])).collect()
    }

    #[test]
    fn a_client_is_not_believed() {
        let forged = [
            ("x-forwarded-for", "1.2.3.4"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "evil.example"),
            ("x-forwarded-prefix", "/evil"),
        ];
        assert_eq!(origin("192.0.2.9", &forged), ["SCHEME=http", "BASE=/run/shop", "IP=192.0.2.9"]);
    }

    #[test]
    fn the_host_is_the_one_that_the_client_names() {
        let named = origin("192.0.2.9", &[("host", "shop.example:3000"), ("x-forwarded-host", "evil.example")]);
        assert_eq!(named, ["SCHEME=http", "HOST=shop.example:3000", "BASE=/run/shop", "IP=192.0.2.9"]);
        let behind = origin("10.0.0.1", &[("host", "inner:3000"), ("x-forwarded-for", "192.0.2.9")]);
        assert_eq!(behind[1], "HOST=inner:3000");
        let forwarded = origin("10.0.0.1", &[("host", "inner:3000"), ("x-forwarded-host", "shop.example")]);
        assert_eq!(forwarded[1], "HOST=shop.example");
        let request = Request::get("https://a.example/b").header("host", "other.example").body(()).unwrap();
        let peer = Peer { address: "192.0.2.9".parse().unwrap(), secure: true };
        let trusted = TrustedProxies::parse::<&str>(&[]).unwrap();
        let variables = Origin::of(Some(peer), &request.into_parts().0, &trusted).variables("shop");
        assert_eq!(variables[1], ("TENON_REQUEST_HOST".to_string(), "a.example".to_string()));
    }

    #[test]
    fn the_base_is_the_mount() {
        let base = |mount: Option<&str>, prefix: Option<&'static str>| {
            let mut origin = Origin { mount: mount.map(Into::into), ..Origin::default() };
            if let Some(prefix) = prefix {
                origin.forwarded = Some(Arc::new(Forwarded { host: None, prefix: Some(prefix.to_string()) }));
            }
            origin.variables("shop")[1].1.clone()
        };
        assert_eq!(base(None, None), "/run/shop");
        assert_eq!(base(Some("/s"), None), "/s");
        assert_eq!(base(Some(""), None), "");
        assert_eq!(base(Some("/s"), Some("/api")), "/api/s");
        assert_eq!(base(Some(""), Some("/api")), "/api");
    }

    #[test]
    fn a_trusted_proxy_is() {
        let said = [
            ("x-forwarded-for", "192.0.2.9"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "shop.example:8443"),
            ("x-forwarded-prefix", "/api/"),
        ];
        let facts = ["SCHEME=https", "HOST=shop.example:8443", "BASE=/api/run/shop", "IP=192.0.2.9"];
        assert_eq!(origin("10.1.2.3", &said), facts);
        assert_eq!(origin("::ffff:10.1.2.3", &said), facts);
        assert_eq!(origin("fd00::1", &said), facts);
        assert_eq!(origin("fd00::2", &said)[2], "IP=fd00::2");
    }

    #[test]
    fn what_a_client_put_in_front_is_not_believed() {
        let said = [
            ("x-forwarded-for", "127.0.0.1, 10.9.9.9, 192.0.2.9"),
            ("x-forwarded-proto", "http, https"),
            ("x-forwarded-host", "evil.example, shop.example"),
        ];
        assert_eq!(origin("10.0.0.1", &said), ["SCHEME=https", "HOST=shop.example", "BASE=/run/shop", "IP=192.0.2.9"]);
    }

    #[test]
    fn proxies_behind_each_other_are_walked_through() {
        let said = [
            ("x-forwarded-for", "8.8.8.8, 192.0.2.9"),
            ("x-forwarded-for", "10.0.0.2"),
            ("x-forwarded-proto", "http, https, http"),
        ];
        assert_eq!(origin("10.0.0.1", &said), ["SCHEME=https", "BASE=/run/shop", "IP=192.0.2.9"]);
    }

    #[test]
    fn addresses_may_have_ports_and_others_are_none() {
        let ip = |text: &str| origin("10.0.0.1", &[("x-forwarded-for", text)]).get(2).cloned();
        assert_eq!(ip("192.0.2.9:4711").as_deref(), Some("IP=192.0.2.9"));
        assert_eq!(ip("[2001:db8::1]:4711").as_deref(), Some("IP=2001:db8::1"));
        assert_eq!(ip("[2001:db8::1]").as_deref(), Some("IP=2001:db8::1"));
        assert_eq!(ip("2001:db8::1").as_deref(), Some("IP=2001:db8::1"));
        assert_eq!(ip("10.0.0.5").as_deref(), Some("IP=10.0.0.5"));
        assert_eq!(ip("unknown"), None);
        assert_eq!(ip("192.0.2.9, unknown"), None);
    }

    /// A client can put any byte beside its address, and a proxy appends to the same line or to another one.
    #[test]
    fn a_value_that_is_not_text_is_unknown_and_keeps_its_place() {
        let facts = |lines: &[(&str, &[u8])]| {
            let trusted = TrustedProxies::parse(&["10.0.0.0/8"]).unwrap();
            let mut request = Request::builder().uri("/");
            for (name, value) in lines {
                request = request.header(*name, HeaderValue::from_bytes(value).unwrap());
            }
            let peer = Peer { address: "10.0.0.1".parse().unwrap(), secure: false };
            let origin = Origin::of(Some(peer), &request.body(()).unwrap().into_parts().0, &trusted);
            (origin.ip.map(|ip| ip.to_string()), origin.secure, origin.host().map(ToString::to_string))
        };
        let ip = |lines: &[&[u8]]| facts(&lines.iter().map(|line| ("x-forwarded-for", *line)).collect::<Vec<_>>()).0;
        assert_eq!(ip(&[b"192.0.2.9\xff"]), None);
        assert_eq!(ip(&[b"192.0.2.9, 10.0.0.2\x80"]), None);
        assert_eq!(ip(&["\u{661}92.0.2.9".as_bytes()]), None);
        assert_eq!(ip(&[b"\xff, 192.0.2.9, 10.0.0.2"]).as_deref(), Some("192.0.2.9"));
        assert_eq!(ip(&[b"\xff", b"192.0.2.9"]).as_deref(), Some("192.0.2.9"));
        assert_eq!(ip(&[b"192.0.2.9", b"\xff"]), None);
        assert_eq!(ip(&[b"192.0.2.9", b"\xff", b"10.0.0.2"]), None);
        // The proxy's own value is unknown, and the client's is not read in its place.
        assert!(!facts(&[("x-forwarded-proto", b"https"), ("x-forwarded-proto", b"http\xff")]).1);
        assert_eq!(facts(&[("x-forwarded-host", b"evil.example"), ("x-forwarded-host", b"shop\xe9.example")]).2, None);
    }

    #[test]
    fn a_host_and_a_prefix_that_are_none_count_for_nothing() {
        for host in ["a b", "a/b", "user@host", "a\"b", "", "..", "a:b"] {
            assert_eq!(origin("10.0.0.1", &[("x-forwarded-host", host)]).len(), 3, "{host}");
        }
        for prefix in ["//evil.example", "x", "/a?b", "/a#b", "/a b", "http://x", "/", ""] {
            assert_eq!(origin("10.0.0.1", &[("x-forwarded-prefix", prefix)])[1], "BASE=/run/shop", "{prefix}");
        }
        assert_eq!(origin("10.0.0.1", &[("x-forwarded-proto", "ftp")])[0], "SCHEME=http");
    }
}
