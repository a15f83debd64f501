//! Reads a `wasi:http` request into the handler's record.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::bindings::wasi::http::types::{IncomingBody, IncomingRequest, Method};
use crate::bindings::wasi::io::streams::{InputStream, StreamError};
use crate::handler::{Header, Request};
use crate::problem::Problem;
use crate::upload::{self, Upload};

/// Maximum size of a body, 10 MiB. The handler gets bodies whole, so they need a limit.
pub const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;

/// Bytes that are read and discarded after a body turns out to be too large.
const DISCARD_BYTES: usize = 32 * 1024 * 1024;

/// How much is asked for in one read. Hosts give what has arrived, up to this.
pub const READ_BYTES: u64 = 64 * 1024;

/// A request, and the body that the handler takes piece by piece, if it does.
pub type Read = (Request, Option<Upload>);

/// Takes the request apart. Fails when its method is one of the host's own, and when its body is too large or does not
/// arrive whole.
pub fn read(incoming: IncomingRequest) -> Result<Read, Problem> {
    let method = method(incoming.method());
    if method.starts_with(':') {
        return Err(Problem::InvalidMethod);
    }
    let headers = headers(&incoming);
    let path_with_query = incoming.path_with_query().unwrap_or_else(|| "/".to_string());
    let declared = declared_length(&headers);
    if upload::may_be_long(&method, declared) && upload::is_taken() {
        let upload = Upload::begin(&incoming, declared)?;
        return Ok((Request { method, path_with_query, headers, body: None }, Some(upload)));
    }
    let body = body(&incoming, declared)?;
    Ok((Request { method, path_with_query, headers, body }, None))
}

fn method(method: Method) -> String {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => return name,
    }
    .to_string()
}

/// Returns all headers, `host` first. `wasi:http` has the authority apart, and some hosts also leave the header in.
fn headers(incoming: &IncomingRequest) -> Vec<Header> {
    let mut headers = incoming.headers().entries();
    if let Some(authority) = incoming.authority() {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
        headers.insert(0, ("host".to_string(), authority.into_bytes()));
    }
    for (name, _) in &mut headers {
        name.make_ascii_lowercase();
    }
    headers
}

fn declared_length(headers: &[Header]) -> Option<usize> {
    let (_, value) = headers.iter().find(|(name, _)| name == "content-length")?;
    // A length with too many digits is certainly too large.
    Some(core::str::from_utf8(value).ok()?.trim().parse().unwrap_or(usize::MAX))
}

/// Reads to the end of the stream, in pieces of any size.
fn body(incoming: &IncomingRequest, declared: Option<usize>) -> Result<Option<Vec<u8>>, Problem> {
    let body = incoming.consume().map_err(|()| Problem::UnreadableBody)?;
    let bytes = {
        let stream = body.stream().map_err(|()| Problem::UnreadableBody)?;
        read_whole(&stream, declared)?
    };
    // The handler's record has no trailers.
    drop(IncomingBody::finish(body));
    Ok(if bytes.is_empty() { None } else { Some(bytes) })
}

/// Reads to the end of a stream that has `declared` bytes, if that is known.
pub fn read_whole(stream: &InputStream, declared: Option<usize>) -> Result<Vec<u8>, Problem> {
    if declared.is_some_and(|length| length > MAX_BODY_BYTES) {
        return too_large(stream);
    }
    let mut bytes = Vec::with_capacity(declared.unwrap_or(0));
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(chunk) if bytes.len() + chunk.len() > MAX_BODY_BYTES => return too_large(stream),
            Ok(chunk) => bytes.extend_from_slice(&chunk),
            Err(StreamError::Closed) if declared.is_none_or(|length| length == bytes.len()) => return Ok(bytes),
            Err(_) => return Err(Problem::UnreadableBody),
        }
    }
}

/// Reads on for a while before the refusal: a server closes the connection after it, and a client that is still sending
/// then would see that instead.
fn too_large<T>(stream: &InputStream) -> Result<T, Problem> {
    discard(stream);
    Err(Problem::BodyTooLarge)
}

/// Reads what nobody wants, up to a bound.
pub fn discard(stream: &InputStream) {
    let mut left = DISCARD_BYTES;
    while left > 0 {
        match stream.blocking_read(READ_BYTES) {
            Ok(chunk) => left = left.saturating_sub(chunk.len()),
            Err(_) => break,
        }
    }
}
