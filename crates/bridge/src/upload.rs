//! Bodies of requests that the handler takes piece by piece, while they arrive.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::abi::{BODY, BODY_WHOLE};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::http::types::{IncomingBody, IncomingRequest};
use crate::bindings::wasi::io::poll;
use crate::bindings::wasi::io::streams::{InputStream, StreamError};
use crate::handler::{self, Request, Response};
use crate::problem::Problem;
use crate::request::{READ_BYTES, discard, read_whole};

/// Length from which on a body is given to the handler piece by piece, in bytes, as in Tenon's runtime.
const STREAMED_BYTES: usize = 256 * 1024;

/// Time after which the handler gets a turn though nothing has arrived, in nanoseconds.
const TURN_NS: u64 = 100_000_000;

/// The status of an answer that waits for more of the body.
const WAITS: u16 = 100;

/// The handler's answer to `takes-bodies`: 0 before it was asked, 1 no, 2 yes.
static IS_TAKEN: AtomicU8 = AtomicU8::new(0);

/// A body on its way to the handler. The stream stands first, because it is dropped before what it reads from.
pub struct Upload {
    stream: InputStream,
    _body: IncomingBody,
    /// Bytes that are still to come, when that is known.
    left: Option<usize>,
    is_ended: bool,
}

/// Tells long bodies, and those of unknown length, from short ones. A request without a length and without content ends at once.
pub fn may_be_long(method: &str, declared: Option<usize>) -> bool {
    declared.map_or(!matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS"), |declared| declared > STREAMED_BYTES)
}

/// Asks the handler once whether it takes bodies piece by piece.
pub fn is_taken() -> bool {
    if IS_TAKEN.load(Ordering::Relaxed) == 0 {
        IS_TAKEN.store(1 + u8::from(handler::takes_bodies()), Ordering::Relaxed);
    }
    IS_TAKEN.load(Ordering::Relaxed) == 2
}

/// Begins a request whose body is `upload`, and goes on until the handler answers.
pub fn begin(request: Request, upload: &mut Upload) -> Result<Response, Problem> {
    upload.answer(handler::begin(request))
}

impl Upload {
    /// Opens the body of a request that has `declared` bytes, if that is known.
    pub fn begin(incoming: &IncomingRequest, declared: Option<usize>) -> Result<Self, Problem> {
        let body = incoming.consume().map_err(|()| Problem::UnreadableBody)?;
        let stream = body.stream().map_err(|()| Problem::UnreadableBody)?;
        Ok(Self { stream, _body: body, left: declared, is_ended: false })
    }

    /// Gives the handler each part of the body that it waits for, until it answers. Fails when the body does: the handler
    /// has been told.
    pub fn answer(&mut self, mut response: Response) -> Result<Response, Problem> {
        while response.status == WAITS {
            match self.give(&response) {
                Ok(answer) => response = answer,
                Err(problem) => {
                    self.is_ended = true;
                    handler::broken();
                    return Err(problem);
                }
            }
        }
        Ok(response)
    }

    /// Reads what the handler has left, so that a client that is still sending sees the answer.
    pub fn leave(&self) {
        if !self.is_ended {
            discard(&self.stream);
        }
    }

    /// Gives the handler the part of the body for which its answer waits. Returns its next answer, and fails when the body does.
    fn give(&mut self, waiting: &Response) -> Result<Response, Problem> {
        if self.is_ended {
            return Ok(handler::end());
        }
        if waiting.headers.iter().any(|(name, value)| name == BODY && value == BODY_WHOLE.as_bytes()) {
            let rest = read_whole(&self.stream, self.left)?;
            self.is_ended = true;
            return Ok(if rest.is_empty() { handler::end() } else { handler::piece(Some(rest)) });
        }
        let (ready, turn) = (self.stream.subscribe(), monotonic_clock::subscribe_duration(TURN_NS));
        poll::poll(&[&ready, &turn]);
        drop(ready);
        match self.stream.read(READ_BYTES) {
            Ok(piece) if piece.is_empty() => Ok(handler::piece(None)),
            Ok(piece) => {
                let left = self.left.map(|left| left.checked_sub(piece.len()).ok_or(Problem::UnreadableBody));
                self.left = left.transpose()?;
                Ok(handler::piece(Some(piece)))
            }
            Err(StreamError::Closed) if self.left.is_none_or(|left| left == 0) => {
                self.is_ended = true;
                Ok(handler::end())
            }
            Err(_) => Err(Problem::UnreadableBody),
        }
    }
}
