//! The request body of a streamed call: the guest writes pieces, and the connection takes them.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use wasmtime_wasi_http::Error;

use crate::instance::account::PIECE_BYTES;

/// The state that both sides share.
#[derive(Default)]
struct State {
    /// Bytes that the connection has not taken.
    bytes: BytesMut,
    end: Option<End>,
    /// True when the connection has dropped the body.
    is_unwanted: bool,
    /// The connection, when it waits for bytes.
    reader: Option<Waker>,
    /// The guest, when it waits for room.
    writer: Option<Waker>,
}

/// The last event of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    /// The call has ended before its body.
    Broken,
    /// The guest has written more than `max_outbound_body_bytes`.
    TooLong,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the end, unless there is one.
    fn end(&self, end: End) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        state.end = Some(end);
        if end != End::Complete {
            state.bytes.clear();
        }
        let reader = state.reader.take();
        drop(state);
        wake(reader);
    }
}

/// Wakes outside of the lock, because a waker is code of others.
fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// The guest's side. The body breaks off when it is dropped before the end.
pub(super) struct Writer {
    shared: Shared,
    /// Bytes until the limit.
    left: u64,
}

/// The connection's side.
pub(super) struct Outgoing(Shared);

/// Tells whether the guest has written too much.
pub(super) struct Overrun(Shared);

/// Makes a body that begins with `first`, and may have `left` more bytes.
pub(super) fn outgoing(first: &[u8], left: u64) -> (Writer, Outgoing, Overrun) {
    let shared = Shared::default();
    shared.lock().bytes.extend_from_slice(first);
    (Writer { shared: shared.clone(), left }, Outgoing(shared.clone()), Overrun(shared))
}

impl Writer {
    /// Returns how many of so many bytes there is room for now. `waker` is woken when that changes, if it is not all. None
    /// when the connection takes no more.
    pub(super) fn room(&mut self, wanted: usize, waker: &Waker) -> Option<usize> {
        let mut state = self.shared.lock();
        if state.is_unwanted || state.end.is_some() {
            return None;
        }
        if wanted as u64 > self.left {
            drop(state);
            self.shared.end(End::TooLong);
            return None;
        }
        let room = PIECE_BYTES.saturating_sub(state.bytes.len()).min(wanted);
        if room < wanted {
            state.writer = Some(waker.clone());
        }
        self.left -= room as u64;
        Some(room)
    }

    /// Adds bytes for which there is room.
    pub(super) fn write(&self, bytes: &[u8]) {
        let mut state = self.shared.lock();
        state.bytes.extend_from_slice(bytes);
        let reader = state.reader.take();
        drop(state);
        wake(reader);
    }

    /// Ends the body. False when nobody wants the end.
    pub(super) fn end(&self) -> bool {
        let is_wanted = {
            let state = self.shared.lock();
            !state.is_unwanted && state.end.is_none()
        };
        self.shared.end(End::Complete);
        is_wanted
    }

    /// Reports whether a write would find room, or that none is wanted.
    pub(super) fn has_news(&self) -> bool {
        let state = self.shared.lock();
        state.is_unwanted || state.end.is_some() || state.bytes.len() < PIECE_BYTES
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.end(End::Broken);
    }
}

impl Overrun {
    pub(super) fn happened(&self) -> bool {
        self.0.lock().end == Some(End::TooLong)
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let mut state = self.0.lock();
        match state.end {
            Some(End::TooLong) => return Poll::Ready(Some(Err(Error::HttpRequestBodySize(None)))),
            Some(End::Broken) => return Poll::Ready(Some(Err(Error::ConnectionTerminated))),
            Some(End::Complete) if state.bytes.is_empty() => return Poll::Ready(None),
            None if state.bytes.is_empty() => {
                state.reader = Some(cx.waker().clone());
                return Poll::Pending;
            }
            _ => {}
        }
        let bytes = state.bytes.split().freeze();
        let writer = state.writer.take();
        drop(state);
        wake(writer);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        let state = self.0.lock();
        state.end == Some(End::Complete) && state.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let state = self.0.lock();
        let length = state.bytes.len() as u64;
        if state.end == Some(End::Complete) {
            return SizeHint::with_exact(length);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(length);
        hint
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_unwanted = true;
        state.bytes = BytesMut::new();
        let writer = state.writer.take();
        drop(state);
        wake(writer);
    }
}
