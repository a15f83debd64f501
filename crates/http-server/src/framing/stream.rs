//! A connection whose requests are checked while they are read.
//!
//! hyper takes the end of what a client sends for the end of the client, and drops the request. A client may also have closed its
//! half only, as `nc -N` does, and wait for the answer. So hyper learns of the end later, if no answer has begun.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::Requests;
use super::refusal::explained;
use crate::{Account, Reservation};

/// Bytes that hyper refuses anywhere in a head, a chunk line or a trailer section, because no grammar allows a NUL
/// after a CR. The empty line makes hyper parse an incomplete head.
const REFUSED: &[u8] = b"\r\0\r\n\r\n";

/// How long a client that has closed its half of the connection waits for its answer to begin. Most of these clients are gone: a
/// closed connection looks the same until something is written to it. Their requests end then, with transactions and locks.
const FIRST_PART: Duration = Duration::from_secs(1);

/// How long such a client waits for each further part.
const NEXT_PART: Duration = Duration::from_secs(5);

/// Bytes of a head that fit into hyper's first buffer.
const SMALL_HEAD: usize = 8 * 1024;

/// A flag: the client of a connection has closed its half of it and waits for an answer, which is the last one. The stream and the
/// service that answers its requests share it.
#[derive(Clone, Debug, Default)]
pub struct HalfClosed(Arc<AtomicBool>);

impl HalfClosed {
    /// Returns whether it has.
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream that delivers a client's requests while their framing has one reading.
///
/// A violating request reaches hyper broken. So hyper answers 400 in the order of pipelined requests, and closes.
/// Nothing after the violation is read.
pub struct Framed<S> {
    stream: S,
    requests: Requests,
    /// Delivered bytes of [`REFUSED`], after a request was refused.
    refused: Option<usize>,
    head: Reservation,
    /// The rest of an answer in the place of hyper's own.
    explanation: Vec<u8>,
    /// True when nothing was written since the last bytes of a request.
    is_unanswered: bool,
    /// Set when a client that closes its half of the connection gets its answer.
    half_closed: Option<HalfClosed>,
    /// Runs when the client has closed its half of the connection.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Framed<S> {
    /// Checks the requests of a connection from its beginning, and reserves room for large heads as they arrive.
    pub fn new(stream: S, account: &Account) -> Self {
        Self {
            stream,
            requests: Requests::new(),
            refused: None,
            head: account.nothing(),
            explanation: Vec::new(),
            is_unanswered: false,
            half_closed: None,
            waiting: None,
        }
    }

    /// Lets a client that closes its half of the connection behind a request wait for the answer.
    #[must_use]
    pub fn waiting_for_half_closed(self, half_closed: HalfClosed) -> Self {
        Self { half_closed: Some(half_closed), ..self }
    }

    /// Notes that a part of an answer was written. A client that is gone resets the connection at the first one.
    fn note_answer(&mut self, written: &Poll<io::Result<usize>>) {
        if !matches!(written, Poll::Ready(Ok(1..))) {
            return;
        }
        self.is_unanswered = false;
        if let Some(waiting) = &mut self.waiting {
            waiting.as_mut().reset(Instant::now() + NEXT_PART);
        }
    }

    /// Returns whether a whole request was read whose answer has not begun, or whose client is waited for.
    fn awaits_answer(&self) -> bool {
        self.waiting.is_some() || self.is_unanswered && self.requests.is_between()
    }

    /// Reserves room for the current head. False when there is none.
    fn hold_head(&mut self) -> bool {
        let bytes = self.requests.head_bytes();
        // hyper doubles its buffer.
        let needed = if bytes <= SMALL_HEAD { 0 } else { bytes.next_power_of_two() };
        match needed.checked_sub(self.head.bytes()) {
            Some(more) => self.head.try_grow(more),
            None => {
                self.head.shrink_to(needed);
                true
            }
        }
    }

    /// Delivers the bytes that make hyper refuse the request.
    fn refuse(delivered: &mut usize, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let left = &REFUSED[*delivered..];
        if left.is_empty() {
            // hyper has the bytes that make it close. The end of the stream would make it drop its answer.
            return Poll::Pending;
        }
        let some = &left[..left.len().min(buf.remaining())];
        buf.put_slice(some);
        *delivered += some.len();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Framed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(delivered) = &mut this.refused {
            return Self::refuse(delivered, buf);
        }
        let (before, has_room) = (buf.filled().len(), buf.remaining() > 0);
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            this.is_unanswered = true;
        } else if has_room
            && this.awaits_answer()
            && let Some(half_closed) = &this.half_closed
        {
            half_closed.0.store(true, Ordering::Relaxed);
            let waiting = this.waiting.get_or_insert_with(|| Box::pin(sleep(FIRST_PART)));
            ready!(waiting.as_mut().poll(cx));
        }
        if let Err(refusal) = this.requests.advance(&buf.filled()[before..]) {
            tracing::debug!("a request is refused: {}", refusal.violation);
            let at = before + refusal.at;
            buf.filled_mut()[at] = REFUSED[0];
            buf.set_filled(at + 1);
            this.refused = Some(1);
        } else if !this.hold_head() {
            return Poll::Ready(Err(io::Error::other("the byte budget has no room for a large request head")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Framed<S> {
    /// Writes the rest of an answer in the place of hyper's own.
    fn poll_explanation(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.explanation.is_empty() {
            let written = Pin::new(&mut self.stream).poll_write(cx, &self.explanation);
            self.note_answer(&written);
            let count = ready!(written)?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.explanation.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Framed<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_explanation(cx))?;
        if this.is_unanswered
            && let Some(explained) = explained(buf)
        {
            this.explanation = explained;
            // The rest follows when hyper flushes.
            if let Poll::Ready(Err(error)) = this.poll_explanation(cx) {
                return Poll::Ready(Err(error));
            }
            return Poll::Ready(Ok(buf.len()));
        }
        let written = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.note_answer(&written);
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_explanation(cx))?;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_explanation(cx))?;
        Pin::new(&mut this.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let [only] = bufs {
            return Pin::new(this).poll_write(cx, only);
        }
        ready!(this.poll_explanation(cx))?;
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.note_answer(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
