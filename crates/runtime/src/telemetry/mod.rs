//! The records of exchanges: metrics, traces, log lines and recent requests.

pub(crate) mod exchange;
pub(crate) mod metrics;
pub(crate) mod module_info;
pub(crate) mod otlp;
pub(crate) mod recent;
pub(crate) mod source_map;
pub(crate) mod trace;
pub(crate) mod transcript;
