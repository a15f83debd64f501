//! Settings of a transport.

use std::time::Duration;

/// Settings of a transport. Every limit is per destination.
#[derive(Clone, Debug)]
pub struct TransportConfig {
    /// Time limit to connect; also the time that a request waits for a permit.
    pub connect_timeout: Duration,
    /// Time limit from a request to the head of its response, and between two pieces of its body.
    pub response_timeout: Duration,
    /// Maximum number of requests at once.
    pub max_concurrent: usize,
    /// Failures in a row after which a destination is left alone.
    pub breaker_failures: u32,
    /// First pause of a failing destination. A sidecar is called again as soon as it gives a sign of life.
    pub breaker_pause: Duration,
}
