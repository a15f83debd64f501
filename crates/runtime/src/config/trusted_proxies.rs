//! The proxies that report where a request comes from.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::config::error::ConfigError;

/// The addresses of proxies whose `X-Forwarded-*` headers are believed.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// Parses addresses such as `10.0.0.7` and `::1`, and networks such as `10.0.0.0/8`.
    ///
    /// # Errors
    ///
    /// The first entry that is neither.
    pub fn parse<T: AsRef<str>>(entries: &[T]) -> Result<Self, ConfigError> {
        let parse = |entry: &T| {
            let entry = entry.as_ref();
            let address = entry.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
            address.or_else(|_| entry.parse::<IpNet>()).map_err(|_| ConfigError::TrustedProxy(entry.to_string()))
        };
        entries.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Reports whether the address is one of them.
    pub(crate) fn contain(&self, address: IpAddr) -> bool {
        !self.0.is_empty() && {
            let address = address.to_canonical();
            self.0.iter().any(|net| net.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_addresses_or_networks() {
        assert!(TrustedProxies::parse(&["10.0.0.0/8", "::1", "127.0.0.1", "fd00::/8"]).is_ok());
        for wrong in ["", "10.0.0", "localhost", "10.0.0.0/33", "*"] {
            assert!(TrustedProxies::parse(&[wrong]).unwrap_err().to_string().contains(&format!("\"{wrong}\"")));
        }
    }
}
