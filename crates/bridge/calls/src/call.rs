//! One call: sends its request and reads its response, both without waiting.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bindings::exports::sdk::core::calls::{Bodies, Failure, Piece, Reason, Request, Response};
use crate::bindings::wasi::clocks::monotonic_clock::{self, Instant};
use crate::bindings::wasi::http::outgoing_handler;
use crate::bindings::wasi::http::types::{
    FutureIncomingResponse, IncomingBody, IncomingResponse, OutgoingBody, RequestOptions,
};
use crate::bindings::wasi::io::poll::Pollable;
use crate::bindings::wasi::io::streams::{InputStream, OutputStream, StreamError};
use crate::failure::{failure, of_code};
use crate::request::outgoing;

/// Nanoseconds in a millisecond.
const MS: u64 = 1_000_000;

/// Maximum bytes of one read, and of a piece.
const READ_BYTES: u64 = 64 * 1024;

/// The time that a streamed response's head waits for the body, so that a short response is whole.
const MOMENT: u64 = 2 * MS;

/// A call, until nothing more of it can be read.
pub struct Call {
    pub number: u32,
    /// Time at which it fails, if it has one.
    deadline: Option<Instant>,
    /// Bytes that the response's body may still have.
    left: usize,
    bodies: Bodies,
    /// True when the head of a streamed response was given out.
    is_open: bool,
    /// True when the last read, or write, has to be repeated.
    pub reads: bool,
    pub writes: bool,
    sending: Option<Sending>,
    receiving: Receiving,
}

/// The body of the request while it is sent.
// Fields are dropped in order, and a stream must be dropped before its body.
struct Sending {
    stream: OutputStream,
    body: OutgoingBody,
    bytes: Vec<u8>,
    sent: usize,
    /// True when the handler writes more.
    has_more: bool,
}

enum Receiving {
    Head(FutureIncomingResponse),
    Body(Body),
}

/// The response while its body is read.
struct Body {
    stream: InputStream,
    _body: IncomingBody,
    _response: IncomingResponse,
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    /// Bytes that have arrived and were not given out.
    bytes: Vec<u8>,
    end: Option<Result<(), Failure>>,
    /// Time until which a streamed response waits for its body.
    moment: Instant,
}

impl Call {
    /// Sends the head of a request.
    pub fn start(number: u32, request: Request, bodies: Bodies) -> Result<Self, Failure> {
        let has_more = bodies == Bodies::StreamedWithMore;
        let outgoing = outgoing(&request, has_more)?;
        let body = outgoing.body().map_err(|()| failure(Reason::Invalid, "the request can have no body"))?;
        let timeout = (request.timeout_ms > 0).then(|| u64::from(request.timeout_ms) * MS);
        let options = timeout.and_then(|timeout| {
            let options = RequestOptions::new();
            // A server without these options leaves the time to the deadline below.
            let _ = options.set_connect_timeout(Some(timeout));
            let _ = options.set_first_byte_timeout(Some(timeout));
            Some(options)
        });
        let response = outgoing_handler::handle(outgoing, options).map_err(|code| of_code(&code))?;
        let bytes = request.body.unwrap_or_default();
        let sending = if bytes.is_empty() && !has_more {
            // Without content, only the end of the body is sent.
            let _ = OutgoingBody::finish(body, None);
            None
        } else {
            let stream = body.write().map_err(|()| failure(Reason::Invalid, "the request can have no body"))?;
            Some(Sending { stream, body, bytes, sent: 0, has_more })
        };
        let left = match request.max_bytes {
            0 => usize::MAX,
            most => most as usize,
        };
        let deadline = timeout.map(|timeout| monotonic_clock::now().saturating_add(timeout));
        Ok(Self {
            number,
            deadline,
            left,
            bodies,
            is_open: false,
            reads: false,
            writes: false,
            sending,
            receiving: Receiving::Head(response),
        })
    }

    /// Reports whether its head was given out.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Reports whether its body is read by [`Call::read`].
    pub fn is_streaming(&self) -> bool {
        self.is_open && self.bodies != Bodies::Whole
    }

    /// Proceeds as far as it can without waiting. Returns the result once there is one. That of a streamed call has the
    /// first part of the body.
    pub fn proceed(&mut self, now: Instant) -> Option<Result<Response, Failure>> {
        self.send();
        if let Receiving::Head(future) = &self.receiving {
            match Body::of(future, now) {
                Ok(Some(body)) => self.receiving = Receiving::Body(body),
                Ok(None) => {}
                Err(failure) => return Some(Err(failure)),
            }
        }
        let is_whole = self.bodies == Bodies::Whole;
        if let Receiving::Body(body) = &mut self.receiving {
            let most = if is_whole { usize::MAX } else { READ_BYTES as usize };
            body.fill(&mut self.left, most);
            let is_full = !is_whole && (body.moment <= now || body.bytes.len() >= most);
            match body.end.take_if(|end| is_whole && end.is_err()) {
                Some(failed) => return Some(failed.map(|()| self.open())),
                None if is_full || body.end.is_some() => return Some(Ok(self.open())),
                None => {}
            }
        }
        self.is_late(now).then(|| Err(late()))
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Gives out the head, and the part of the body that has arrived.
    fn open(&mut self) -> Response {
        self.is_open = true;
        let Receiving::Body(body) = &mut self.receiving else { unreachable!() };
        let (headers, bytes) = (core::mem::take(&mut body.headers), core::mem::take(&mut body.bytes));
        Response { status: body.status, headers, body: bytes }
    }

    /// Reads the next piece of a streamed response. After an end or a failure the call is over.
    pub fn read(&mut self, now: Instant) -> Piece {
        self.send();
        let is_late = self.is_late(now);
        let Receiving::Body(body) = &mut self.receiving else { return Piece::Later };
        if is_late && body.bytes.is_empty() {
            return Piece::Failed(late());
        }
        body.fill(&mut self.left, 1);
        if !body.bytes.is_empty() {
            return Piece::Bytes(core::mem::take(&mut body.bytes));
        }
        match body.end.take() {
            Some(Ok(())) => Piece::End,
            Some(Err(failure)) => Piece::Failed(failure),
            None => {
                self.reads = true;
                Piece::Later
            }
        }
    }

    /// Writes the beginning of a piece, and returns its length. None when no more bytes are wanted.
    pub fn write(&mut self, piece: &[u8]) -> Option<u32> {
        self.send();
        let sending = self.sending.as_mut().filter(|sending| sending.has_more)?;
        if sending.sent < sending.bytes.len() {
            self.writes = true;
            return Some(0);
        }
        let permitted = match sending.stream.check_write() {
            Ok(permitted) => piece.len().min(usize::try_from(permitted).unwrap_or(usize::MAX)),
            Err(_) => return self.unwanted(),
        };
        if permitted > 0 && sending.stream.write(&piece[..permitted]).is_err() {
            return self.unwanted();
        }
        self.writes |= permitted < piece.len();
        u32::try_from(permitted).ok()
    }

    fn unwanted(&mut self) -> Option<u32> {
        self.sending = None;
        None
    }

    /// Ends the body of the request.
    pub fn end(&mut self) -> Option<u32> {
        let sending = self.sending.as_mut().filter(|sending| sending.has_more)?;
        sending.has_more = false;
        self.send();
        Some(0)
    }

    /// Reports whether a read or a write that has to be repeated can be.
    pub fn is_ready(&mut self, now: Instant) -> bool {
        self.send();
        let is_late = self.is_late(now);
        let can_write = self.writes
            && self.sending.as_ref().is_none_or(|Sending { stream, bytes, sent, .. }| {
                *sent == bytes.len() && !matches!(stream.check_write(), Ok(0))
            });
        let can_read = self.reads
            && match &mut self.receiving {
                Receiving::Head(_) => true,
                Receiving::Body(body) => {
                    body.fill(&mut self.left, 1);
                    is_late || !body.bytes.is_empty() || body.end.is_some()
                }
            };
        can_write || can_read
    }

    /// Writes as much of the request's body as the host accepts. A host that stops accepting may still respond.
    fn send(&mut self) {
        let Some(sending) = &mut self.sending else { return };
        loop {
            let left = &sending.bytes[sending.sent..];
            if left.is_empty() {
                if sending.has_more {
                    return;
                }
                let _ = sending.stream.flush();
                break;
            }
            let permitted = match sending.stream.check_write() {
                Ok(0) => return,
                Ok(permitted) => left.len().min(usize::try_from(permitted).unwrap_or(usize::MAX)),
                Err(_) => break,
            };
            if sending.stream.write(&left[..permitted]).is_err() {
                break;
            }
            sending.sent += permitted;
        }
        if let Some(Sending { stream, body, bytes, sent, .. }) = self.sending.take() {
            drop(stream);
            if sent == bytes.len() {
                let _ = OutgoingBody::finish(body, None);
            }
        }
    }

    /// Adds the streams for which the call waits.
    pub fn pollables(&self, all: &mut Vec<Pollable>) {
        if let Some(sending) = &self.sending
            && (self.writes || sending.sent < sending.bytes.len())
        {
            all.push(sending.stream.subscribe());
        }
        match &self.receiving {
            Receiving::Head(future) => all.push(future.subscribe()),
            Receiving::Body(body) if !self.is_open || self.reads => all.push(body.stream.subscribe()),
            Receiving::Body(_) => {}
        }
    }

    /// The time at which it proceeds although nothing has arrived.
    pub fn next_time(&self) -> Option<Instant> {
        match &self.receiving {
            Receiving::Body(body) if !self.is_open && self.bodies != Bodies::Whole => {
                Some(self.deadline.map_or(body.moment, |deadline| deadline.min(body.moment)))
            }
            Receiving::Body(_) if self.is_open && !self.reads => None,
            _ => self.deadline,
        }
    }
}

fn late() -> Failure {
    failure(Reason::Timeout, "the call took too long")
}

impl Body {
    /// Returns the response after its head has arrived.
    fn of(future: &FutureIncomingResponse, now: Instant) -> Result<Option<Self>, Failure> {
        let broken = || failure(Reason::Broken, "the response cannot be read");
        let response = match future.get() {
            None => return Ok(None),
            Some(Ok(Ok(response))) => response,
            Some(Ok(Err(code))) => return Err(of_code(&code)),
            Some(Err(())) => return Err(broken()),
        };
        let status = response.status();
        let headers = response.headers().entries();
        let body = response.consume().map_err(|()| broken())?;
        let stream = body.stream().map_err(|()| broken())?;
        let (bytes, moment) = (Vec::new(), now.saturating_add(MOMENT));
        Ok(Some(Self { stream, _body: body, _response: response, status, headers, bytes, end: None, moment }))
    }

    /// Reads the bytes that have arrived, until it holds `most`. `left` is how many more the body may have.
    fn fill(&mut self, left: &mut usize, most: usize) {
        while self.end.is_none() && self.bytes.len() < most {
            let wanted = READ_BYTES.min((most - self.bytes.len()) as u64);
            // A reader of single pieces gets as many bytes as there are.
            let wanted = if most == 1 { READ_BYTES } else { wanted };
            let end = match self.stream.read(wanted) {
                Ok(piece) if piece.is_empty() => return,
                Ok(piece) => match left.checked_sub(piece.len()) {
                    Some(less) => {
                        *left = less;
                        if self.bytes.is_empty() {
                            self.bytes = piece;
                        } else {
                            self.bytes.extend_from_slice(&piece);
                        }
                        continue;
                    }
                    None => {
                        self.bytes.clear();
                        Err(failure(Reason::TooLarge, "the response is too large"))
                    }
                },
                Err(StreamError::Closed) => Ok(()),
                Err(StreamError::LastOperationFailed(_)) => Err(failure(Reason::Broken, "the response broke off")),
            };
            self.end = Some(end);
        }
    }
}
