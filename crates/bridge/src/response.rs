//! Writes the handler's record, or a problem, as a `wasi:http` response.

use alloc::format;
use alloc::vec::Vec;

use crate::bindings::wasi::http::types::{Fields, OutgoingBody, OutgoingResponse, ResponseOutparam};
use crate::bindings::wasi::io::streams::OutputStream;
use crate::handler::{Response, cancel};
use crate::pieces;
use crate::problem::Problem;
use crate::upload::Upload;

/// Sends what the handler answered, or 502 when HTTP does not allow it. `head` says that the request was a HEAD: then a
/// `content-length` without a body stands for the body that a GET would have had. `upload` is the request's body, when the handler
/// takes that piece by piece.
pub fn send(mut response: Response, head: bool, upload: Option<Upload>, out: ResponseOutparam) {
    if pieces::are_announced(&response.headers) {
        response.headers.pop();
        return send_start(&response, head, upload, out);
    }
    if let Some(upload) = upload {
        upload.leave();
    }
    let body = response.body.unwrap_or_default();
    match outgoing(response.status, &response.headers, Some(body.len()), head) {
        Ok(outgoing) => transmit(outgoing, if head { &[] } else { &body }, out),
        Err(problem) => send_problem(problem, out),
    }
}

/// Sends the start of a response that is streamed, and then its pieces. Where there can be no body, the handler cancels it at
/// once.
fn send_start(response: &Response, head: bool, mut upload: Option<Upload>, out: ResponseOutparam) {
    let outgoing = match outgoing(response.status, &response.headers, None, head) {
        Ok(outgoing) => outgoing,
        Err(problem) => {
            send_problem(problem, out);
            return cancel();
        }
    };
    let body = outgoing.body();
    ResponseOutparam::set(out, Ok(outgoing));
    match body {
        Ok(body) if !head && response.status != 204 && response.status != 304 => {
            pieces::send(body, response.body.as_deref().unwrap_or_default(), upload.as_mut());
        }
        body => {
            let _ = body.map(|body| OutgoingBody::finish(body, None));
            cancel();
        }
    }
}

/// Sends a problem of the bridge itself.
pub fn send_problem(problem: Problem, out: ResponseOutparam) {
    let (status, ..) = problem.parts();
    let body = problem.json();
    let headers = [("content-type".into(), b"application/problem+json".to_vec())];
    if let Ok(outgoing) = outgoing(status, &headers, Some(body.len()), false) {
        transmit(outgoing, &body, out);
    }
}

type Header = (alloc::string::String, Vec<u8>);

/// Checks status and headers, and sets the length, so that servers need not chunk. A streamed body has no length yet.
fn outgoing(status: u16, headers: &[Header], length: Option<usize>, head: bool) -> Result<OutgoingResponse, Problem> {
    if !(200..=599).contains(&status) {
        return Err(Problem::InvalidStatus);
    }
    let fields = Fields::new();
    let mut announced = None;
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("content-length") {
            if announced.is_some_and(|announced| announced != value.as_slice()) {
                return Err(Problem::InvalidLength);
            }
            announced = Some(value.as_slice());
        } else {
            fields.append(name, value).map_err(|_| Problem::InvalidHeader)?;
        }
    }
    if let Some(length) = length {
        let length = format!("{length}").into_bytes();
        // The length of an absent body is arbitrary.
        let fits = |announced: &[u8]| announced == length || (head && announced.iter().all(u8::is_ascii_digit));
        if announced.is_some_and(|announced| announced.is_empty() || !fits(announced)) {
            return Err(Problem::InvalidLength);
        }
        // RFC 9110, section 8.6: no length without content. A response to a HEAD without a body gets none either,
        // because a GET may have any.
        let is_unknown = head && length == b"0" && announced.is_none();
        if status != 204 && status != 304 && !is_unknown {
            let length = announced.map_or(length, <[u8]>::to_vec);
            fields.append("content-length", &length).map_err(|_| Problem::InvalidLength)?;
        }
    }
    let outgoing = OutgoingResponse::new(fields);
    outgoing.set_status_code(status).map_err(|()| Problem::InvalidStatus)?;
    Ok(outgoing)
}

/// Sets the response first and then writes its body, because a host need not read a body before it has the response.
fn transmit(outgoing: OutgoingResponse, bytes: &[u8], out: ResponseOutparam) {
    let body = outgoing.body();
    ResponseOutparam::set(out, Ok(outgoing));
    let Ok(body) = body else { return };
    if write(&body, bytes).is_some() {
        // A failure means that the client is gone, or that a HEAD has a length without a body. Neither can be handled.
        let _ = OutgoingBody::finish(body, None);
    }
}

fn write(body: &OutgoingBody, bytes: &[u8]) -> Option<()> {
    if bytes.is_empty() {
        return Some(());
    }
    write_to(&body.write().ok()?, bytes)
}

/// Writes as much as the host permits at a time, and waits in between. None when the client is gone.
pub fn write_to(stream: &OutputStream, mut bytes: &[u8]) -> Option<()> {
    let writable = stream.subscribe();
    while !bytes.is_empty() {
        match usize::try_from(stream.check_write().ok()?).unwrap_or(usize::MAX) {
            0 => writable.block(),
            permitted => {
                let (now, rest) = bytes.split_at(permitted.min(bytes.len()));
                stream.write(now).ok()?;
                bytes = rest;
            }
        }
    }
    stream.flush().ok()?;
    // The permission to write again shows that the flush is done.
    while stream.check_write().ok()? == 0 {
        writable.block();
    }
    Some(())
}
