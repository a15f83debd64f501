//! One connection, and the discarding of unread bodies: an answer is sent after its request. Requests of this process
//! have the same limits, without a connection.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, HOST};
use axum::http::{Request, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::FutureExt;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tenon_http_server::{Account, Activity, Budget, Framed, Timed, asks_first, discard_rest, drive};
use tokio::sync::watch;
use tower::ServiceExt;

use super::charge::Charge;
use super::problem::Problem;
use super::serve::Stream;
use crate::Limits;

/// Memory of a connection and its request besides the bodies: tasks, and hyper's buffers.
const CONNECTION_BYTES: usize = 32 * 1024;

/// Bytes that hyper reads ahead of a body's reader.
const READ_AHEAD: usize = 64 * 1024;

/// Serves a connection to its end; the head of each request has a time limit.
pub(super) async fn serve(
    stream: Box<dyn Stream>,
    app: Router,
    limits: Limits,
    account: Account,
    stop: watch::Receiver<bool>,
) {
    let Some(_room) = account.reserve(CONNECTION_BYTES, limits.queue_timeout).await else {
        return tracing::warn!("a connection was closed: too many bytes are held for clients");
    };
    let timeout = limits.body_timeout;
    let stream = Framed::new(stream, &account);
    let owner = account.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (app, account) = (app.clone(), owner.clone());
        async move {
            if !names_one_host(&request) {
                return Ok(Problem::no_host().into_response());
            }
            let asks_first = asks_first(request.headers());
            let (response, body) = answer(app, request, &account).await;
            // A body that timed out is not awaited again.
            if !asks_first && response.status() != StatusCode::REQUEST_TIMEOUT {
                discard_rest(body, timeout).await;
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(READ_AHEAD)
        .serve_connection(TokioIo::new(Timed::new(stream, limits.write_timeout)), service);
    // Errors of a client are not worth a warning.
    if let Err(error) = drive(connection, &account, &Activity::default(), None, stop).await {
        tracing::debug!("a connection ended: {error}");
    }
}

/// Reports whether a request names its host once; before HTTP/1.1 the name is optional (RFC 9112, section 3.2).
fn names_one_host(request: &Request<Incoming>) -> bool {
    match request.headers().get_all(HOST).iter().count() {
        0 => request.version() < Version::HTTP_11,
        count => count == 1,
    }
}

/// Answers requests of this process.
#[derive(Clone)]
pub struct Local {
    app: Router,
    account: Account,
}

impl Local {
    /// Makes one that answers with these routes.
    pub fn new(app: Router, limits: &Limits) -> Self {
        Self { app, account: Budget::new(limits.max_buffered_bytes).unshared() }
    }

    /// Answers a request. A panic becomes 500, because it must not end its caller.
    pub async fn answer<B>(self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let Self { app, account } = self;
        let answered = AssertUnwindSafe(answer(app, request, &account)).catch_unwind().await;
        let panicked = |_| Problem::internal("a request of this process has panicked").into_response();
        answered.map_or_else(panicked, |(response, _)| response)
    }
}

/// Answers a request, with reserved memory for the answer. Also returns the body, which may be partly unread.
async fn answer<B>(app: Router, request: Request<B>, account: &Account) -> (Response, Kept<B>)
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<axum::BoxError>,
{
    let (parts, body) = request.into_parts();
    let charge = Charge::on(account);
    let body = Kept::new(body, charge.clone());
    let given = Request::from_parts(parts, Body::new(Kept(Arc::clone(&body.0))));
    let Ok(mut response) = charge.scope(app.oneshot(given)).await;
    if response.status() == StatusCode::NOT_MODIFIED {
        // The router adds the length of the empty body, which is not that of the content (RFC 9110, section 8.6).
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    let response = if body.state().found_no_room { Problem::busy().into_response() } else { response };
    body.state().charge = None;
    (hold(response, &charge), body)
}

/// Charges a response's body until it is sent, in place of all that was held to make it, or returns 503.
fn hold(response: Response, charge: &Charge) -> Response {
    // A streamed body is read as it is sent.
    let bytes = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default();
    if charge.settle(bytes).is_err() {
        let _ = charge.settle(0);
        return Problem::busy().into_response();
    }
    if bytes == 0 {
        return response;
    }
    response.map(|body| Body::new(Sent { body, charge: charge.clone() }))
}

/// A body in transmission. Its charge lasts until hyper has sent the last byte.
struct Sent {
    body: Body,
    charge: Charge,
}

/// A piece of such a body.
struct ChargedBytes(Bytes, #[allow(dead_code, reason = "kept as long as the bytes are")] Charge);

impl AsRef<[u8]> for ChargedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let charge = self.charge.clone();
        Pin::new(&mut self.body)
            .poll_frame(cx)
            .map_ok(|frame| frame.map_data(|data| Bytes::from_owner(ChargedBytes(data, charge))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that outlives its reader. The bytes that were read are charged.
struct Kept<B>(Arc<Mutex<State<B>>>);

struct State<B> {
    body: B,
    /// None once the request is answered: the rest is discarded.
    charge: Option<Charge>,
    found_no_room: bool,
}

impl<B> Kept<B> {
    fn new(body: B, charge: Charge) -> Self {
        Self(Arc::new(Mutex::new(State { body, charge: Some(charge), found_no_room: false })))
    }

    fn state(&self) -> MutexGuard<'_, State<B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B> http_body::Body for Kept<B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let mut state = self.state();
        let polled = Pin::new(&mut state.body).poll_frame(cx).map_err(Into::into);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            if state.charge.as_ref().is_some_and(|charge| charge.take(bytes).is_err()) {
                state.found_no_room = true;
                return Poll::Ready(Some(Err("too many bytes are held for clients".into())));
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.state().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.state().body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use axum::routing::put;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::http::serve::{Listener, Running};
    use crate::http::{body, problem};

    /// A server with one route, `PUT /read`, which reads its body.
    async fn server(limits: Limits) -> (Running, SocketAddr) {
        let bounds = limits.clone();
        let read = put(async move |request: axum::extract::Request| {
            let (parts, given) = request.into_parts();
            body::read(&parts.headers, given, &bounds).await.map(|bytes| bytes.len().to_string())
        });
        let app = Router::new().route("/read", read).fallback(problem::no_such_path);
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let running = Running::start(listener, app, &limits);
        let address = running.address().unwrap();
        (running, address)
    }

    async fn connected(address: SocketAddr, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text).await;
        text
    }

    #[tokio::test]
    async fn slow_clients_are_not_waited_for() {
        let timeout = Duration::from_millis(50);
        let (_running, address) =
            server(Limits { header_timeout: timeout, body_timeout: timeout, ..Limits::default() }).await;
        for silent in ["", "GET /kv HTTP/1.1\r\n"] {
            let answer = answer(connected(address, silent.as_bytes()).await).await;
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
        }
        let half = connected(address, b"PUT /read HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf").await;
        let answer = answer(half).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!(answer.contains("the request body did not come within 50 ms"), "{answer}");
    }

    #[tokio::test]
    async fn bodies_find_no_room_beyond_the_budget_and_release_what_they_took() {
        let (_running, address) = server(Limits { max_buffered_bytes: 1 << 20, ..Limits::default() }).await;
        for (length, status) in [(2_000_000, "503"), (900_000, "200"), (2_000_000, "503"), (900_000, "200")] {
            let head =
                format!("PUT /read HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
            let mut stream = connected(address, head.as_bytes()).await;
            stream.write_all(&vec![b'x'; length]).await.unwrap();
            let answer = answer(stream).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{length}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_request_with_two_readings_is_refused_and_nothing_behind_it_served() {
        let (_running, address) = server(Limits::default()).await;
        for (fields, body) in [
            ("content-length: 1\r\ncontent-length: 1", "x"),
            ("content-length: 5\r\ntransfer-encoding: chunked", "0\r\n\r\n"),
            ("transfer-encoding: chunked\r\ncontent-length: 5", "0\r\n\r\n"),
            ("a: b\ncontent-length: 1", "x"),
            ("transfer-encoding: chunked", "1;\r\nx\r\n0\r\n\r\n"),
        ] {
            let request = format!("PUT /read HTTP/1.1\r\nhost: x\r\n{fields}\r\n\r\n{body}");
            let bytes = format!("{request}PUT /smuggled HTTP/1.1\r\nhost: x\r\n\r\n");
            let answer = answer(connected(address, bytes.as_bytes()).await).await;
            assert!(answer.starts_with("HTTP/1.1 400"), "{fields:?}: {answer}");
            assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{fields:?}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_request_with_two_lengths_is_refused_and_its_connection_closed() {
        let (_running, address) = server(Limits::default()).await;
        let both = "PUT /read HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n\
                    0\r\n\r\nPUT /read HTTP/1.1\r\nhost: x\r\n\r\n";
        let answer = answer(connected(address, both.as_bytes()).await).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    }

    #[tokio::test]
    async fn a_request_names_its_host_once() {
        let (_running, address) = server(Limits::default()).await;
        for (version, hosts, status) in [
            ("1.1", "host: x\r\n", "200"),
            ("1.0", "", "200"),
            ("1.1", "", "400"),
            ("1.1", "host: x\r\nhost: x\r\n", "400"),
            ("1.0", "host: x\r\nhost: y\r\n", "400"),
        ] {
            let request = format!("PUT /read HTTP/{version}\r\n{hosts}connection: close\r\n\r\n");
            let answer = answer(connected(address, request.as_bytes()).await).await;
            assert!(answer.starts_with(&format!("HTTP/{version} {status}")), "{version} {hosts:?}: {answer}");
            assert_eq!(answer.contains("application/problem+json"), status == "400", "{answer}");
        }
    }

    #[tokio::test]
    async fn what_is_refused_by_its_head_is_answered_once_its_body_is_sent() {
        let (_running, address) = server(Limits::default()).await;
        for (line, status) in [("PUT /nowhere", "404"), ("POST /read", "405"), ("PUT /read", "200")] {
            let head = format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 5000000\r\n\r\n");
            let mut stream = connected(address, head.as_bytes()).await;
            for _ in 0..50 {
                stream.write_all(&[b'x'; 100_000]).await.unwrap();
            }
            let answer = answer(stream).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {answer}");
        }
    }

    #[tokio::test]
    async fn running_requests_finish_and_new_ones_find_nobody() {
        let (running, address) = server(Limits::default()).await;
        let mut stream = connected(address, b"PUT /read HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n").await;
        let closing = tokio::spawn(running.close());
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        stream.write_all(b"body").await.unwrap();
        assert!(answer(stream).await.starts_with("HTTP/1.1 200"));
        closing.await.unwrap();
    }
}
