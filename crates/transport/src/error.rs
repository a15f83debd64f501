//! Why a request to a sidecar got no response.

use thiserror::Error;

/// The three things that can happen; each message is fit for a log and names no path, query or header.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The destination is no sidecar of this runtime. Nothing was sent.
    #[error("{destination} is no sidecar of this runtime; add it to [sidecars] in tenon.toml")]
    Refused {
        /// Scheme, host and port.
        destination: String,
    },
    /// The sidecar does not accept connections.
    #[error("the sidecar cannot be reached: {0}")]
    Connect(#[source] hyper_util::client::legacy::Error),
    /// The connection broke, or what came back was no HTTP.
    #[error("the exchange with the sidecar failed: {0}")]
    Exchange(#[source] hyper_util::client::legacy::Error),
}

impl From<hyper_util::client::legacy::Error> for SendError {
    fn from(error: hyper_util::client::legacy::Error) -> Self {
        if error.is_connect() { Self::Connect(error) } else { Self::Exchange(error) }
    }
}
