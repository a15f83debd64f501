//! Addresses of sidecars.

use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::net::lookup_host;

use super::guard_of;
use crate::ServicesError;
use crate::http::guard::Guard;
use crate::http::serve::Listener;

/// Members of the socket's group may connect, and no other users.
#[cfg(unix)]
const SOCKET_MODE: u32 = 0o660;

/// The address of a sidecar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A Unix socket, at an absolute path.
    Unix(PathBuf),
    /// `host:port`.
    Tcp(String),
}

impl Listen {
    /// Reads `unix:///run/db.sock`, `127.0.0.1:7001` or `http://127.0.0.1:7001`.
    ///
    /// # Errors
    ///
    /// An invalid address; the error shows valid ones.
    pub fn parse(text: &str) -> Result<Self, ServicesError> {
        let wrong = || {
            ServicesError::Config(format!("`{text}` is nowhere to listen: write unix:///run/db.sock or 127.0.0.1:7001"))
        };
        if let Some(path) = text.strip_prefix("unix://") {
            if cfg!(not(unix)) {
                return Err(ServicesError::Config(format!(
                    "`{text}` needs a Unix socket, which Tenon does not have on Windows: write 127.0.0.1:7001, and give \
                     a bearer token, because every user of the machine reaches it"
                )));
            }
            return if path.starts_with('/') && !path.ends_with('/') {
                Ok(Self::Unix(path.into()))
            } else {
                Err(wrong())
            };
        }
        let address = text.strip_prefix("http://").unwrap_or(text);
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let bracketed = host.starts_with('[') == host.ends_with(']') && (host.starts_with('[') || !host.contains(':'));
        if host.is_empty() || port.parse::<u16>().is_err() || host.contains('/') || !bracketed {
            return Err(wrong());
        }
        Ok(Self::Tcp(address.to_string()))
    }

    /// Looks the name of a host up.
    ///
    /// # Errors
    ///
    /// A name without an address, or an address that is beyond `reach`.
    pub(crate) async fn resolve(self, reach: Reach) -> Result<ListenAddress, ServicesError> {
        let address = match self {
            Self::Unix(path) => return Ok(ListenAddress::Unix(path)),
            Self::Tcp(address) => address,
        };
        let fail = |source| ServicesError::listen(address.clone(), source);
        let no_address = || fail(std::io::Error::other("the name has no address"));
        let found = lookup_host(&address).await.map_err(fail)?.next().ok_or_else(no_address)?;
        if reach == Reach::ThisMachine && !found.ip().is_loopback() {
            return Err(ServicesError::Config(format!(
                "other machines reach {address}, where every request would be answered: give a bearer token, in \
                 --token-file or TENON_SIDECAR_TOKEN, or --insecure"
            )));
        }
        Ok(ListenAddress::Tcp(found))
    }
}

/// The clients that may reach a sidecar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of this machine.
    ThisMachine,
    /// All, because requests need a token, or because the operator says so.
    Everyone,
}

/// An address without names.
pub(crate) enum ListenAddress {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

impl ListenAddress {
    /// Listens. Also returns the guard, and the address in the form of `tenon.toml`.
    pub(crate) async fn bind(self) -> Result<(Listener, Guard, String), ServicesError> {
        match self {
            #[cfg(not(unix))]
            Self::Unix(path) => {
                Err(ServicesError::listen(path.display().to_string(), std::io::ErrorKind::Unsupported.into()))
            }
            #[cfg(unix)]
            Self::Unix(path) => {
                let shown = format!("unix://{}", path.display());
                Ok((Listener::unix(&path, SOCKET_MODE)?, guard_of(false), shown))
            }
            Self::Tcp(address) => {
                Ok((Listener::tcp(address).await?, guard_of(address.ip().is_loopback()), String::new()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(Listen::parse("unix:///run/db.sock").unwrap(), Listen::Unix("/run/db.sock".into()));
        for address in ["127.0.0.1:0", "[::1]:7001", "localhost:7001", "0.0.0.0:80"] {
            assert_eq!(Listen::parse(address).unwrap(), Listen::Tcp(address.into()));
        }
        for wrong in
            ["unix://run/db.sock", "unix:///", "", ":80", "127.0.0.1", "::1:80", "127.0.0.1:99999", "http://a/b:1"]
        {
            assert!(Listen::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn other_machines_need_a_token() {
        let resolved = async |text, reach| Listen::parse(text).unwrap().resolve(reach).await;
        for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7001"] {
            let refused = resolved(open, Reach::ThisMachine).await.err().unwrap();
            assert_eq!(refused.code(), "CONFIG");
            assert!(refused.to_string().contains(&format!("other machines reach {open}")), "{refused}");
            assert!(resolved(open, Reach::Everyone).await.is_ok());
        }
        for own in ["127.0.0.1:0", "[::1]:0", "localhost:0", "unix:///run/a.sock"] {
            assert!(resolved(own, Reach::ThisMachine).await.is_ok(), "{own}");
        }
    }
}
