//! Why a request got no response.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

/// Each message says which rule or limit it was, is fit for a log, and names no path, query or header.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The destination is neither a sidecar nor an allowed host. Nothing was sent.
    #[error("{destination} is refused: it is neither in [sidecars] nor in [outbound] allow of tenon.toml")]
    Refused {
        /// Scheme, host and port.
        destination: String,
    },
    /// An allowed host name leads to an address inside: a name is permission for a public service only, because whoever
    /// owns the name decides where it leads. Nothing was sent.
    #[error(
        "{host} is refused: it leads to {address}, which is not public; add that address to [outbound] allow in \
         tenon.toml if the host is meant to be inside"
    )]
    PrivateAddress {
        /// The host name.
        host: String,
        /// Where it leads.
        address: SocketAddr,
    },
    /// It failed so often that it is left alone for a while. Nothing was sent.
    #[error("{name} failed {failures} times in a row and is left alone for another {} ms", .retry_in.as_millis())]
    Open {
        /// The sidecar's name, or the host.
        name: String,
        /// Failures in a row.
        failures: u32,
        /// Until when.
        retry_in: Duration,
    },
    /// Too many requests to it are under way. Nothing was sent.
    #[error("{name} is busy: {limit} calls are under way (max_concurrent_per_sidecar)")]
    Busy {
        /// The sidecar's name, or the host.
        name: String,
        /// How many are allowed.
        limit: usize,
    },
    /// The host name has no address. Nothing was sent.
    #[error("{name} cannot be resolved: {source}")]
    Resolve {
        /// The sidecar's name, or the host.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// It does not accept connections. Nothing was sent.
    #[error("{name} cannot be reached: {source}")]
    Connect {
        /// The sidecar's name, or the host.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The answer did not begin in time.
    #[error("{name} did not answer within {} ms", .after.as_millis())]
    Timeout {
        /// The sidecar's name, or the host.
        name: String,
        /// How long it was given.
        after: Duration,
    },
    /// The connection broke, or what came back was no HTTP.
    #[error("the exchange with {name} failed: {source}")]
    Exchange {
        /// The sidecar's name, or the host.
        name: String,
        /// What happened.
        source: hyper::Error,
    },
}

impl SendError {
    /// A stable name of the kind of failure, for metrics.
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

    /// Whether nothing of the request has left this process.
    #[must_use]
    pub fn nothing_sent(&self) -> bool {
        !matches!(self, Self::Timeout { .. } | Self::Exchange { .. })
    }
}
