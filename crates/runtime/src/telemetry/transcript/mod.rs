//! Transcripts of whole requests, for the page of `tenon dev`: the request, its log, its outbound calls, and the answer.
//!
//! Each part is bounded. A transcript keeps the headers and the body unchanged, because the request can be sent again;
//! [`Transcript::view`] masks credentials.
//!
//! ```text
//!  Exchange ── request, answer ──┐
//!  GuestLog ── lines ────────────┼──► Transcript ──► view (masked) ──► the page
//!  Egress ──── calls ────────────┘        └───────► request (sent again)
//! ```

mod mask;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::Full;

use crate::request::request_id;

pub(crate) use mask::Secrets;
pub(crate) use view::Summary;

/// Bytes that are kept of each of the two bodies.
const BODY_BYTES: usize = 64 * 1024;
/// Bytes that are kept of each of the two heads.
const HEAD_BYTES: usize = 64 * 1024;
/// Lines that are kept of the log, and their bytes.
const LINES: usize = 500;
const LOG_BYTES: usize = 64 * 1024;
/// Outbound calls that are kept, and for each the bytes of its destination, its path with the query, and its body.
const CALLS: usize = 100;
const CALL_BODY_BYTES: usize = 4 * 1024;
const CALL_NAME_BYTES: usize = 256;
const CALL_PATH_BYTES: usize = 2 * 1024;
/// Bytes that are kept of the reason why a call failed.
const REASON_BYTES: usize = 1024;

/// The longest line that is logged as one; a longer one is broken up, so that a module cannot make the host buffer more.
pub(crate) const MAX_LINE_BYTES: usize = 16 * 1024;

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Error,
}

/// One request, while it is served and for some time after.
#[derive(Debug)]
pub(crate) struct Transcript {
    started: Instant,
    method: Method,
    uri: Uri,
    headers: Headers,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// None when it was not read to its end.
    request_body: Option<Start>,
    answer: Option<Headers>,
    answer_body: Start,
    lines: Vec<Line>,
    line_bytes: usize,
    lines_left_out: u64,
    calls: Vec<Call>,
    calls_left_out: u64,
}

/// Headers, up to [`HEAD_BYTES`].
#[derive(Debug)]
struct Headers {
    kept: HeaderMap,
    complete: bool,
}

impl Headers {
    fn of(headers: &HeaderMap) -> Self {
        let (mut kept, mut bytes) = (HeaderMap::new(), 0);
        for (name, value) in headers {
            bytes += name.as_str().len() + value.len();
            if bytes > HEAD_BYTES {
                return Self { kept, complete: false };
            }
            kept.append(name.clone(), value.clone());
        }
        Self { kept, complete: true }
    }
}

/// The start of a body or a text, and the size of the whole.
#[derive(Debug, Default)]
struct Start {
    bytes: Vec<u8>,
    size: u64,
}

impl Start {
    fn of(bytes: &[u8], most: usize) -> Self {
        let mut start = Self::default();
        start.add(bytes, most);
        start
    }

    fn add(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.size += bytes.len() as u64;
    }

    fn is_complete(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }
}

#[derive(Debug)]
struct Line {
    at: Duration,
    level: Level,
    text: String,
}

#[derive(Debug)]
struct Call {
    /// The sidecar, or the host with its port.
    name: Start,
    method: Method,
    path: Start,
    started: Duration,
    /// None until there is an answer or an error.
    ended: Option<(Duration, Outcome)>,
    /// None for a host that is not a sidecar, because its body may contain undeclared credentials.
    body: Option<Start>,
}

#[derive(Debug)]
enum Outcome {
    Status(u16),
    Failed(Start),
}

impl Transcript {
    pub(crate) fn begin<B>(request: &Request<B>) -> Self {
        Self {
            started: Instant::now(),
            method: request.method().clone(),
            uri: request.uri().clone(),
            headers: Headers::of(request.headers()),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the body of the request, which was read to its end.
    pub(crate) fn request_body(&self, body: &[u8]) {
        self.state().request_body = Some(Start::of(body, BODY_BYTES));
    }

    /// Keeps a piece of the request's body, which arrives while the module answers.
    pub(crate) fn request_data(&self, data: &[u8]) {
        self.state().request_body.get_or_insert_default().add(data, BODY_BYTES);
    }

    /// Keeps the head of the answer.
    pub(crate) fn answer<B>(&self, response: &Response<B>) {
        self.state().answer = Some(Headers::of(response.headers()));
    }

    /// Keeps a piece of the answer's body.
    pub(crate) fn answer_data(&self, data: &[u8]) {
        self.state().answer_body.add(data, BODY_BYTES);
    }

    /// Keeps a line of the log.
    pub(crate) fn line(&self, level: Level, text: &str) {
        let mut state = self.state();
        if state.lines.len() >= LINES || state.line_bytes + text.len() > LOG_BYTES || state.lines_left_out > 0 {
            state.lines_left_out += 1;
            return;
        }
        state.line_bytes += text.len();
        state.lines.push(Line { at: self.started.elapsed(), level, text: text.to_string() });
    }

    /// Counts a line that is not kept.
    pub(crate) fn line_left_out(&self) {
        self.state().lines_left_out += 1;
    }

    /// Keeps an outbound call, which begins. None when there are too many.
    pub(crate) fn call<B>(self: &Arc<Self>, name: &str, request: &Request<B>) -> Option<CallTranscript> {
        let mut state = self.state();
        if state.calls.len() >= CALLS {
            state.calls_left_out += 1;
            return None;
        }
        // A host has its port in its name, and no sidecar has a colon there.
        let is_sidecar = !name.contains(':');
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
        state.calls.push(Call {
            name: Start::of(name.as_bytes(), CALL_NAME_BYTES),
            method: request.method().clone(),
            path: Start::of(path.as_bytes(), CALL_PATH_BYTES),
            started: self.started.elapsed(),
            ended: None,
            body: is_sidecar.then(Start::default),
        });
        Some(CallTranscript { transcript: Arc::clone(self), index: state.calls.len() - 1 })
    }

    /// The request once more, with a request id of its own.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be sent again: something of it was not kept.
    pub(crate) fn request(&self) -> Result<Request<Full<Bytes>>, &'static str> {
        if !self.headers.complete {
            return Err("its headers are too large to be kept");
        }
        let body = match &self.state().request_body {
            Some(body) if !body.is_complete() => return Err("its body is too large to be kept"),
            Some(body) => Bytes::copy_from_slice(&body.bytes),
            None if self.has_body() => return Err("its body was not read"),
            None => Bytes::new(),
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.kept.clone();
        // Those of the connection that it came on (RFC 9110, section 7.6.1).
        for name in [request_id::HEADER, CONNECTION, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE] {
            request.headers_mut().remove(name);
        }
        Ok(request)
    }

    /// Reports whether the request announces a body.
    fn has_body(&self) -> bool {
        let headers = &self.headers.kept;
        headers.contains_key(TRANSFER_ENCODING) || headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0")
    }
}

/// An outbound call in a transcript.
#[derive(Clone, Debug)]
pub(crate) struct CallTranscript {
    transcript: Arc<Transcript>,
    index: usize,
}

impl CallTranscript {
    fn with(&self, change: impl FnOnce(&mut Call)) {
        if let Some(call) = self.transcript.state().calls.get_mut(self.index) {
            change(call);
        }
    }

    /// Keeps a piece of the call's body.
    pub(crate) fn data(&self, data: &[u8]) {
        self.with(|call| {
            if let Some(body) = &mut call.body {
                body.add(data, CALL_BODY_BYTES);
            }
        });
    }

    /// Keeps the status of the answer.
    pub(crate) fn answered(&self, status: u16) {
        self.end(Outcome::Status(status));
    }

    /// Keeps the reason why there is no answer.
    pub(crate) fn failed(&self, reason: &str) {
        self.end(Outcome::Failed(Start::of(reason.as_bytes(), REASON_BYTES)));
    }

    fn end(&self, outcome: Outcome) {
        let at = self.transcript.started.elapsed();
        self.with(|call| call.ended = Some((at, outcome)));
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use super::*;

    fn request(headers: &[(&'static str, &'static str)]) -> Request<()> {
        let mut request = Request::builder().method("POST").uri("/run/a/b?c=s3cret");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    fn view(transcript: &Transcript) -> Value {
        let environment = [("TENON_SECRET_A".to_string(), "s3cret".to_string())];
        let summary = Summary { id: "1", time: 2, module: Some("a"), status: StatusCode::OK, duration: Duration::ZERO };
        serde_json::to_value(transcript.view(&summary, &Secrets::of(&environment))).unwrap()
    }

    #[test]
    fn credentials_are_masked_in_every_part() {
        let transcript = Arc::new(Transcript::begin(&request(&[
            ("authorization", "Bearer t0ken"),
            ("cookie", "session=t0ken"),
            ("x-note", "as s3cret"),
        ])));
        transcript.request_body(b"{\"key\":\"s3cret\"}");
        transcript.line(Level::Info, "uses s3cret");
        let call = transcript.call("db", &request(&[("authorization", "Bearer t0ken")])).unwrap();
        call.data(b"SELECT 's3cr");
        call.data(b"et'");
        call.failed("no s3cret");
        let response = Response::builder().header("set-cookie", "session=t0ken").header("x-s", "s3cret").body(());
        transcript.answer(&response.unwrap());
        transcript.answer_data(b"s3cret");
        let view = view(&transcript);
        assert!(!view.to_string().contains("s3cret") && !view.to_string().contains("t0ken"), "{view}");
        assert_eq!(view["url"], "/run/a/b?c=***");
        assert_eq!(view["request"]["headers"][0], json!(["authorization", "***"]));
        assert_eq!(view["request"]["body"]["text"], "{\"key\":\"***\"}");
        assert_eq!(view["log"]["lines"][0]["text"], "uses ***");
        assert_eq!(view["calls"]["list"][0]["body"]["text"], "SELECT '***'");
        assert_eq!(view["calls"]["list"][0]["error"], "no ***");
        assert_eq!(view["response"]["body"]["text"], "***");
    }

    #[test]
    fn a_secret_of_several_lines_is_masked_in_the_log() {
        let environment = [("TENON_SECRET_A".to_string(), "BEGIN\r\nabc\nEND".to_string())];
        let transcript = Transcript::begin(&request(&[]));
        for line in ["key: BEGIN\u{fffd}", "abc", "END.", "abc"] {
            transcript.line(Level::Info, line);
        }
        let summary = Summary { id: "1", time: 2, module: None, status: StatusCode::OK, duration: Duration::ZERO };
        let view = serde_json::to_value(transcript.view(&summary, &Secrets::of(&environment))).unwrap();
        let lines: Vec<_> = view["log"]["lines"].as_array().unwrap().iter().map(|line| line["text"].clone()).collect();
        assert_eq!(lines, ["key: ***", "***", "***.", "abc"]);
    }

    #[test]
    fn a_secret_that_is_cut_off_leaves_no_beginning() {
        let transcript = Transcript::begin(&request(&[]));
        let mut body = vec![b'x'; BODY_BYTES - 3];
        body.extend_from_slice(b"s3cret");
        transcript.request_body(&body);
        let view = view(&transcript);
        let text = view["request"]["body"]["text"].as_str().unwrap();
        assert!(text.ends_with("xx***"), "{}", &text[text.len() - 9..]);
        assert_eq!(view["request"]["body"]["size"], BODY_BYTES + 3);
        assert_eq!(view["request"]["body"]["complete"], false);
    }

    #[test]
    fn every_part_is_bounded() {
        let transcript = Arc::new(Transcript::begin(&request(&[])));
        for _ in 0..LINES + 7 {
            transcript.line(Level::Error, "x");
        }
        for _ in 0..CALLS + 3 {
            if let Some(call) = transcript.call("db", &request(&[])) {
                call.data(&[b'x'; 2 * CALL_BODY_BYTES]);
                call.answered(200);
            }
        }
        transcript.answer(&Response::new(()));
        for _ in 0..5 {
            transcript.answer_data(&[b'x'; BODY_BYTES / 2]);
        }
        let large = Transcript::begin(&request(&[]));
        large.line(Level::Info, &"x".repeat(LOG_BYTES));
        large.line(Level::Info, "x");
        let shown = view(&transcript);
        assert_eq!((&shown["log"]["left_out"], &shown["calls"]["left_out"]), (&json!(7), &json!(3)));
        assert_eq!(shown["calls"]["list"][0]["body"]["text"].as_str().unwrap().len(), CALL_BODY_BYTES);
        assert_eq!(shown["response"]["body"]["text"].as_str().unwrap().len(), BODY_BYTES);
        assert_eq!(shown["response"]["body"]["size"], BODY_BYTES * 5 / 2);
        assert_eq!(view(&large)["log"]["left_out"], 1);
    }

    #[test]
    fn headers_with_the_names_of_credentials_are_masked() {
        let names =
            ["proxy-authorization", "cookie", "x-api-key", "apikey", "x-auth-token", "x-amz-security-token", "accept"];
        let transcript = Transcript::begin(&request(&names.map(|name| (name, "value"))));
        let view = view(&transcript);
        let shown: Vec<_> = view["request"]["headers"].as_array().unwrap().iter().map(|pair| pair[1].clone()).collect();
        assert_eq!(shown, ["***", "***", "***", "***", "***", "***", "value"]);
    }

    #[test]
    fn a_body_with_control_characters_is_no_text() {
        let cases: [(&[u8], bool); 4] = [(b"a\tb\r\nc", true), (b"a\0b", false), (b"\xff\xd8", false), (b"", true)];
        for (body, is_text) in cases {
            let transcript = Transcript::begin(&request(&[]));
            transcript.request_body(body);
            assert_eq!(view(&transcript)["request"]["body"]["text"].is_string(), is_text, "{body:?}");
        }
    }

    #[tokio::test]
    async fn a_request_is_sent_again_when_all_of_it_was_kept() {
        let transcript = Transcript::begin(&request(&[
            ("authorization", "Bearer t0ken"),
            ("x-request-id", "mine"),
            ("transfer-encoding", "chunked"),
        ]));
        assert_eq!(transcript.request().unwrap_err(), "its body was not read");
        assert_eq!(view(&transcript)["not_again"], "its body was not read");
        transcript.request_body(b"s3cret");
        let again = transcript.request().unwrap();
        assert_eq!((again.method().as_str(), again.uri().to_string().as_str()), ("POST", "/run/a/b?c=s3cret"));
        assert_eq!(again.headers()["authorization"], "Bearer t0ken");
        assert_eq!(again.headers().len(), 1);
        assert_eq!(again.into_body().collect().await.unwrap().to_bytes(), "s3cret");
        transcript.request_body(&[b'x'; BODY_BYTES + 1]);
        assert_eq!(transcript.request().unwrap_err(), "its body is too large to be kept");
        let mut large = request(&[]);
        large.headers_mut().insert("x-large", "x".repeat(HEAD_BYTES).parse().unwrap());
        assert_eq!(Transcript::begin(&large).request().unwrap_err(), "its headers are too large to be kept");
    }
}
