//! One request as a span, with the attributes that OpenTelemetry's semantic conventions name for HTTP servers.

use std::time::{Duration, SystemTime};

use http::{HeaderValue, Method, StatusCode};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

/// A span that has begun.
pub(crate) struct Span {
    pub(super) context: SpanContext,
    pub(super) parent: SpanId,
}

/// Facts about a request at its end.
pub(crate) struct Answered<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) method: &'a Method,
    pub(crate) scheme: &'static str,
    /// Without the query, which may contain secrets.
    pub(crate) path: &'a str,
    pub(crate) module: Option<&'a str>,
    pub(crate) status: StatusCode,
    pub(crate) time: SystemTime,
    pub(crate) duration: Duration,
}

impl Span {
    /// The `traceparent` of whatever is called on behalf of this request.
    pub(crate) fn traceparent(&self) -> Option<HeaderValue> {
        let (trace_id, span_id) = (self.context.trace_id(), self.context.span_id());
        HeaderValue::try_from(format!("00-{trace_id}-{span_id}-01")).ok()
    }

    pub(super) fn data(self, answered: &Answered<'_>) -> SpanData {
        let method = known(answered.method);
        let route = answered.module.map(|module| format!("/run/{module}/*"));
        let mut attributes = vec![
            KeyValue::new("http.request.method", method),
            KeyValue::new("url.scheme", answered.scheme),
            KeyValue::new("url.path", answered.path.to_string()),
            KeyValue::new("http.response.status_code", i64::from(answered.status.as_u16())),
            KeyValue::new("tenon.request_id", answered.request_id.to_string()),
        ];
        if method == OTHER {
            attributes.push(KeyValue::new("http.request.method_original", answered.method.to_string()));
        }
        if let Some(module) = answered.module {
            attributes.push(KeyValue::new("tenon.module", module.to_string()));
        }
        let failed = answered.status.is_server_error();
        if failed {
            attributes.push(KeyValue::new("error.type", answered.status.as_str().to_string()));
        }
        // A name must have few values, which the path has not.
        let verb = if method == OTHER { "HTTP" } else { method };
        let name = match route {
            Some(route) => {
                let name = format!("{verb} {route}");
                attributes.push(KeyValue::new("http.route", route));
                name.into()
            }
            None => verb.into(),
        };
        SpanData {
            span_context: self.context,
            parent_span_id: self.parent,
            parent_span_is_remote: self.parent != SpanId::INVALID,
            span_kind: SpanKind::Server,
            name,
            start_time: answered.time,
            end_time: answered.time + answered.duration,
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: if failed { Status::error("") } else { Status::Unset },
            instrumentation_scope: InstrumentationScope::builder("tenon")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
        }
    }
}

const OTHER: &str = "_OTHER";

/// The method when it is a usual one: clients may make up others without end.
fn known(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => OTHER,
    }
}
