//! The body of a request, whole and within a limit.

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde_json::Value;

use super::problem::Problem;
use crate::Limits;

/// How much more of a body is read and thrown away once it is known to be too large. A client that is still sending when
/// its connection is closed sees an error instead of the answer.
pub(super) const DISCARD_BYTES: usize = 32 * 1024 * 1024;

/// Reads a body to its end, within the limits of size and time.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    let patience = limits.body_timeout;
    match tokio::time::timeout(patience, read_within(headers, body, limits.max_body_bytes)).await {
        Ok(read) => read,
        Err(_) => {
            let detail = format!("the request body did not come within {} ms", patience.as_millis());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, detail))
        }
    }
}

async fn read_within(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    let too_large =
        || Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the request body is larger than {limit} bytes"));
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    // A client that asks first has not begun to send (RFC 9110, section 10.1.1).
    if declared.is_some_and(|declared| declared > limit) && headers.contains_key(EXPECT) {
        return Err(too_large());
    }
    let mut read = BytesMut::with_capacity(declared.unwrap_or(0).min(limit));
    let mut seen = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::bad_request("the request body could not be read to its end"))?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        if seen > limit + DISCARD_BYTES {
            break;
        }
        if seen <= limit {
            read.extend_from_slice(&data);
        }
    }
    if seen > limit { Err(too_large()) } else { Ok(read.freeze()) }
}

/// Reads a body as JSON; it may say nothing of its type, and nothing but JSON.
pub(crate) async fn read_json(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Value, Problem> {
    read_json_with_text(headers, body, limits).await.map(|(value, _)| value)
}

/// Reads a body as JSON, and gives its text as well.
pub(crate) async fn read_json_with_text(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<(Value, Bytes), Problem> {
    if !says_json(headers) {
        let detail = "the body must be JSON, with the content type application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let bytes = read(headers, body, limits).await?;
    let value = serde_json::from_slice(&bytes).map_err(|error| {
        // What serde says may repeat what it was given.
        let (line, column) = (error.line(), error.column());
        Problem::bad_request(format!("the body is no JSON: line {line}, column {column}"))
    })?;
    Ok((value, bytes))
}

fn says_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let Ok(text) = value.to_str() else { return false };
    let essence = text.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
