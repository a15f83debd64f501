//! Values of a configuration that a runtime refuses.

use thiserror::Error;

/// A value that cannot be used. Each message names the key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No limit has this name.
    #[error("there is no limit {0}")]
    UnknownLimit(String),
    /// A limit is outside of its range.
    #[error("{name} is {value}: it must be a whole number from {min} to {max}")]
    LimitOutOfRange {
        /// The limit's name.
        name: &'static str,
        /// The value given.
        value: u64,
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
    },
    /// A module would have more concurrent requests than the server, or none.
    #[error("max_concurrent is {value}: it must be a whole number from 1 to {most}, the server's")]
    ConcurrentOfModule {
        /// The value given.
        value: u64,
        /// The server's value.
        most: u64,
    },
    /// A module has a limit that only the server may have.
    #[error("{0} is a limit of the server, and not of a module")]
    LimitOfServer(String),
    /// A module has a limit above the server's, whose buffers have room for its own only.
    #[error("{name} is {value}: it must be at most {most}, the server's")]
    LimitAboveServer {
        /// The limit's name.
        name: &'static str,
        /// The value given.
        value: u64,
        /// The server's value.
        most: u64,
    },
    /// The buffers have no room for a few of the largest bodies.
    #[error(
        "max_buffered_bytes is {value}: it must be at least {least}, which is 1 MiB and three times the larger of \
         max_body_bytes and max_response_bytes; or 0"
    )]
    BufferTooSmall {
        /// The value given.
        value: u64,
        /// The smallest value.
        least: u64,
    },
    /// There is no such isolation.
    #[error("isolation is \"{0}\": it must be \"request\" or \"shared\"")]
    Isolation(String),
    /// An entry of `trusted_proxies` is neither an address nor a network.
    #[error("trusted_proxies: \"{0}\" must be an address such as 10.0.0.7 or a network such as 10.0.0.0/8")]
    TrustedProxy(String),
}
