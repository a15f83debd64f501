//! One call: sends its request and reads its response, both without waiting.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bindings::exports::sdk::core::calls::{Failure, Reason, Request, Response};
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

/// Maximum bytes of one read.
const READ_BYTES: u64 = 64 * 1024;

/// A running call.
pub struct Call {
    pub number: u32,
    /// Time at which it fails, if it has one.
    pub deadline: Option<Instant>,
    max_bytes: usize,
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
    bytes: Vec<u8>,
}

impl Call {
    /// Sends the head of a request.
    pub fn start(number: u32, request: Request) -> Result<Self, Failure> {
        let outgoing = outgoing(&request)?;
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
        let sending = if bytes.is_empty() {
            // Without content, only the end of the body is sent.
            let _ = OutgoingBody::finish(body, None);
            None
        } else {
            let stream = body.write().map_err(|()| failure(Reason::Invalid, "the request can have no body"))?;
            Some(Sending { stream, body, bytes, sent: 0 })
        };
        let max_bytes = match request.max_bytes {
            0 => usize::MAX,
            most => most as usize,
        };
        let deadline = timeout.map(|timeout| monotonic_clock::now().saturating_add(timeout));
        Ok(Self { number, deadline, max_bytes, sending, receiving: Receiving::Head(response) })
    }

    /// Proceeds as far as it can without waiting. Returns the result once there is one.
    pub fn proceed(&mut self, now: Instant) -> Option<Result<Response, Failure>> {
        self.send();
        if let Receiving::Head(future) = &self.receiving {
            match Body::of(future) {
                Ok(Some(body)) => self.receiving = Receiving::Body(body),
                Ok(None) => {}
                Err(failure) => return Some(Err(failure)),
            }
        }
        if let Receiving::Body(body) = &mut self.receiving {
            match body.read(self.max_bytes) {
                Ok(true) => {
                    let (headers, body_bytes) = (core::mem::take(&mut body.headers), core::mem::take(&mut body.bytes));
                    return Some(Ok(Response { status: body.status, headers, body: body_bytes }));
                }
                Ok(false) => {}
                Err(failure) => return Some(Err(failure)),
            }
        }
        let is_late = self.deadline.is_some_and(|deadline| deadline <= now);
        is_late.then(|| Err(failure(Reason::Timeout, "the call took too long")))
    }

    /// Writes as much of the request's body as the host accepts. A host that stops accepting may still respond.
    fn send(&mut self) {
        let Some(sending) = &mut self.sending else { return };
        loop {
            let left = &sending.bytes[sending.sent..];
            let permitted = match sending.stream.check_write() {
                Ok(0) => return,
                Ok(permitted) => left.len().min(usize::try_from(permitted).unwrap_or(usize::MAX)),
                Err(_) => break,
            };
            if sending.stream.write(&left[..permitted]).is_err() {
                break;
            }
            sending.sent += permitted;
            if sending.sent == sending.bytes.len() {
                let _ = sending.stream.flush();
                break;
            }
        }
        if let Some(Sending { stream, body, bytes, sent }) = self.sending.take() {
            drop(stream);
            if sent == bytes.len() {
                let _ = OutgoingBody::finish(body, None);
            }
        }
    }

    /// Adds the streams for which the call waits.
    pub fn pollables(&self, all: &mut Vec<Pollable>) {
        if let Some(sending) = &self.sending {
            all.push(sending.stream.subscribe());
        }
        all.push(match &self.receiving {
            Receiving::Head(future) => future.subscribe(),
            Receiving::Body(body) => body.stream.subscribe(),
        });
    }
}

impl Body {
    /// Returns the response after its head has arrived.
    fn of(future: &FutureIncomingResponse) -> Result<Option<Self>, Failure> {
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
        Ok(Some(Self { stream, _body: body, _response: response, status, headers, bytes: Vec::new() }))
    }

    /// Reads the bytes that have arrived. True at the end of the body.
    fn read(&mut self, max_bytes: usize) -> Result<bool, Failure> {
        loop {
            match self.stream.read(READ_BYTES) {
                Ok(piece) if piece.is_empty() => return Ok(false),
                Ok(piece) if self.bytes.len() + piece.len() > max_bytes => {
                    return Err(failure(Reason::TooLarge, "the response is too large"));
                }
                Ok(piece) => self.bytes.extend_from_slice(&piece),
                Err(StreamError::Closed) => return Ok(true),
                Err(StreamError::LastOperationFailed(_)) => {
                    return Err(failure(Reason::Broken, "the response broke off"));
                }
            }
        }
    }
}
