//! Errors of outbound requests.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

/// The reason why a request got no response. Each message names the rule or limit, and no path, query or header, so it
/// is fit for a log.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The destination is neither a sidecar nor an allowed host. Nothing was sent.
    #[error("{destination} is refused: it must be in `outbound.allow`, unless it is a sidecar")]
    Refused {
        /// Scheme, host and port.
        destination: String,
    },
    /// An allowed host name resolves to an address inside. A name permits only a public service, because its owner
    /// decides where it leads. Nothing was sent.
    #[error(
        "{host} is refused: it leads to {address}, which is not public; add that address to \
         `outbound.allow` if the host is meant to be inside"
    )]
    PrivateAddress {
        /// The host name.
        host: String,
        /// The resolved address.
        address: SocketAddr,
    },
    /// It failed repeatedly and is left alone for a while. Nothing was sent.
    #[error("{name} failed {failures} times in a row and is left alone for another {} ms", .retry_in.as_millis())]
    Open {
        /// The sidecar's name, or the host.
        name: String,
        /// Failures in a row.
        failures: u32,
        /// Rest of the pause.
        retry_in: Duration,
    },
    /// Too many requests to it are in progress. Nothing was sent.
    #[error("{name} is busy: {limit} calls are in progress (max_concurrent_per_sidecar)")]
    Busy {
        /// The sidecar's name, or the host.
        name: String,
        /// The limit.
        limit: usize,
    },
    /// The host name has no address. Nothing was sent.
    #[error("{name} cannot be resolved: {source}")]
    Resolve {
        /// The sidecar's name, or the host.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// It does not accept connections. Nothing was sent.
    #[error("{name} cannot be reached: {source}")]
    Connect {
        /// The sidecar's name, or the host.
        name: String,
        /// The socket, or the host and port, for the operator alone: [`SendError::located`].
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The answer did not begin in time.
    #[error("{name} did not answer within {} ms", .after.as_millis())]
    Timeout {
        /// The sidecar's name, or the host.
        name: String,
        /// The timeout.
        after: Duration,
    },
    /// The connection broke, or the response was not HTTP.
    #[error("the exchange with {name} failed: {source}")]
    Exchange {
        /// The sidecar's name, or the host.
        name: String,
        /// hyper's error.
        source: hyper::Error,
    },
}

impl SendError {
    /// The error with the address that could not be reached, for the operator's log. A guest must not learn it.
    #[must_use]
    pub fn located(&self) -> String {
        match self {
            Self::Connect { name, address, source } => format!("{name} cannot be reached at {address}: {source}"),
            other => other.to_string(),
        }
    }

    /// Returns a stable name of the variant, for metrics.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::PrivateAddress { .. } => "private_address",
            Self::Open { .. } => "circuit_open",
            Self::Busy { .. } => "busy",
            Self::Resolve { .. } => "resolve",
            Self::Connect { .. } => "connect",
            Self::Timeout { .. } => "timeout",
            Self::Exchange { .. } => "exchange",
        }
    }

    /// Returns whether no part of the request has left this process.
    #[must_use]
    pub fn nothing_sent(&self) -> bool {
        !matches!(self, Self::Timeout { .. } | Self::Exchange { .. })
    }
}
