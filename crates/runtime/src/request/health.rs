//! `/health`: whether everything that was configured serves. `/ready`: whether requests should come here.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

/// The state of a module that serves.
pub(crate) const READY: &str = "ready";

/// The answer; `is_outdated` when a newer configuration cannot be served. The status is 200 as long as the process
/// answers: a degraded one still serves its working modules, and must not be taken out of service for it.
pub(crate) fn response(
    uptime: Duration,
    modules: &[(String, &'static str)],
    sidecars: &[(String, bool)],
    is_outdated: bool,
) -> Response<Bytes> {
    let whole = !is_outdated && modules.iter().all(|(_, state)| *state == READY) && sidecars.iter().all(|(_, up)| *up);
    let mut body = format!(
        r#"{{"status":"{}","version":"{}","uptime_s":{:.3},"modules":{}"#,
        if whole { "ok" } else { "degraded" },
        env!("CARGO_PKG_VERSION"),
        uptime.as_secs_f64(),
        states(modules.iter().map(|(name, state)| (&**name, *state))),
    );
    if !sidecars.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(
            body,
            r#","sidecars":{}"#,
            states(sidecars.iter().map(|(name, up)| (&**name, if *up { "up" } else { "down" })))
        );
    }
    if is_outdated {
        body.push_str(r#","reload":"failed""#);
    }
    body.push('}');
    json(StatusCode::OK, body)
}

/// The answer of `/ready`: 200, or 503 with the reasons for which requests should go elsewhere.
pub(crate) fn readiness(reasons: &[String]) -> Response<Bytes> {
    if reasons.is_empty() {
        return json(StatusCode::OK, r#"{"status":"ready"}"#.to_string());
    }
    let reasons = serde_json::json!(reasons);
    json(StatusCode::SERVICE_UNAVAILABLE, format!(r#"{{"status":"unready","reasons":{reasons}}}"#))
}

fn json(status: StatusCode, body: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn states<'a>(all: impl Iterator<Item = (&'a str, &'static str)>) -> String {
    let members: serde_json::Map<_, _> = all.map(|(name, state)| (name.to_string(), state.into())).collect();
    serde_json::Value::Object(members).to_string()
}
