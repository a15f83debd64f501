//! Counts and durations of requests, for Prometheus.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use super::problem::Problem;
use crate::kind::Answers;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    route: String,
    method: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// The counters of one server.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    answers: Family<AnswerLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
}

impl Metrics {
    /// Makes the metrics of a server.
    pub fn new(answers_of: &Answers) -> Self {
        let answers = Family::<AnswerLabels, Counter>::default();
        // From 100 µs to 26 s.
        let durations = Family::<RouteLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.000_1, 4.0, 10))
        });
        let mut registry = Registry::with_prefix("tenon_sidecar");
        registry.register("requests", "Requests answered, by route, method and status", answers.clone());
        if let Answers::OfUpstream { retried } = answers_of {
            registry.register("upstream_retries", "Attempts beyond each request's first", retried.clone());
        }
        registry.register("request_duration_seconds", "Time until the answer's head", durations.clone());
        Self { registry: Arc::new(registry), answers, durations }
    }
}

/// The label of a response's route, in place of the pattern of its path.
#[derive(Clone)]
pub struct RouteLabel(pub Arc<str>);

/// Counts and times a request. The label is the route's pattern, because the client's text must not become one.
pub async fn count(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let pattern = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let method = match request.method().as_str() {
        known @ ("GET" | "HEAD" | "PUT" | "POST" | "PATCH" | "DELETE" | "OPTIONS") => known.to_owned(),
        _ => "other".to_owned(),
    };
    let response = next.run(request).await;
    let label = response.extensions().get::<RouteLabel>().map(|label| label.0.as_ref().to_owned());
    let route = label.or(pattern).unwrap_or_else(|| "none".to_owned());
    metrics.durations.get_or_create(&RouteLabels { route: route.clone() }).observe(started.elapsed().as_secs_f64());
    metrics.answers.get_or_create(&AnswerLabels { route, method, status: response.status().as_u16() }).inc();
    response
}

/// `GET /metrics`.
pub async fn read(State(metrics): State<Metrics>) -> Response {
    let mut text = String::new();
    match encode(&mut text, &metrics.registry) {
        Ok(()) => {
            ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response()
        }
        Err(error) => Problem::internal(error).into_response(),
    }
}
