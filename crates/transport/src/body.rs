//! The body of a response, which returns its connection after it was read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

use crate::destination::Destination;
use crate::in_process::InProcessBody;

/// A body that is being received. It occupies a permit of the destination while it lives.
pub struct ResponseBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    incoming: Received,
    connection: Option<Connection<B>>,
    timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

/// A body from a connection, or from a sidecar in this process.
pub(crate) enum Received {
    Connection(Incoming),
    InProcess(InProcessBody),
}

impl Body for Received {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match self.get_mut() {
            Self::Connection(body) => Pin::new(body).poll_frame(cx).map_err(BodyError::Broken),
            Self::InProcess(body) => Pin::new(body).poll_frame(cx).map_err(BodyError::InProcess),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Connection(body) => body.is_end_stream(),
            Self::InProcess(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Connection(body) => body.size_hint(),
            Self::InProcess(body) => body.size_hint(),
        }
    }
}

struct Connection<B> {
    /// None for a sidecar in this process.
    sender: Option<SendRequest<B>>,
    destination: Arc<Destination<B>>,
    _permit: OwnedSemaphorePermit,
}

/// The reason why a body broke off.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// No data arrived in time.
    #[error("no data arrived for {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The connection broke, or the framing was wrong.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    /// A sidecar in this process failed.
    #[error("{0}")]
    InProcess(Box<dyn std::error::Error + Send + Sync>),
}

impl<B> ResponseBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    pub(crate) fn new(
        incoming: Received,
        destination: Arc<Destination<B>>,
        sender: Option<SendRequest<B>>,
        permit: OwnedSemaphorePermit,
        timeout: Duration,
    ) -> Self {
        let connection = Some(Connection { sender, destination, _permit: permit });
        let mut body = Self { incoming, connection, timeout, timer: None };
        if body.incoming.is_end_stream() {
            body.give_back();
        }
        body
    }

    /// Returns the connection after it is ready for another request, a moment after the body's end.
    fn give_back(&mut self) {
        let Some(Connection { sender: Some(mut sender), destination, _permit }) = self.connection.take() else {
            return;
        };
        if sender.is_ready() {
            destination.keep(sender);
            return;
        }
        tokio::spawn(async move {
            if sender.ready().await.is_ok() {
                destination.keep(sender);
            }
        });
    }
}

impl<B> Body for ResponseBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                this.timer = None;
                if this.incoming.is_end_stream() {
                    this.give_back();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(None) => {
                this.give_back();
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(error))) => {
                this.connection = None;
                Poll::Ready(Some(Err(error)))
            }
            Poll::Pending => {
                let timeout = this.timeout;
                let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                this.connection = None;
                Poll::Ready(Some(Err(BodyError::Timeout(timeout))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
