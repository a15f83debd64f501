//! The name of a module, and the records that are kept under it.

use std::sync::Arc;

use crate::telemetry::metrics::ModuleMetrics;
use crate::telemetry::source_map::SourceMap;

/// Facts about a module for code that acts on its behalf.
pub(crate) struct ModuleInfo {
    /// The `<module>` of `/run/<module>/*`.
    pub(crate) name: Arc<str>,
    /// Its counters.
    pub(crate) metrics: ModuleMetrics,
    /// Where its code comes from.
    pub(crate) source_map: SourceMap,
}
