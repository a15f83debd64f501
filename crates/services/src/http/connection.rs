//! One connection, and the bodies that nobody read: an answer is sent once its request is.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::header::EXPECT;
use axum::http::{Request, StatusCode};
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tower::ServiceExt;

use super::body::DISCARD_BYTES;
use super::serve::Stream;
use crate::Limits;

/// Serves a connection to its end; a client has some time for the head of each request.
pub(super) async fn serve(stream: Box<dyn Stream>, app: Router, limits: Limits, watcher: Watcher) {
    let patience = limits.body_timeout;
    let service = service_fn(move |request: Request<Incoming>| {
        let app = app.clone();
        async move {
            // A client that asks first has not begun to send (RFC 9110, section 10.1.1).
            let asks_first = request.headers().contains_key(EXPECT);
            let (parts, body) = request.into_parts();
            let body = Kept(Arc::new(Mutex::new(body)));
            let given = Request::from_parts(parts, Body::new(Kept(Arc::clone(&body.0))));
            let Ok(response) = app.oneshot(given).await;
            // One that came too slowly is not waited for again.
            if !asks_first && response.status() != StatusCode::REQUEST_TIMEOUT {
                let _ = tokio::time::timeout(patience, discard(body)).await;
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .serve_connection(TokioIo::new(stream), service);
    // What a client does wrong with it is no news.
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!("a connection ended: {error}");
    }
}

/// A body that is still there when whoever was given it has dropped it.
struct Kept(Arc<Mutex<Incoming>>);

impl Kept {
    fn body(&self) -> MutexGuard<'_, Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl http_body::Body for Kept {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        Pin::new(&mut *self.body()).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body().size_hint()
    }
}

/// A client that is still sending when its connection is closed sees an error instead of the answer.
async fn discard(mut body: Kept) {
    let mut left = DISCARD_BYTES;
    while !body.is_end_stream() && left > 0 {
        let Some(Ok(frame)) = body.frame().await else { return };
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
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
        let patience = Duration::from_millis(50);
        let (_running, address) =
            server(Limits { header_timeout: patience, body_timeout: patience, ..Limits::default() }).await;
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
