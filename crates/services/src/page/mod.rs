//! The page of the development services: one file without a framework, which asks the same routes as everybody.

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use crate::cron::HostSlot;

const PAGE: &str = include_str!("page.html");

/// Scripts and styles of the page itself, requests to where it came from, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `/`, and what of it comes from the runtime.
pub(crate) fn routes(host: HostSlot) -> Router {
    Router::new().route("/", get(page)).route("/runtime", get(runtime)).with_state(host)
}

async fn page() -> Response {
    let headers =
        [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_SECURITY_POLICY, POLICY), (CACHE_CONTROL, "no-store")];
    (headers, PAGE).into_response()
}

/// The modules and the last requests; without a runtime there are none.
async fn runtime(State(host): State<HostSlot>) -> axum::Json<Value> {
    axum::Json(match host.get() {
        Some(host) => json!({ "url": host.url(), "modules": host.modules(), "requests": host.recent_requests() }),
        None => json!({ "url": null, "modules": [], "requests": [] }),
    })
}
