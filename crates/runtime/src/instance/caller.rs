//! The request on whose behalf an instance runs.

use std::sync::Arc;

use http::HeaderValue;

use crate::config::{Limits, size};
use crate::instance::log_budget::LogBudget;
use crate::metering::meter::Meter;
use crate::request::origin::Origin;
use crate::tape::Seam;
use crate::telemetry::transcript::Transcript;

/// The facts of a request that its calls and log lines bear.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) request_id: Arc<str>,
    /// Its trace context (W3C Trace Context), passed on in its calls.
    pub(crate) traceparent: Option<HeaderValue>,
    /// Where the request comes from.
    pub(crate) origin: Origin,
    /// Keeps its log and its calls, in development.
    pub(crate) transcript: Option<Arc<Transcript>>,
    /// The bytes that it may still cause in the log.
    pub(crate) log: LogBudget,
    /// The source of the values that the guest gets, and their recorder.
    pub(crate) seam: Seam,
    /// Counts its use, for the embedding program or a budget.
    pub(crate) meter: Option<Meter>,
}

impl Caller {
    /// Its meter, if that has limits, and keeps its log in place of the runtime.
    pub(crate) fn bounded(&self) -> Option<&Meter> {
        self.meter.as_ref().filter(|meter| meter.is_bounded())
    }

    /// The host itself, which calls a module on behalf of no client.
    pub(crate) fn host(request_id: &str, limits: &Limits) -> Self {
        let log = LogBudget::new(size(limits.max_log_bytes));
        Self {
            request_id: request_id.into(),
            traceparent: None,
            origin: Origin::default(),
            transcript: None,
            log,
            seam: Seam::Live,
            meter: None,
        }
    }
}
