//! `[outbound] allow`: the hosts besides the sidecars that modules may call.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use http::uri::Scheme;

use crate::address::{AddressError, host_and_port};

/// One entry: `host`, `host:port`, or either after `http://` or `https://`. Without a port it means the scheme's
/// default port, without a scheme both schemes. An entry with an IP address also permits host names that resolve to it,
/// on the same port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    tls: Option<bool>,
    host: String,
    port: Option<u16>,
}

impl Allow {
    /// Parses an entry.
    ///
    /// # Errors
    ///
    /// [`AddressError::Allow`], with the text.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::Allow(text.to_string());
        let (tls, rest) = match text.split_once("://") {
            Some(("http", rest)) => (Some(false), rest),
            Some(("https", rest)) => (Some(true), rest),
            Some(_) => return Err(wrong()),
            None => (None, text),
        };
        let (host, port) = host_and_port(rest).ok_or_else(wrong)?;
        Ok(Self { tls, host: host.to_ascii_lowercase(), port })
    }

    fn matches(&self, to: &Outside) -> bool {
        self.host == to.host && self.matches_port(to)
    }

    fn matches_port(&self, to: &Outside) -> bool {
        let port = self.port.unwrap_or(if to.tls { 443 } else { 80 });
        port == to.port && self.tls.is_none_or(|tls| tls == to.tls)
    }

    /// Returns whether this is the address, and permits calls by a name that resolves to it, on the name's port and
    /// with its scheme.
    fn permits(&self, address: IpAddr, to: &Outside) -> bool {
        literal(&self.host).is_some_and(|own| own.to_canonical() == address.to_canonical()) && self.matches_port(to)
    }
}

/// A destination that is not a sidecar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outside {
    pub(crate) tls: bool,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Outside {
    /// Returns the destination of a URI with scheme and host.
    pub(crate) fn of(uri: &Uri) -> Option<Self> {
        let tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => false,
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            _ => return None,
        };
        let port = uri.port_u16().unwrap_or(if tls { 443 } else { 80 });
        Some(Self { tls, host: uri.host()?.to_ascii_lowercase(), port })
    }
}

/// Parses an IP address in the form of a URI, with IPv6 in brackets.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

/// All entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(pub(crate) Vec<Allow>);

impl Rules {
    pub(crate) fn allow(&self, to: &Outside) -> bool {
        self.0.iter().any(|rule| rule.matches(to))
    }

    /// Returns whether an allowed host name may resolve to an address: a public one, or one that is listed itself with
    /// this port and scheme. `localhost` may resolve to the loopback address.
    pub(crate) fn allow_address(&self, to: &Outside, address: IpAddr) -> bool {
        is_public(address)
            || (to.host == "localhost" && address.to_canonical().is_loopback())
            || self.0.iter().any(|rule| rule.permits(address, to))
    }
}

/// Returns whether an address belongs to the public Internet (the special-purpose registries of RFC 6890).
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || a >= 240
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // An address that contains an IPv4 address leads to that address.
    if let Some(v4) = address.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, documentation, and other parts of 2001::/23.
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        // All global unicast addresses are in 2000::/3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(uri: &str) -> Outside {
        Outside::of(&uri.parse().unwrap()).unwrap()
    }

    #[test]
    fn entries_stand_for_scheme_host_and_port() {
        let allows = |rule: &str, uri: &str| Rules(vec![Allow::parse(rule).unwrap()]).allow(&outside(uri));
        for uri in ["http://Api.test/", "https://api.test/x?y", "http://api.test:80/"] {
            assert!(allows("api.test", uri), "{uri}");
        }
        for uri in ["http://api.test:81/", "https://api.test:80/", "http://x.api.test/", "http://api.test.evil/"] {
            assert!(!allows("api.test", uri), "{uri}");
        }
        assert!(allows("https://api.test", "https://api.test/") && !allows("https://api.test", "http://api.test/"));
        assert!(allows("api.test:8080", "http://api.test:8080/") && !allows("api.test:8080", "http://api.test/"));
        assert!(allows("[::1]:9", "http://[::1]:9/") && allows("10.0.0.1", "http://10.0.0.1/"));
        for wrong in ["", "*.test", "ftp://x", "a/b", "http://a/b", "me@host", "host:0", "host:x", "a b"] {
            assert!(Allow::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_inside_are_not_public() {
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001::1",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for public in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101", "172.32.0.1", "100.128.0.1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn a_name_leads_inside_only_to_the_address_and_port_that_are_listed() {
        let allows = |entries: &[&str], uri: &str, address: &str| {
            let rules = Rules(entries.iter().map(|entry| Allow::parse(entry).unwrap()).collect());
            rules.allow_address(&outside(uri), address.parse().unwrap())
        };
        let both = ["api.test:9000", "10.0.0.5:8080"];
        assert!(!allows(&both, "http://api.test:9000/", "10.0.0.5"), "the name has another port than the address");
        assert!(allows(&both, "http://api.test:8080/", "10.0.0.5"));
        assert!(!allows(&["api.test"], "http://api.test/", "10.0.0.5"));
        assert!(allows(&["api.test", "10.0.0.5"], "http://api.test/", "10.0.0.5"));
        assert!(allows(&["api.test", "10.0.0.5"], "http://api.test/", "::ffff:10.0.0.5"));
        assert!(!allows(&["api.test", "10.0.0.5"], "http://api.test:8080/", "10.0.0.5"));
        assert!(!allows(&["api.test", "https://10.0.0.5:80"], "http://api.test/", "10.0.0.5"));
        assert!(allows(&["api.test", "[fd00::1]:80"], "http://api.test/", "fd00::1"));
        assert!(allows(&["localhost:9"], "http://localhost:9/", "127.0.0.1"));
        assert!(!allows(&["localhost"], "http://localhost/", "10.0.0.5"));
    }
}
