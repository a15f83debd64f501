//! Streamed responses: writes each piece before it asks the handler for the next one.

use crate::abi::{BODY, BODY_STREAMED};
use crate::bindings::wasi::http::types::OutgoingBody;
use crate::handler::{Header, cancel, next};
use crate::response::write_to;
use crate::upload::Upload;

/// The outcome of a streamed response.
enum Outcome {
    /// All of it was written.
    Whole,
    /// The handler cannot finish it.
    Broken,
    /// The client is gone.
    Unread,
}

/// Returns whether the headers of a response announce that it is streamed.
pub fn are_announced(headers: &[Header]) -> bool {
    headers.last().is_some_and(|(name, value)| name == BODY && value == BODY_STREAMED.as_bytes())
}

/// Writes the first piece and all others. The body of a response that the handler cannot finish is not finished either, so
/// that the client sees an error and no end.
/// `upload` is the request's body, when the handler takes that piece by piece.
pub fn send(body: OutgoingBody, first: &[u8], upload: Option<&mut Upload>) {
    match write_all(&body, first, upload) {
        Outcome::Whole => drop(OutgoingBody::finish(body, None)),
        Outcome::Broken => drop(body),
        Outcome::Unread => {
            drop(body);
            cancel();
        }
    }
}

fn write_all(body: &OutgoingBody, first: &[u8], mut upload: Option<&mut Upload>) -> Outcome {
    let Ok(stream) = body.write() else { return Outcome::Unread };
    if write_to(&stream, first).is_none() {
        return Outcome::Unread;
    }
    loop {
        let mut next = next();
        if let Some(upload) = &mut upload {
            match upload.answer(next) {
                Ok(answer) => next = answer,
                Err(_) => return Outcome::Broken,
            }
        }
        let written = match next.status {
            // Writing nothing shows if the client still reads.
            200 | 202 => write_to(&stream, next.body.as_deref().unwrap_or_default()),
            204 => return Outcome::Whole,
            _ => return Outcome::Broken,
        };
        if written.is_none() {
            return Outcome::Unread;
        }
    }
}
