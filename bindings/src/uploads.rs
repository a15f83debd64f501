//! The bodies of requests that JavaScript sends piece by piece.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use napi::bindgen_prelude::spawn;
use tokio::sync::{mpsc, oneshot};

/// The sending sides of bodies, by the numbers of their calls.
#[derive(Default)]
pub(crate) struct Uploads(Mutex<HashMap<u32, Sending>>);

struct Sending {
    pieces: mpsc::Sender<Piece>,
    /// Closed at the end of the body. [`Uploads::ended`] takes it.
    ended: Option<oneshot::Receiver<()>>,
}

type Piece = Result<Bytes, BrokenOff>;

/// JavaScript's stream has failed.
#[derive(Debug)]
pub(crate) struct BrokenOff;

impl std::fmt::Display for BrokenOff {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the stream of the body failed")
    }
}

impl std::error::Error for BrokenOff {}

/// A body whose next piece is taken when the one before is consumed.
pub(crate) struct Upload {
    pieces: mpsc::Receiver<Piece>,
    _end: oneshot::Sender<()>,
}

impl Body for Upload {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        self.pieces.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

impl Uploads {
    /// Begins a body of a call.
    pub(crate) fn begin(&self, call: u32) -> Upload {
        // One piece waits while another one is consumed.
        let (sender, pieces) = mpsc::channel(1);
        let (end, ended) = oneshot::channel();
        self.sending().insert(call, Sending { pieces: sender, ended: Some(ended) });
        Upload { pieces, _end: end }
    }

    /// Adds a piece when there is room for it. False when nobody reads the body any more.
    pub(crate) async fn push(&self, call: u32, piece: Bytes) -> bool {
        let pieces = self.sending().get(&call).map(|sending| sending.pieces.clone());
        match pieces {
            Some(pieces) => pieces.send(Ok(piece)).await.is_ok(),
            None => false,
        }
    }

    /// Ends a body, or breaks it off.
    pub(crate) fn end(&self, call: u32, failed: bool) {
        let sending = self.sending().remove(&call);
        if let Some(Sending { pieces, .. }) = sending
            && failed
        {
            // Later, when a piece waits. Without this the body would end as if it were whole.
            spawn(async move { drop(pieces.send(Err(BrokenOff)).await) });
        }
    }

    /// Waits until nobody reads the body any more.
    pub(crate) async fn ended(&self, call: u32) {
        let ended = self.sending().get_mut(&call).and_then(|sending| sending.ended.take());
        if let Some(ended) = ended {
            let _ = ended.await;
            self.sending().remove(&call);
        }
    }

    fn sending(&self) -> MutexGuard<'_, HashMap<u32, Sending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
