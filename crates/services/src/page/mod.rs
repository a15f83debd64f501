//! The page of the development services: one file without a framework, which uses the public routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tenon_service::host::{Host, HostSlot, SentAgain};
use tenon_service::http::problem::Problem;

const PAGE: &str = include_str!("page.html");

/// Allows the page's own scripts and styles, and requests to its origin.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `/`, and the parts of it that come from the runtime.
pub(crate) fn routes(host: HostSlot) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/runtime", get(runtime))
        .route("/runtime/requests/{transcript}", get(transcript))
        .route("/runtime/requests/{transcript}/again", post(send_again))
        .with_state(host)
}

async fn page() -> Response {
    let headers =
        [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-store")];
    (headers, PAGE).into_response()
}

/// The modules and the last requests; empty without a runtime.
async fn runtime(State(host): State<HostSlot>) -> axum::Json<Value> {
    axum::Json(match host.get() {
        Some(host) => json!({ "url": host.url(), "modules": host.modules(), "requests": host.recent_requests() }),
        None => json!({ "url": null, "modules": [], "requests": [] }),
    })
}

/// One of the last requests with its transcript.
async fn transcript(State(host): State<HostSlot>, Path(transcript): Path<String>) -> Result<Response, Problem> {
    let (host, transcript) = find(&host, &transcript)?;
    let json = host.transcript(transcript).ok_or_else(gone)?;
    Ok(([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], json).into_response())
}

/// Replays one of the last requests.
async fn send_again(
    State(host): State<HostSlot>,
    Path(transcript): Path<String>,
) -> Result<axum::Json<SentAgain>, Problem> {
    let (host, transcript) = find(&host, &transcript)?;
    if host.transcript(transcript).is_none() {
        return Err(gone());
    }
    let sent = host.send_again(transcript).await;
    let conflict = |why| Problem::new(StatusCode::CONFLICT, format!("the request cannot be sent again: {why}"));
    sent.map(axum::Json).map_err(conflict)
}

fn find(host: &HostSlot, transcript: &str) -> Result<(Arc<dyn Host>, u64), Problem> {
    host.get().zip(transcript.parse().ok()).ok_or_else(gone)
}

fn gone() -> Problem {
    Problem::not_found("this request is not kept any more")
}
