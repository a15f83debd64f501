//! The limits of outbound calls, as the transport takes them.

use tenon_transport::TransportConfig;

use super::limits::{Limits, count, ms, size};

/// The limits of outbound calls.
pub(crate) fn transport_config(limits: &Limits) -> TransportConfig {
    TransportConfig {
        connect_timeout: ms(limits.connect_timeout_ms),
        response_timeout: ms(limits.outbound_timeout_ms),
        max_concurrent: size(limits.max_concurrent_per_sidecar),
        breaker_failures: count(limits.breaker_failures),
        breaker_pause: ms(limits.breaker_pause_ms),
    }
}
