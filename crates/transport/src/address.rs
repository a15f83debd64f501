//! Addresses of sidecars, and their names for modules.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;

use http::Uri;
use thiserror::Error;

use crate::in_process::InProcess;

/// Address of a sidecar in the form of `tenon.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `http://host:port`. The port is 80 when none is given.
    Tcp {
        /// A name or an IP address.
        host: String,
        /// 1 to 65535.
        port: u16,
    },
    /// `unix:///run/db.sock`: the absolute path of a socket.
    Unix(PathBuf),
    /// A sidecar in this process, which has no text form.
    InProcess(InProcess),
}

/// The reason why an address cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressError {
    /// Neither `http://` nor `unix://`.
    #[error("`{0}` is not a sidecar address: write http://host:port or unix:///path/to.sock")]
    Scheme(String),
    /// `unix://` without an absolute path.
    #[error("`{0}` has no absolute path: write unix:///path/to.sock, with three slashes")]
    RelativeSocket(String),
    /// `unix://` on a system without such sockets.
    #[error(
        "`{0}` needs a Unix socket, which Tenon does not have on Windows: write http://127.0.0.1:port, with a token"
    )]
    NoSockets(String),
    /// The host is missing, or there are a path or credentials.
    #[error("`{0}` must be http://host:port: credentials, path and query belong elsewhere")]
    Authority(String),
    /// An entry of `[outbound] allow` that is not a host.
    #[error("`{0}` is not an outbound host: write host, host:port, or either after http:// or https://")]
    Allow(String),
    /// A name that cannot be part of a variable's name.
    #[error("`{0}` is not a sidecar name: use letters, digits, `_` and `-`, beginning with a letter")]
    Name(String),
}

impl Address {
    /// Parses `http://host[:port]` or `unix:///path`.
    ///
    /// # Errors
    ///
    /// An [`AddressError`] that quotes the text, without credentials, and shows the valid form. Windows has no Unix sockets here.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix://") {
            return if cfg!(not(unix)) {
                Err(AddressError::NoSockets(text.to_string()))
            } else if path.starts_with('/') && path.len() > 1 {
                Ok(Self::Unix(PathBuf::from(path)))
            } else {
                Err(AddressError::RelativeSocket(text.to_string()))
            };
        }
        let Some(rest) = text.strip_prefix("http://") else { return Err(AddressError::Scheme(shown(text))) };
        match host_and_port(rest.strip_suffix('/').unwrap_or(rest)) {
            Some((host, port)) => Ok(Self::Tcp { host: host.to_string(), port: port.unwrap_or(80) }),
            None => Err(AddressError::Authority(shown(text))),
        }
    }
}

impl fmt::Display for Address {
    /// Writes the form of `tenon.toml`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "http://{host}:{port}"),
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::InProcess(_) => f.write_str("the sidecar of this process"),
        }
    }
}

/// The text for an error. The URL of a store in the place of an address has a password.
fn shown(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, rest)), Some((_, host))) if rest.contains('@') => format!("{scheme}://…@{host}"),
        _ => text.to_string(),
    }
}

/// Splits `host` or `host:port`. A host is a name of letters, digits, `.`, `-` and `_`, an IPv4 address, or an IPv6
/// address in brackets. A port has at most five digits. `cli/src/project/config/addresses.ts` has the same rules, and
/// is fuzzed against these.
pub(crate) fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match text.find(']') {
        Some(end) => text.split_at(end + 1),
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let fits = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')),
    };
    let port = match rest.strip_prefix(':') {
        None if rest.is_empty() => None,
        Some(digits) if digits.len() <= 5 && digits.bytes().all(|c| c.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port != 0)?)
        }
        _ => return None,
    };
    fits.then_some((host, port))
}

/// A service that modules may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    name: String,
    pub(crate) address: Address,
}

impl Sidecar {
    /// Makes a sidecar called `name` at `address`.
    ///
    /// # Errors
    ///
    /// [`AddressError::Name`] unless the name is made of letters, digits, `_` and `-` and begins with a letter.
    pub fn new(name: &str, address: Address) -> Result<Self, AddressError> {
        let fits = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if fits { Ok(Self { name: name.to_string(), address }) } else { Err(AddressError::Name(name.to_string())) }
    }

    /// Returns the name from the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its address.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns `host:port` as modules call it. A Unix socket and a sidecar in this process have no such name, so they
    /// get one that only this crate resolves: `<name>.sidecar.internal`.
    pub(crate) fn authority(&self) -> String {
        match &self.address {
            Address::Tcp { host, port } => format!("{}:{port}", host.to_ascii_lowercase()),
            Address::Unix(_) | Address::InProcess(_) => {
                format!("{}.sidecar.internal:80", self.name.to_ascii_lowercase().replace('_', "-"))
            }
        }
    }

    /// Returns name and value of its environment variable. The sidecar `db` has `SIDECAR_DB_URL`.
    pub(crate) fn variable(&self) -> (String, String) {
        let name = self.name.to_ascii_uppercase().replace('-', "_");
        let authority = self.authority();
        (format!("SIDECAR_{name}_URL"), format!("http://{}", authority.strip_suffix(":80").unwrap_or(&authority)))
    }
}

/// Returns `host:port` of a URI in the form of [`Sidecar::authority`].
pub(crate) fn authority_of(uri: &Uri) -> Option<String> {
    let host = uri.host()?.to_ascii_lowercase();
    Some(format!("{host}:{}", uri.port_u16().unwrap_or(80)))
}
