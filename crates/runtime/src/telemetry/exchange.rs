//! One request from its head to its answer: its entries in the log, the metrics and the list of recent requests.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, StatusCode};

use crate::request::request_id;
use crate::tape::Recorder;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::module_info::ModuleInfo;
use crate::telemetry::otlp::{Answered, Otlp, Span};
use crate::telemetry::recent::{Noted, Recent};
use crate::telemetry::trace;
use crate::telemetry::transcript::Transcript;

/// The recorded status when a client disconnects before its answer. HTTP has no such status, but other servers use this
/// number.
const CLIENT_CLOSED: u16 = 499;

/// Metrics, recent requests, traces and the access log of exchanges.
pub(crate) struct Telemetry {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) recent: Recent,
    pub(crate) access_log: bool,
    /// Where traces go, if anywhere.
    pub(crate) otlp: Option<Otlp>,
    /// `http`, or `https` where a certificate is configured.
    pub(crate) scheme: &'static str,
}

/// An exchange that is going on. It is noted once: by [`Exchange::finish`], or as given up by the client when it is
/// dropped before.
pub(crate) struct Exchange {
    telemetry: Arc<Telemetry>,
    pub(crate) id: Arc<str>,
    method: Method,
    path: Option<PathAndQuery>,
    time: SystemTime,
    started: Instant,
    /// The module that is called, once it is known.
    pub(crate) module: Option<Arc<ModuleInfo>>,
    /// The trace context for calls on its behalf: below its own span if there is one, else below the client's.
    pub(crate) traceparent: Option<HeaderValue>,
    span: Option<Span>,
    /// Reports whether it is among the recent requests.
    pub(crate) listed: bool,
    /// The transcript of the request, in development.
    pub(crate) transcript: Option<Arc<Transcript>>,
    /// Records the request for a replay.
    pub(crate) recorder: Option<Arc<Recorder>>,
    finished: bool,
}

impl Exchange {
    pub(crate) fn begin<B>(telemetry: &Arc<Telemetry>, request: &Request<B>) -> Self {
        let parent = trace::parent(request.headers());
        let span = match &telemetry.otlp {
            Some(_) => Otlp::begin(parent.as_ref().and_then(|value| value.to_str().ok())),
            None => None,
        };
        Self {
            telemetry: Arc::clone(telemetry),
            id: request_id::of(request.headers()),
            method: request.method().clone(),
            path: request.uri().path_and_query().cloned(),
            time: SystemTime::now(),
            started: Instant::now(),
            module: None,
            traceparent: span.as_ref().and_then(Span::traceparent).or(parent),
            span,
            listed: true,
            transcript: telemetry.recent.begin(request),
            recorder: None,
            finished: false,
        }
    }

    /// Notes the answer.
    pub(crate) fn finish(mut self, status: StatusCode) {
        self.note(status);
    }

    fn note(&mut self, status: StatusCode) {
        self.finished = true;
        let duration = self.started.elapsed();
        if let Some(recorder) = self.recorder.take() {
            recorder.answered(status, duration);
        }
        let module = self.module.take();
        match &module {
            Some(module) => module.metrics.answered(&self.method, status, duration),
            None => self.telemetry.metrics.count_other(&self.method, status.as_u16()),
        }
        let noted = Noted {
            id: Arc::clone(&self.id),
            time: self.time,
            module: module.map(|module| Arc::clone(&module.name)),
            method: std::mem::take(&mut self.method),
            path: self.path.take(),
            status,
            duration,
            transcript: self.transcript.take(),
        };
        if let (Some(otlp), Some(span)) = (&self.telemetry.otlp, self.span.take()) {
            let answered = Answered {
                request_id: &noted.id,
                method: &noted.method,
                scheme: self.telemetry.scheme,
                path: noted.path(),
                module: noted.module.as_deref(),
                status,
                time: noted.time,
                duration,
            };
            otlp.end(span, &answered);
        }
        if self.telemetry.access_log {
            tracing::info!(
                target: "access",
                method = noted.method.as_str(),
                path = noted.path(),
                status = status.as_u16(),
                duration_ms = duration.as_secs_f64() * 1000.0,
                request_id = &*noted.id,
                module = noted.module.as_deref(),
                "request"
            );
        }
        if self.listed {
            self.telemetry.recent.note(noted);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.finished
            && let Ok(status) = StatusCode::from_u16(CLIENT_CLOSED)
        {
            self.note(status);
        }
    }
}
