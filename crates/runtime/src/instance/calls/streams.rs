//! The streams of streamed calls: the response that the guest reads, and the request that it writes.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http_body::Body as _;
use tenon_transport::ResponseBody;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use wasmtime_wasi_http::WasiBody;

use super::outgoing::{Overrun, Writer};
use super::response::Unread;
use super::wit::{Failure, Piece};
use crate::instance::account::{Charge, PIECE_BYTES};
use crate::instance::egress::Outbound;
use crate::telemetry::transcript::CallTranscript;

/// The time that a response's head waits for the body, so that a short response is whole.
const MOMENT: Duration = Duration::from_millis(2);

/// A streamed call, from its start until its response was read.
pub(super) struct StreamedCall {
    writer: Option<Writer>,
    /// Keeps what is written, in development.
    transcript: Option<CallTranscript>,
    /// None until the call is taken.
    response: Option<Receiving>,
    waker: Waker,
    /// True when the last read, or write, has to be repeated.
    reads: bool,
    writes: bool,
    /// True while its number waits for `ready`.
    is_ready: bool,
    _held: Charge,
}

impl StreamedCall {
    pub(super) fn new(writer: Option<Writer>, transcript: Option<CallTranscript>, waker: Waker, held: Charge) -> Self {
        Self { writer, transcript, response: None, waker, reads: false, writes: false, is_ready: false, _held: held }
    }

    /// The head of the response was taken, and the guest reads its body.
    pub(super) fn receive(&mut self, response: Receiving) {
        self.response = Some(response);
    }

    /// Reports whether the guest waits for it.
    pub(super) fn is_waiting(&self) -> bool {
        self.reads || self.writes
    }

    /// Reports whether the guest has something to repeat that it has not been told of.
    pub(super) fn becomes_ready(&mut self) -> bool {
        if self.is_ready {
            return false;
        }
        let can_write = self.writes && self.writer.as_ref().is_none_or(Writer::has_news);
        let mut cx = Context::from_waker(&self.waker);
        let can_read = self.reads && self.response.as_mut().is_none_or(|response| response.fill(&mut cx).is_ready());
        self.is_ready = can_write || can_read;
        self.is_ready
    }

    /// The guest knows that it can repeat what it did.
    pub(super) fn told(&mut self) {
        (self.is_ready, self.reads, self.writes) = (false, false, false);
    }

    /// Reads the next piece. True when it was the last.
    pub(super) fn read(&mut self) -> (Piece, bool) {
        let Some(response) = &mut self.response else { return (Piece::End, false) };
        if response.fill(&mut Context::from_waker(&self.waker)).is_pending() {
            self.reads = true;
            return (Piece::Later, false);
        }
        match response.next() {
            Ok(Some(bytes)) => (Piece::Bytes(bytes.into()), false),
            Ok(None) => (Piece::End, true),
            Err(unread) => (Piece::Failed(response.failed(&unread)), true),
        }
    }

    /// Returns how many of so many bytes [`StreamedCall::write`] accepts. None when no more are wanted.
    pub(super) fn room(&mut self, wanted: usize) -> Option<usize> {
        let room = self.writer.as_mut()?.room(wanted, &self.waker);
        self.writes |= room.is_some_and(|room| room < wanted);
        room
    }

    pub(super) fn write(&self, bytes: &[u8]) {
        if let Some(writer) = &self.writer {
            writer.write(bytes);
        }
        if let Some(transcript) = &self.transcript {
            transcript.data(bytes);
        }
    }

    /// Ends the request. False when nobody wants the end.
    pub(super) fn end(&mut self) -> bool {
        self.writer.take().is_some_and(|writer| writer.end())
    }
}

/// A response that is read piece by piece.
pub(super) struct Receiving {
    outbound: Outbound,
    body: ResponseBody<WasiBody>,
    /// Bytes that have arrived and were not read.
    bytes: Bytes,
    /// The end of the body, once it is known.
    end: Option<Result<(), Unread>>,
    /// Bytes that the body may still have, its limit, and the name of that.
    left: usize,
    most: (usize, &'static str),
    /// The end of the guest's time.
    time: Option<(Pin<Box<Sleep>>, Duration)>,
    overrun: Option<Overrun>,
}

impl Receiving {
    pub(super) fn new(
        outbound: Outbound,
        body: ResponseBody<WasiBody>,
        most: (usize, &'static str),
        timeout: Option<(Instant, Duration)>,
        overrun: Option<Overrun>,
    ) -> Self {
        let time = timeout.map(|(ends, after)| (Box::pin(sleep_until(ends)), after));
        Self { outbound, body, bytes: Bytes::new(), end: None, left: most.0, most, time, overrun }
    }

    /// Waits a moment, and returns the part of the body that has arrived until then: one piece at most.
    pub(super) async fn first(&mut self) -> Vec<u8> {
        let announced = usize::try_from(self.body.size_hint().lower()).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        let mut first = Vec::with_capacity(announced);
        let ends = Instant::now() + MOMENT;
        while first.len() < PIECE_BYTES {
            let filled = timeout_at(ends, std::future::poll_fn(|cx| self.fill(cx))).await;
            if filled.is_err() || self.bytes.is_empty() {
                break;
            }
            let piece = self.bytes.split_to(self.bytes.len().min(PIECE_BYTES - first.len()));
            first.extend_from_slice(&piece);
        }
        first
    }

    /// Waits for bytes to read, or the end.
    fn fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.bytes.is_empty() && self.end.is_none() {
            let end = if let Some((time, after)) = &mut self.time
                && time.as_mut().poll(cx).is_ready()
            {
                Err(Unread::Late(*after))
            } else {
                match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                    None => Ok(()),
                    Some(Err(error)) => match &self.overrun {
                        Some(overrun) if overrun.happened() => Err(Unread::RequestTooLong),
                        _ => Err(Unread::Body(error)),
                    },
                    Some(Ok(frame)) => {
                        let Ok(data) = frame.into_data() else { continue };
                        if let Some(left) = self.left.checked_sub(data.remaining()) {
                            (self.left, self.bytes) = (left, data);
                            continue;
                        }
                        Err(Unread::TooLarge(self.most.0, self.most.1))
                    }
                }
            };
            self.end = Some(end);
        }
        Poll::Ready(())
    }

    /// The next piece after [`Receiving::fill`]; none at the end.
    fn next(&mut self) -> Result<Option<Bytes>, Unread> {
        if !self.bytes.is_empty() {
            return Ok(Some(self.bytes.split_to(self.bytes.len().min(PIECE_BYTES))));
        }
        self.end.take().unwrap_or(Ok(())).map(|()| None)
    }

    /// Logs why the body was not read to its end.
    fn failed(&self, unread: &Unread) -> Failure {
        let failure = unread.failure(self.outbound.name());
        self.outbound.failed(&failure.detail);
        failure
    }
}
