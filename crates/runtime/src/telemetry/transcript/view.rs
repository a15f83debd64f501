//! The part of a transcript that a page shows: masked, as JSON.

use std::ops::Range;
use std::time::Duration;

use http::StatusCode;
use http::header::HeaderName;
use http::uri::PathAndQuery;
use serde::Serialize;

use super::mask::{MASK, Secrets, replace};
use super::{Call, Headers, Level, Line, MAX_LINE_BYTES, Outcome, Start, Transcript};

/// Parts of the names of headers that are credentials, such as `set-cookie` and `x-api-key`.
const CREDENTIALS: [&str; 9] =
    ["authorization", "cookie", "api-key", "apikey", "access-key", "auth-key", "token", "secret", "password"];

/// The facts of a request that are in the list of recent requests.
pub(crate) struct Summary<'a> {
    pub(crate) id: &'a str,
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) module: Option<&'a str>,
    pub(crate) status: StatusCode,
    pub(crate) duration: Duration,
}

/// The transcript as the page gets it.
#[derive(Serialize)]
pub(crate) struct View {
    id: String,
    time: u64,
    module: Option<String>,
    method: String,
    /// Path and query.
    url: String,
    status: u16,
    duration_ms: f64,
    request: Message,
    /// None when the client did not wait for it.
    response: Option<Message>,
    log: Log,
    calls: CallList,
    /// The reason why it cannot be sent again, if there is one.
    not_again: Option<&'static str>,
}

#[derive(Serialize)]
struct Message {
    headers: Vec<(String, String)>,
    /// True when these are all headers.
    complete: bool,
    /// None when it was not read.
    body: Option<Body>,
}

#[derive(Serialize)]
struct Body {
    /// Bytes of the whole body.
    size: u64,
    /// None when it is not text.
    text: Option<String>,
    /// True when the text is all of it.
    complete: bool,
}

#[derive(Serialize)]
struct Log {
    lines: Vec<LogLine>,
    left_out: u64,
}

#[derive(Serialize)]
struct LogLine {
    /// Milliseconds since the request began.
    at_ms: f64,
    level: &'static str,
    text: String,
}

#[derive(Serialize)]
struct CallList {
    list: Vec<CallView>,
    left_out: u64,
}

#[derive(Serialize)]
struct CallView {
    /// The sidecar, or the host with its port.
    name: String,
    method: String,
    /// Path and query.
    path: String,
    /// Milliseconds since the request began.
    start_ms: f64,
    /// None when there was no answer while the request was served.
    duration_ms: Option<f64>,
    status: Option<u16>,
    error: Option<String>,
    /// None when it is not kept.
    body: Option<Body>,
}

impl Transcript {
    /// The transcript without credentials.
    pub(crate) fn view(&self, summary: &Summary<'_>, masks: &Secrets) -> View {
        let path = self.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let not_again = self.request().err();
        let state = self.state();
        View {
            id: masked(summary.id, masks),
            time: summary.time,
            module: summary.module.map(ToString::to_string),
            method: self.method.to_string(),
            url: masked(path, masks),
            status: summary.status.as_u16(),
            duration_ms: ms(summary.duration),
            request: message(&self.headers, state.request_body.as_ref(), masks),
            response: state.answer.as_ref().map(|headers| message(headers, Some(&state.answer_body), masks)),
            log: Log { lines: log(&state.lines, state.lines_left_out > 0, masks), left_out: state.lines_left_out },
            calls: CallList {
                list: state.calls.iter().map(|call| call_view(call, masks)).collect(),
                left_out: state.calls_left_out,
            },
            not_again,
        }
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn masked(text: &str, masks: &Secrets) -> String {
    lossy(&masks.apply(text.as_bytes(), false))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn message(headers: &Headers, body: Option<&Start>, masks: &Secrets) -> Message {
    let value = |name: &HeaderName, value: &[u8]| {
        let is_credential = CREDENTIALS.iter().any(|part| name.as_str().contains(part));
        if is_credential { MASK.to_string() } else { lossy(&masks.apply(value, false)) }
    };
    let shown =
        headers.kept.iter().map(|(name, text)| (masked(name.as_str(), masks), value(name, text.as_bytes()))).collect();
    Message { headers: shown, complete: headers.complete, body: body.map(|body| body_view(body, masks)) }
}

fn body_view(body: &Start, masks: &Secrets) -> Body {
    let complete = body.is_complete();
    let is_utf8 = match std::str::from_utf8(&body.bytes) {
        Ok(_) => true,
        // It is cut off within a character.
        Err(error) => !complete && error.error_len().is_none(),
    };
    let is_text = is_utf8 && !body.bytes.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r'));
    let text = is_text.then(|| lossy(&masks.apply(&body.bytes, !complete)));
    Body { size: body.size, text, complete }
}

/// The lines of a log. A secret may be on several of them, so that they are searched as one text.
fn log(lines: &[Line], cut: bool, masks: &Secrets) -> Vec<LogLine> {
    let mut whole = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(lines.len());
    for line in lines {
        let start = whole.len();
        whole.extend_from_slice(line.text.as_bytes());
        ranges.push(start..whole.len());
        // A line that was too long was broken up: the next one continues it.
        if line.text.len() < MAX_LINE_BYTES {
            whole.push(b'\n');
        }
    }
    whole.truncate(ranges.last().map_or(0, |last| last.end));
    let found = masks.find(&whole, cut);
    let shown = lines.iter().zip(ranges).map(|(line, range)| LogLine {
        at_ms: ms(line.at),
        level: match line.level {
            Level::Info => "info",
            Level::Error => "error",
        },
        text: lossy(&replace(line.text.as_bytes(), range.start, &found)),
    });
    shown.collect()
}

fn call_view(call: &Call, masks: &Secrets) -> CallView {
    let start = |text: &Start| lossy(&masks.apply(&text.bytes, !text.is_complete()));
    let (status, error) = match &call.ended {
        None => (None, None),
        Some((_, Outcome::Status(status))) => (Some(*status), None),
        Some((_, Outcome::Failed(reason))) => (None, Some(start(reason))),
    };
    CallView {
        name: start(&call.name),
        method: call.method.to_string(),
        path: start(&call.path),
        start_ms: ms(call.started),
        duration_ms: call.ended.as_ref().map(|(at, _)| ms(at.saturating_sub(call.started))),
        status,
        error,
        body: call.body.as_ref().map(|body| body_view(body, masks)),
    }
}
