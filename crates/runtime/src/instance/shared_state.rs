//! The state that all instances of a module share.

use std::sync::Arc;

use tenon_transport::{Allow, Sidecar, Transport};
use wasmtime_wasi_http::WasiBody;

use crate::config::{Isolation, Limits};
use crate::instance::masks::Masks;
use crate::telemetry::metrics::Metrics;

/// The part of a store's state that all instances of a module share, and that no other module has.
pub(crate) struct SharedState {
    pub(crate) environment: Vec<(String, String)>,
    /// The secrets of the environment, for log lines.
    pub(crate) masks: Arc<Masks>,
    pub(crate) transport: Transport<WasiBody>,
    pub(crate) limits: Limits,
    pub(crate) isolation: Isolation,
    pub(crate) metrics: Arc<Metrics>,
    /// The sidecars that `transport` reaches.
    pub(crate) sidecars: Vec<Sidecar>,
    pub(crate) allow: Vec<Allow>,
    /// The fence between modules that a test has taken out.
    #[cfg(test)]
    pub(crate) without: Option<crate::crossing::fence::Fence>,
    /// The most bytes that the host has held for a request of the module.
    #[cfg(test)]
    pub(crate) peak: Arc<std::sync::atomic::AtomicUsize>,
}

impl SharedState {
    /// Reports whether a module finds the same in both.
    pub(crate) fn are_like(&self, others: &Self) -> bool {
        let Self { environment, masks: _, transport: _, limits, isolation, metrics: _, sidecars, allow, .. } = self;
        let reach = (sidecars, allow) == (&others.sidecars, &others.allow);
        reach && (environment, limits, isolation) == (&others.environment, &others.limits, &others.isolation)
    }
}
