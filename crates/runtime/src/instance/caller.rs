//! The request on whose behalf an instance runs.

use std::sync::Arc;

use http::HeaderValue;

use crate::request::origin::Origin;
use crate::telemetry::recording::Recording;

/// The facts of a request that its calls and log lines bear.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) request_id: Arc<str>,
    /// Its trace context (W3C Trace Context), passed on in its calls.
    pub(crate) traceparent: Option<HeaderValue>,
    /// Where the request comes from.
    pub(crate) origin: Origin,
    /// Keeps its log and its calls, in development.
    pub(crate) recording: Option<Arc<Recording>>,
}
