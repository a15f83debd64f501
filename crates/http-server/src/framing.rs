//! The framing of HTTP/1.1 requests: finds a request with both `Transfer-Encoding` and `Content-Length`, and a client that closes
//! its half of the connection behind a whole request.
//!
//! An attacker uses such a request to smuggle another one past a proxy that reads the other header (RFC 9112, section
//! 6.3). hyper drops one of the two before a service sees them. So this follows the bytes on their way to hyper: heads
//! line by line, bodies by their length or chunk by chunk, as strictly as hyper. Bytes that it cannot follow count as
//! an attack.
//!
//! hyper takes the end of what a client sends for the end of the client, and drops the request. A client may also have closed its
//! half only, as `nc -N` does, and wait for the answer. So hyper learns of the end later, if no answer has begun.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::{Account, Reservation};

/// The requests of one connection, numbered in order. The stream that follows them and the service that answers them
/// share it.
#[derive(Debug)]
pub struct Framing {
    /// Number of the first request that must be refused.
    refused: AtomicU64,
    /// Number of requests that the service has begun.
    begun: AtomicU64,
    is_half_closed: AtomicBool,
}

/// How long a client that has closed its half of the connection waits for its answer to begin. Most of these clients are gone: a
/// closed connection looks the same until something is written to it. Their requests end then, with transactions and locks.
const FIRST_PART: Duration = Duration::from_secs(1);

/// How long such a client waits for each further part.
const NEXT_PART: Duration = Duration::from_secs(5);

impl Framing {
    /// Returns whether the client has closed its half of the connection and waits for an answer, which is the last one.
    pub fn is_half_closed(&self) -> bool {
        self.is_half_closed.load(Ordering::Relaxed)
    }

    /// Takes the next request of the connection, in order, and returns whether its framing is unambiguous. If not, it
    /// must be refused with 400, and the connection closed.
    pub fn next_is_sound(&self) -> bool {
        self.begun.fetch_add(1, Ordering::Relaxed) < self.refused.load(Ordering::Acquire)
    }
}

/// A stream of HTTP/1.1 requests whose framing is followed.
pub struct Framed<S> {
    stream: S,
    scanner: Scanner,
    framing: Arc<Framing>,
    head: Reservation,
    /// True when nothing was written since the last bytes of a request.
    is_unanswered: bool,
    /// True when a client that closes its half of the connection gets its answer.
    waits: bool,
    /// Runs when the client has closed its half of the connection.
    half_closed: Option<Pin<Box<Sleep>>>,
}

/// Bytes of a head that fit into hyper's first buffer.
const SMALL_HEAD: usize = 8 * 1024;

impl<S> Framed<S> {
    /// Follows the requests that are read from `stream`, and reserves room for large heads as they arrive.
    pub fn new(stream: S, account: &Account) -> (Self, Arc<Framing>) {
        let refused = AtomicU64::new(u64::MAX);
        let framing = Framing { refused, begun: AtomicU64::new(0), is_half_closed: AtomicBool::new(false) };
        let framing = Arc::new(framing);
        let (head, shared) = (account.nothing(), Arc::clone(&framing));
        (
            Self {
                stream,
                scanner: Scanner::default(),
                framing: shared,
                head,
                is_unanswered: false,
                waits: false,
                half_closed: None,
            },
            framing,
        )
    }

    /// Lets a client that closes its half of the connection behind a request wait for the answer.
    #[must_use]
    pub fn waiting_for_half_closed(self) -> Self {
        Self { waits: true, ..self }
    }

    /// Notes that a part of an answer was written. A client that is gone resets the connection at the first one.
    fn note_answer(&mut self, written: &Poll<io::Result<usize>>) {
        if !matches!(written, Poll::Ready(Ok(1..))) {
            return;
        }
        self.is_unanswered = false;
        if let Some(waiting) = &mut self.half_closed {
            waiting.as_mut().reset(Instant::now() + NEXT_PART);
        }
    }

    /// Reports whether a whole request was read whose answer has not begun, or whose client is waited for.
    fn awaits_answer(&self) -> bool {
        self.half_closed.is_some() || self.is_unanswered && self.scanner.is_between()
    }

    /// Reserves room for the current head. False when there is none.
    fn hold_head(&mut self) -> bool {
        let bytes = self.scanner.head.bytes.saturating_sub(SMALL_HEAD);
        // hyper doubles its buffer.
        let needed = if bytes == 0 { 0 } else { self.scanner.head.bytes.next_power_of_two() };
        match needed.checked_sub(self.head.bytes()) {
            Some(more) => self.head.try_grow(more),
            None => {
                self.head.shrink_to(needed);
                true
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Framed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let (before, has_room) = (buf.filled().len(), buf.remaining() > 0);
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        if let Poll::Ready(Ok(())) = polled
            && has_room
        {
            if buf.filled().len() > before {
                this.is_unanswered = true;
            } else if this.waits && this.awaits_answer() {
                this.framing.is_half_closed.store(true, Ordering::Relaxed);
                let waiting = this.half_closed.get_or_insert_with(|| Box::pin(sleep(FIRST_PART)));
                ready!(waiting.as_mut().poll(cx));
            }
        }
        if polled.is_ready() && !this.scanner.is_blind() {
            this.scanner.scan(&buf.filled()[before..]);
            if this.scanner.is_blind() {
                this.framing.refused.store(this.scanner.heads, Ordering::Release);
            }
            if !this.hold_head() {
                return Poll::Ready(Err(io::Error::other("the byte budget has no room for a large request head")));
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Framed<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.note_answer(&written);
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.note_answer(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

const TRANSFER_ENCODING: &[u8] = b"transfer-encoding";
const CONTENT_LENGTH: &[u8] = b"content-length";

/// Follows requests byte by byte.
#[derive(Debug, Default)]
struct Scanner {
    state: State,
    /// Number of complete, sound heads.
    heads: u64,
    head: Head,
}

/// The contents of the current head so far.
#[derive(Debug, Default)]
struct Head {
    request_line: bool,
    encoded: bool,
    length: Option<u64>,
    /// Its size so far, including the whole read in which it began.
    bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// At the beginning of a head's line.
    #[default]
    Line,
    /// After the CR of an empty line.
    EmptyLine,
    /// In a name that equals the beginning of this one so far.
    Name(&'static [u8], usize),
    /// In the value of `Content-Length`.
    Length,
    /// In a line that does not concern framing.
    OtherLine,
    /// In a body with this number of bytes left.
    Body(u64),
    /// In a chunked body.
    Chunked(Chunk),
    /// After a refused request, or bytes that cannot be followed.
    Blind,
}

/// The states of hyper's own decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Start,
    Size(u64),
    SizeSpace(u64),
    Extension(u64),
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    EndCr,
    EndLf,
    Trailer,
    TrailerLf,
}

impl Scanner {
    fn is_blind(&self) -> bool {
        self.state == State::Blind
    }

    fn scan(&mut self, bytes: &[u8]) {
        self.follow(bytes);
        if self.is_in_head() && self.head.request_line {
            self.head.bytes = self.head.bytes.saturating_add(bytes.len());
        }
    }

    /// Reports whether the next byte begins a request.
    fn is_between(&self) -> bool {
        self.state == State::Line && !self.head.request_line
    }

    fn is_in_head(&self) -> bool {
        matches!(self.state, State::Line | State::EmptyLine | State::Name(..) | State::Length | State::OtherLine)
    }

    fn follow(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            match self.state {
                State::Body(left) => bytes = self.skip(bytes, left, State::Body, State::Line),
                State::Chunked(Chunk::Data(left)) => {
                    let more = |left| State::Chunked(Chunk::Data(left));
                    bytes = self.skip(bytes, left, more, State::Chunked(Chunk::DataCr));
                }
                State::OtherLine => match memchr::memchr(b'\n', bytes) {
                    Some(end) => {
                        self.state = State::Line;
                        bytes = &bytes[end + 1..];
                    }
                    None => return,
                },
                State::Blind => return,
                state => {
                    self.state = self.step(state, byte);
                    bytes = rest;
                }
            }
        }
    }

    /// Skips bytes of a body. The new state is `then` at its end, and `more` of the remaining bytes before.
    fn skip<'a>(&mut self, bytes: &'a [u8], left: u64, more: impl FnOnce(u64) -> State, then: State) -> &'a [u8] {
        let here = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let left = left - here as u64;
        self.state = if left == 0 { then } else { more(left) };
        &bytes[here..]
    }

    fn step(&mut self, state: State, byte: u8) -> State {
        match state {
            State::Line => self.begin_line(byte),
            State::EmptyLine if byte == b'\n' => self.end_head(),
            State::Name(name, at) => self.name(name, at, byte),
            State::Length => match byte {
                b'0'..=b'9' => {
                    let length = self.head.length.and_then(|length| length.checked_mul(10));
                    self.head.length = length.and_then(|length| length.checked_add(u64::from(byte - b'0')));
                    if self.head.length.is_some() { State::Length } else { State::Blind }
                }
                b' ' | b'\t' | b'\r' => State::Length,
                b'\n' => State::Line,
                _ => State::Blind,
            },
            State::Chunked(chunk) => chunk.step(byte),
            _ => State::Blind,
        }
    }

    fn begin_line(&mut self, byte: u8) -> State {
        let request_line = std::mem::replace(&mut self.head.request_line, true);
        match byte {
            // Empty lines before a request are skipped (RFC 9112, section 2.2).
            b'\r' | b'\n' if !request_line => {
                self.head.request_line = false;
                State::Line
            }
            b'\r' => State::EmptyLine,
            b'\n' => self.end_head(),
            b't' | b'T' if request_line => State::Name(TRANSFER_ENCODING, 1),
            b'c' | b'C' if request_line => State::Name(CONTENT_LENGTH, 1),
            _ => State::OtherLine,
        }
    }

    fn name(&mut self, name: &'static [u8], at: usize, byte: u8) -> State {
        match name.get(at) {
            Some(expected) if byte.eq_ignore_ascii_case(expected) => State::Name(name, at + 1),
            None if byte == b':' && name == TRANSFER_ENCODING => {
                self.head.encoded = true;
                State::OtherLine
            }
            None if byte == b':' => {
                self.head.length = Some(0);
                State::Length
            }
            _ if byte == b'\n' => State::Line,
            _ => State::OtherLine,
        }
    }

    fn end_head(&mut self) -> State {
        match std::mem::take(&mut self.head) {
            Head { encoded: true, length: Some(_), .. } => return State::Blind,
            Head { encoded: true, .. } => self.state = State::Chunked(Chunk::Start),
            Head { length: Some(length @ 1..), .. } => self.state = State::Body(length),
            _ => self.state = State::Line,
        }
        self.heads += 1;
        self.state
    }
}

impl Chunk {
    fn step(self, byte: u8) -> State {
        State::Chunked(match (self, byte) {
            (Self::Start, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => return Self::Size(0).step(byte),
            (Self::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                match size.checked_mul(16).and_then(|size| size.checked_add(digit)) {
                    Some(size) => Self::Size(size),
                    None => return State::Blind,
                }
            }
            (Self::Size(size) | Self::SizeSpace(size), b' ' | b'\t') => Self::SizeSpace(size),
            (Self::Size(size) | Self::SizeSpace(size), b';') => Self::Extension(size),
            (Self::Size(size) | Self::SizeSpace(size) | Self::Extension(size), b'\r') => Self::SizeLf(size),
            (Self::Extension(size), byte) if byte != b'\n' => Self::Extension(size),
            (Self::SizeLf(0), b'\n') => Self::EndCr,
            (Self::SizeLf(size), b'\n') => Self::Data(size),
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::Start,
            (Self::EndCr, b'\r') => Self::EndLf,
            (Self::EndLf, b'\n') => return State::Line,
            (Self::Trailer | Self::EndCr, byte) if byte != b'\r' => Self::Trailer,
            (Self::Trailer, _) => Self::TrailerLf,
            (Self::TrailerLf, b'\n') => Self::EndCr,
            _ => return State::Blind,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the number of sound heads before the scanner went blind, and whether it did.
    fn scanned(bytes: &[u8]) -> (u64, bool) {
        let mut scanner = Scanner::default();
        scanner.scan(bytes);
        (scanner.heads, scanner.is_blind())
    }

    const GET: &str = "GET /transfer-encoding: HTTP/1.1\r\nhost: x\r\n\r\n";

    #[test]
    fn both_headers_are_found_in_any_order_and_spelling() {
        for head in [
            "content-length: 4\r\ntransfer-encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nHost: x\r\nContent-Length: 4\r\n",
            "TRANSFER-ENCODING:chunked\nCONTENT-LENGTH:4\n",
            "transfer-encoding: chunked\r\ncontent-length:\r\n",
            "content-length: 4\r\ncontent-length: 4\r\ntransfer-encoding: x, chunked\r\n",
        ] {
            assert_eq!(scanned(format!("POST / HTTP/1.1\r\n{head}\r\n").as_bytes()), (0, true), "{head:?}");
            let behind = format!("\r\n{GET}{GET}POST / HTTP/1.1\r\n{head}\r\n{GET}");
            assert_eq!(scanned(behind.as_bytes()), (2, true), "{head:?}");
        }
    }

    #[test]
    fn other_requests_are_sound() {
        for sound in [
            "POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nte\r\n",
            "POST / HTTP/1.1\r\ncontent-length:  0 \r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n4\r\ntest\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1F ;a=b\r\n0123456789012345678901234567890\r\n0\r\n\
             content-length: 4\r\nx: y\r\n\r\n",
            "content-length: 4 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nx-content-length: 4\r\ncontent-lengths: 4\r\nc: 4\r\nt\r\ntransfer-encoding: chunked\r\n\r\n\
             0\r\n\r\n",
            "POST / HTTP/1.1\r\nx: y\r\nx: content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            assert_eq!(scanned(format!("{sound}{GET}").as_bytes()), (2, false), "{sound:?}");
        }
    }

    #[test]
    fn bytes_that_cannot_be_followed_refuse_the_next_request() {
        for chunks in
            ["x\r\n", "4\ntest\r\n", "4\r\ntestx\r\n", "11111111111111111\r\n", "1;\n", "0\r\n\rx", "0\r\nx\rx"]
        {
            let bytes = format!("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{chunks}");
            assert_eq!(scanned(bytes.as_bytes()), (1, true), "{chunks:?}");
        }
        for length in ["x", "-1", "99999999999999999999"] {
            let bytes = format!("POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
            assert_eq!(scanned(bytes.as_bytes()), (0, true), "{length:?}");
        }
    }

    proptest! {
        #[test]
        fn where_reads_end_makes_no_difference(
            cuts in prop::collection::vec(1_usize..40, 0..40),
            requests in prop::collection::vec(prop::sample::select(vec![
                GET,
                "POST / HTTP/1.1\r\ncontent-length: 30\r\n\r\ntransfer-encoding: chunked\r\n\r\n",
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n12\r\ncontent-length: 12\r\n0\r\n\r\n",
                "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n0\r\n\r\n",
            ]), 0..6),
        ) {
            let bytes = requests.concat().into_bytes();
            let mut scanner = Scanner::default();
            let mut rest = &bytes[..];
            for cut in cuts {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                scanner.scan(now);
                rest = later;
            }
            scanner.scan(rest);
            prop_assert_eq!((scanner.heads, scanner.is_blind()), scanned(&bytes));
        }
    }
}
