//! The task that sends spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper_rustls::HttpsConnectorBuilder;
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::error::RuntimeError;

/// Spans sent at once.
const BATCH: usize = 512;

/// How long a span waits for others.
const PAUSE: Duration = Duration::from_secs(1);

/// Time limit of a batch, including retries.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) enum Message {
    Span(Box<SpanData>),
    /// Sends all queued spans, and reports the end.
    Flush(oneshot::Sender<()>),
}

/// Counts spans that could not be sent, until the log has said so.
#[derive(Clone, Default)]
pub(super) struct Lost(Arc<AtomicUsize>);

impl Lost {
    pub(super) fn add(&self, spans: usize) {
        self.0.fetch_add(spans, Ordering::Relaxed);
    }
}

pub(super) struct Sender {
    exporter: SpanExporter,
    endpoint: String,
    batch: Vec<SpanData>,
    lost: Lost,
}

impl Sender {
    pub(super) fn new(endpoint: &str) -> Result<Self, RuntimeError> {
        let wrong = |why: &str| RuntimeError::Config(format!("otlp_endpoint is \"{endpoint}\": {why}"));
        let uri: http::Uri = endpoint.parse().map_err(|_| wrong("it is not a URL"))?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme));
        let Some(scheme) = scheme.filter(|_| uri.host().is_some_and(|host| !host.is_empty()) && uri.query().is_none())
        else {
            return Err(wrong("it must be http://host:port or https://host:port of a collector"));
        };
        let endpoint = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        let builder = SpanExporter::builder()
            .with_http()
            .with_endpoint(&endpoint)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(TIMEOUT);
        let builder = if scheme == "https" {
            let tls = tenon_transport::tls_client().map_err(|error| wrong(&error.to_string()))?;
            let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1().build();
            builder.with_http_client(HyperClient::new(connector, TIMEOUT, None))
        } else {
            builder.with_http_client(HyperClient::with_default_connector(TIMEOUT, None))
        };
        let mut exporter = builder.build().map_err(|error| wrong(&error.to_string()))?;
        let service = std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty());
        exporter.set_resource(
            &Resource::builder().with_service_name(service.unwrap_or_else(|| "tenon".to_string())).build(),
        );
        Ok(Self { exporter, endpoint, batch: Vec::new(), lost: Lost::default() })
    }

    pub(super) fn lost(&self) -> Lost {
        self.lost.clone()
    }

    /// Sends until no sender of spans is left, and then the remaining ones.
    pub(super) async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        let mut due = None;
        loop {
            let message = match due {
                None => messages.recv().await,
                Some(at) => match tokio::time::timeout_at(at, messages.recv()).await {
                    Ok(message) => message,
                    Err(_) => {
                        self.send().await;
                        due = None;
                        continue;
                    }
                },
            };
            match message {
                Some(Message::Span(span)) => {
                    self.batch.push(*span);
                    due = due.or_else(|| Some(Instant::now() + PAUSE));
                    if self.batch.len() >= BATCH {
                        self.send().await;
                        due = None;
                    }
                }
                Some(Message::Flush(done)) => {
                    self.send().await;
                    due = None;
                    // The caller may be gone.
                    let _ = done.send(());
                }
                None => return self.send().await,
            }
        }
    }

    async fn send(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        let spans = batch.len();
        if let Err(error) = self.exporter.export(batch).await {
            self.lost.add(spans);
            tracing::warn!(endpoint = self.endpoint, "traces could not be sent: {error}");
        }
        let lost = self.lost.0.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(endpoint = self.endpoint, "{lost} spans were lost");
        }
    }
}
