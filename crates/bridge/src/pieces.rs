//! Streamed responses: writes each piece before it asks the handler for the next one.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::bindings::sdk::core::handler::{Header, Request, Response, handle};
use crate::bindings::wasi::http::types::OutgoingBody;
use crate::response::write_to;

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
    headers.last().is_some_and(|(name, value)| name == ":body" && value == b"streamed")
}

/// Writes the first piece and all others. If the handler cannot finish the response, its body stays unfinished too, so
/// that the client sees an error instead of an end.
pub fn send(body: OutgoingBody, first: &[u8]) {
    match write_all(&body, first) {
        Outcome::Whole => drop(OutgoingBody::finish(body, None)),
        Outcome::Broken => drop(body),
        Outcome::Unread => {
            drop(body);
            cancel();
        }
    }
}

/// Makes the handler end a response that it would continue.
pub fn cancel() {
    call(":cancel");
}

fn write_all(body: &OutgoingBody, first: &[u8]) -> Outcome {
    let Ok(stream) = body.write() else { return Outcome::Unread };
    if write_to(&stream, first).is_none() {
        return Outcome::Unread;
    }
    loop {
        let next = call(":next");
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

fn call(method: &str) -> Response {
    let (method, path_with_query) = (method.to_string(), "/".to_string());
    handle(&Request { method, path_with_query, headers: Vec::new(), body: None })
}
