//! The body of a request, whole or piece by piece, within limits.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde::de::IgnoredAny;
use serde_json::Value;
use tenon_http_server::{DISCARD_BYTES, asks_first};
use tokio::time::{Instant, timeout_at};

use super::charge::Charge;
use super::json_size;
use super::problem::Problem;
use crate::Limits;

/// Copies of a body's parts on the way to a store: texts, arguments, and a message that moves when it grows.
const COPIES: usize = 4;

/// A body read piece by piece, within the limits of size and time.
pub struct Incoming {
    body: Body,
    /// The length from the header, if present.
    declared: Option<usize>,
    limit: usize,
    seen: usize,
    timeout: Duration,
    deadline: Instant,
    is_over: bool,
}

impl Incoming {
    /// # Errors
    ///
    /// 413 for a client that waits for 100 Continue, if its body is too large.
    pub fn new(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Self, Problem> {
        let (limit, timeout) = (limits.max_body_bytes, limits.body_timeout);
        let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if declared.is_some_and(|declared| declared > limit) && asks_first(headers) {
            return Err(too_large(limit));
        }
        let deadline = Instant::now() + timeout;
        Ok(Self { body, declared, limit, seen: 0, timeout, deadline, is_over: false })
    }

    /// The next piece; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        match timeout_at(self.deadline, self.next_in_time()).await {
            Ok(piece) => piece,
            Err(_) => {
                let detail = format!("the request body did not come within {} ms", self.timeout.as_millis());
                Err(Problem::new(StatusCode::REQUEST_TIMEOUT, detail))
            }
        }
    }

    async fn next_in_time(&mut self) -> Result<Option<Bytes>, Problem> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|_| Problem::bad_request("the request body could not be read to its end"))?;
            let Ok(data) = frame.into_data() else { continue };
            self.seen += data.len();
            if self.seen > self.limit + DISCARD_BYTES {
                return Err(too_large(self.limit));
            }
            if self.seen <= self.limit && !data.is_empty() {
                return Ok(Some(data));
            }
        }
        self.is_over = true;
        if self.seen > self.limit { Err(too_large(self.limit)) } else { Ok(None) }
    }

    /// Reads until there are at least `bytes` bytes, or the end.
    pub async fn at_least(&mut self, bytes: usize) -> Result<Bytes, Problem> {
        let mut read = BytesMut::with_capacity(self.declared.unwrap_or(0).min(bytes));
        while read.len() < bytes {
            let Some(piece) = self.next().await? else { break };
            if read.len() + piece.len() > read.capacity() {
                // It moves to a buffer of twice the size. The pieces themselves are charged as they come.
                Charge::current().take(2 * piece.len())?;
            }
            read.extend_from_slice(&piece);
        }
        Ok(read.freeze())
    }

    /// Reports whether all has been read.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads the rest.
    pub async fn rest(&mut self) -> Result<Bytes, Problem> {
        self.at_least(self.limit + 1).await
    }
}

fn too_large(limit: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the request body is larger than {limit} bytes"))
}

/// Reads a body to its end, within the limits of size and time.
pub async fn read(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    Incoming::new(headers, body, limits)?.rest().await
}

/// Reads a body as JSON, with the content type of JSON or none.
pub async fn read_json(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Value, Problem> {
    let bytes = read_text_of_json(headers, body, limits).await?;
    charge(&bytes, 1, 0, limits).await?;
    parse(&bytes)
}

/// Reads a body as JSON; an empty one is null.
pub async fn read_optional_json(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Value, Problem> {
    let bytes = read_text_of_json(headers, body, limits).await?;
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    charge(&bytes, 1, 0, limits).await?;
    parse(&bytes)
}

/// Reads a body as JSON, and returns its text as well. Charges a second reading of the text, and the copies of its parts
/// on their way to the store.
pub async fn read_json_with_text(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<(Value, Bytes), Problem> {
    let bytes = read_text_of_json(headers, body, limits).await?;
    charge(&bytes, 2, COPIES, limits).await?;
    Ok((parse(&bytes)?, bytes))
}

async fn read_text_of_json(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    if !says_json(headers) {
        let detail = "the body must be JSON, with the content type application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    read(headers, body, limits).await
}

/// Charges the values of a body, which may take a hundred times its bytes, for a number of readings, and `copies` of it.
async fn charge(bytes: &[u8], readings: usize, copies: usize, limits: &Limits) -> Result<(), Problem> {
    let json_size::Size { values, texts } = json_size::of(bytes);
    let most = limits.max_json_bytes();
    if values > most {
        let detail = format!("the JSON of the body has too many values: they need more than {most} bytes");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    let all = readings * values + texts + copies * bytes.len();
    Ok(Charge::current().take_within(all, limits.queue_timeout).await?)
}

fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        // serde's message may repeat the value, so it is dropped.
        let (line, column) = (error.line(), error.column());
        // Skipping a value does not parse its numbers and escapes.
        let what = match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => "has a number beyond a double, half of a surrogate pair, or more than 127 levels",
            Err(_) => "is not JSON",
        };
        Problem::bad_request(format!("the body {what}: line {line}, column {column}"))
    })
}

fn says_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let Ok(text) = value.to_str() else { return false };
    let essence = text.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}
