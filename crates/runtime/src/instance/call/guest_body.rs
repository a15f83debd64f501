//! A response's body that its guest writes while it is sent.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep, timeout};
use wasmtime_wasi::runtime::AbortOnDropJoinHandle;
use wasmtime_wasi_http::{Error, WasiBody};

use crate::config::{Limits, ms};
use crate::metering::Metering;

/// A body that keeps its guest running until it is read to its end or dropped. It breaks off when it grows too large, and when
/// the guest is asked for more of it and writes no byte for as long as an answer may take.
pub(crate) struct GuestBody {
    body: WasiBody,
    left: u64,
    timeout: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    /// Set when the guest trapped before it had finished a body, which then ends as if it were whole.
    cut_off: Arc<AtomicBool>,
    stalled: Option<Box<dyn FnOnce() + Send + Sync>>,
    guest: Option<AbortOnDropJoinHandle<()>>,
    /// Sent when the body was taken to its end; the guest may go on for a while then.
    taken: Option<oneshot::Sender<()>>,
    /// True when that was sent.
    is_taken: bool,
    /// Goes on until the body is read, which may be after the guest's end.
    metering: Option<Arc<Metering>>,
}

impl GuestBody {
    /// The body of a guest that ends with it. `cut_off` and `stalled` are those of the call.
    pub(super) fn new(
        body: WasiBody,
        limits: &Limits,
        cut_off: Arc<AtomicBool>,
        stalled: impl FnOnce() + Send + Sync + 'static,
        guest: AbortOnDropJoinHandle<()>,
    ) -> Self {
        Self {
            body,
            left: limits.max_response_bytes,
            timeout: ms(limits.request_timeout_ms),
            waiting: None,
            cut_off,
            stalled: Some(Box::new(stalled)),
            guest: Some(guest),
            taken: None,
            is_taken: false,
            metering: None,
        }
    }

    /// Counts its bytes.
    pub(crate) fn metered(mut self, metering: Option<Arc<Metering>>) -> Self {
        self.metering = metering;
        self
    }

    /// Lets the guest go on after its body for as long as an answer may take. `taken` is sent when that begins, at once for a
    /// response that has no body on the wire.
    pub(super) fn going_on(mut self, taken: oneshot::Sender<()>, is_bodyless: bool) -> Self {
        self.taken = Some(taken);
        if is_bodyless {
            self.take();
        }
        self
    }

    /// The body was taken to its end.
    fn take(&mut self) {
        if let Some(taken) = self.taken.take() {
            // The guest has failed when nobody receives it.
            let _ = taken.send(());
            self.is_taken = true;
        }
    }

    /// Reports whether the guest has written nothing for longer than its time limit.
    fn has_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        let timeout = self.timeout;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(timeout)));
        waiting.as_mut().poll(cx).is_ready()
    }
}

impl Drop for GuestBody {
    fn drop(&mut self) {
        // hyper does not ask for the end of a body whose length it knows.
        if self.taken.is_some() && (self.body.is_end_stream() || self.body.size_hint().exact() == Some(0)) {
            self.take();
        }
        // Without a runtime the guest does not go on either.
        if self.is_taken
            && let Some(guest) = self.guest.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(timeout(self.timeout, guest));
        }
    }
}

impl Body for GuestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        // An empty piece is nothing: a guest could go on with those for ever.
        let is_empty = matches!(&polled, Poll::Ready(Some(Ok(frame))) if frame.data_ref().is_some_and(Bytes::is_empty));
        if polled.is_pending() || is_empty {
            if !self.has_stalled(cx) {
                if is_empty {
                    cx.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            if let Some(stalled) = self.stalled.take() {
                stalled();
            }
            return Poll::Ready(Some(Err(Error::HttpResponseTimeout)));
        }
        // A client that takes nothing does not ask for more, and no time passes for the guest.
        self.waiting = None;
        if let Poll::Ready(None) = &polled {
            if self.cut_off.load(Ordering::Relaxed) {
                return Poll::Ready(Some(Err(Error::HttpProtocolError)));
            }
            self.take();
        }
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let length = frame.data_ref().map_or(0, Bytes::len);
            if let Some(metering) = &self.metering {
                metering.meter.note_out(length);
            }
            let length = length as u64;
            match self.left.checked_sub(length) {
                Some(left) => self.left = left,
                None => return Poll::Ready(Some(Err(Error::HttpResponseBodySize(None)))),
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
