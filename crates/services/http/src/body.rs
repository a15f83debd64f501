//! The body of the API's answer on its way to the client.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use bytes::Bytes;
use http_body::Frame;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

/// A body with a limit of bytes, and of time between its pieces. The head was sent, so the answer can only break off.
pub(super) struct Passed {
    body: Incoming,
    left: usize,
    timeout: Duration,
    timer: Pin<Box<Sleep>>,
    /// The request, for the log: `GET /v1`.
    request: String,
}

impl Passed {
    pub(super) fn new(body: Incoming, max_bytes: usize, timeout: Duration, request: String) -> Self {
        Self { body, left: max_bytes, timeout, timer: Box::pin(sleep(timeout)), request }
    }

    fn broken(&self, reason: &str) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        tracing::warn!("{}: the answer broke off: {reason}", self.request);
        Poll::Ready(Some(Err(reason.into())))
    }
}

impl http_body::Body for Passed {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => {
                if self.timer.as_mut().poll(cx).is_ready() {
                    return self.broken("the upstream took too long");
                }
                Poll::Pending
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Ready(Some(Err(error))) => self.broken(&error.to_string()),
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                let Some(left) = self.left.checked_sub(bytes) else {
                    return self.broken("the upstream's answer is too large");
                };
                self.left = left;
                let next = Instant::now() + self.timeout;
                self.timer.as_mut().reset(next);
                Poll::Ready(Some(Ok(frame)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
