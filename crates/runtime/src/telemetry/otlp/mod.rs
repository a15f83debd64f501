//! Traces to a collector over OTLP (HTTP and protobuf): one span for each request.
//!
//! Spans go through a queue to a task that sends them in batches, so that no request waits for a collector; spans
//! beyond the queue's limit are dropped and counted in the log. The batch processor of the SDK would need a thread of
//! its own and does not work with a client on tokio.

mod sender;
mod span;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};
use tokio::sync::{mpsc, oneshot};

pub(crate) use span::{Answered, Span};

use crate::error::RuntimeError;
use sender::{Message, Sender};

/// Spans that wait to be sent.
const QUEUE: usize = 4_096;

/// The way to a collector.
pub(crate) struct Otlp {
    queue: mpsc::Sender<Message>,
    lost: sender::Lost,
}

impl Otlp {
    /// Sends to `<endpoint>/v1/traces`. Headers, such as those that authenticate, are taken from
    /// `OTEL_EXPORTER_OTLP_HEADERS`, and the service's name from `OTEL_SERVICE_NAME`, as everywhere with OpenTelemetry.
    ///
    /// # Errors
    ///
    /// The endpoint does not begin with `http://` or `https://`, or there is no certificate authority for the latter.
    pub(crate) fn start(endpoint: &str) -> Result<Self, RuntimeError> {
        let (queue, messages) = mpsc::channel(QUEUE);
        let sender = Sender::new(endpoint)?;
        let lost = sender.lost();
        tokio::spawn(sender.run(messages));
        Ok(Self { queue, lost })
    }

    /// A span's identity: in the trace of `parent` (a well-formed `traceparent`), or at the start of a new one. None when
    /// the caller has decided that this trace is not recorded.
    pub(crate) fn begin(parent: Option<&str>) -> Option<Span> {
        let ids = RandomIdGenerator::default();
        let (trace_id, parent) = match parent.map(ids_of) {
            Some(Some((trace_id, parent, true))) => (trace_id, parent),
            Some(Some((_, _, false))) => return None,
            Some(None) | None => (ids.new_trace_id(), SpanId::INVALID),
        };
        let context = SpanContext::new(trace_id, ids.new_span_id(), TraceFlags::SAMPLED, false, TraceState::default());
        Some(Span { context, parent })
    }

    /// Hands a span over to be sent.
    pub(crate) fn end(&self, span: Span, answered: &Answered<'_>) {
        if self.queue.try_send(Message::Span(Box::new(span.data(answered)))).is_err() {
            self.lost.add(1);
        }
    }

    /// Resolves when everything that has ended so far is sent, or could not be.
    pub(crate) async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            // The task ends only with the Tokio runtime, and then no caller waits here.
            let _ = flushed.await;
        }
    }
}

/// The trace, the caller's span and whether it is recorded.
fn ids_of(traceparent: &str) -> Option<(TraceId, SpanId, bool)> {
    let trace_id = TraceId::from_hex(traceparent.get(3..35)?).ok()?;
    let span_id = SpanId::from_hex(traceparent.get(36..52)?).ok()?;
    let flags = u8::from_str_radix(traceparent.get(53..55)?, 16).ok()?;
    Some((trace_id, span_id, flags & 1 == 1))
}

#[cfg(test)]
mod tests;
