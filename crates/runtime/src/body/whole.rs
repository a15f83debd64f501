//! A request's body that is read whole, within a limit, before the module is called.

use std::io::ErrorKind;
use std::pin::Pin;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;
use http_body::Body;
use http_body_util::BodyExt;
use tenon_http_server::{asks_first, discard_rest};

use crate::config::{Limits, ms, size};
use crate::request::client::{Client, Room};
use crate::request::problem::Problem;

/// The first piece of memory for a body whose length is larger or not known.
const FIRST_PIECE: usize = 16 * 1024;

/// Reads a request's body to its end, before an instance is taken for it: a slow client holds a connection, no more. `room`
/// is reserved as bytes arrive.
///
/// # Errors
///
/// [`Problem::UnknownCoding`], [`Problem::BodyTooLarge`], [`Problem::BodyTimedOut`], [`Problem::NoRoom`], or
/// [`Problem::UnreadableBody`] when it breaks off, or [`Problem::ClientGone`] when its client does.
pub(crate) async fn read<B>(
    parts: &Parts,
    body: B,
    limits: &Limits,
    client: &Client,
    room: &mut Room,
) -> Result<Bytes, Problem>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let headers = &parts.headers;
    check_coding(headers)?;
    if body.is_end_stream() && !headers.contains_key(CONTENT_LENGTH) {
        return Ok(Bytes::new());
    }
    // Boxed, so that requests without a body do not move the space for this future.
    let reading = Box::pin(async move {
        let declared = declared_length(headers)?;
        let mut body = std::pin::pin!(body);
        let mut begun = false;
        let reading = async {
            if declared.is_some_and(|declared| declared > limits.max_body_bytes) {
                return Err(Problem::BodyTooLarge(limits.max_body_bytes, WHOLE_LIMIT));
            }
            let _arriving = client.upload(declared.map(size))?;
            begun = true;
            read_within(body.as_mut(), declared, limits.max_body_bytes, room).await
        };
        let read = match tokio::time::timeout(ms(limits.body_timeout_ms), reading).await {
            Ok(read) => read,
            Err(_) => return Err(Problem::BodyTimedOut(limits.body_timeout_ms)),
        };
        if let Err(Problem::BodyTooLarge(..) | Problem::NoRoom) = &read {
            room.clear();
            let waits = !begun && asks_first(headers);
            if !waits && Client::must_send_all(parts.version) {
                discard_rest(body, ms(limits.body_timeout_ms)).await;
            }
        }
        read
    });
    reading.await
}

/// The name of the limit of a body that is read to its end.
pub(super) const WHOLE_LIMIT: &str = "max_body_bytes";

pub(super) async fn read_within<B>(
    mut body: Pin<&mut B>,
    declared: Option<u64>,
    limit: u64,
    room: &mut Room,
) -> Result<Bytes, Problem>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // In one piece of its own: frames may be single bytes of large buffers.
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let error: Box<dyn std::error::Error + Send + Sync> = error.into();
            broken_off(&*error)
        })?;
        let Ok(data) = frame.into_data() else { continue };
        let length = read.len() + data.len();
        if length as u64 > limit {
            return Err(Problem::BodyTooLarge(limit, WHOLE_LIMIT));
        }
        room.grow(data.len()).await?;
        if length > read.capacity() {
            let doubled = length.max(read.capacity() * 2).max(FIRST_PIECE);
            let enough = declared.map_or(doubled, |declared| doubled.min(size(declared)));
            read.reserve_exact(enough.max(length) - read.len());
        }
        read.extend_from_slice(&data);
    }
    let whole = declared.is_none_or(|declared| declared == read.len() as u64);
    if whole { Ok(Bytes::from(read)) } else { Err(Problem::UnreadableBody) }
}

/// The problem of a body that breaks off: its client has disconnected, or sends an invalid body.
pub(super) fn broken_off(error: &(dyn std::error::Error + 'static)) -> Problem {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    let is_gone = causes.any(|cause| {
        cause.downcast_ref::<hyper::Error>().is_some_and(|error| error.is_incomplete_message() || error.is_canceled())
            || cause.downcast_ref::<std::io::Error>().is_some_and(|error| GONE.contains(&error.kind()))
            || cause.downcast_ref::<h2::Error>().is_some_and(|error| error.is_reset() || error.is_io())
    });
    if is_gone { Problem::ClientGone } else { Problem::UnreadableBody }
}

/// How the system reports that a client has closed its connection.
const GONE: [ErrorKind; 4] =
    [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::BrokenPipe];

/// Refuses a coding that the runtime does not decode, because the module could not detect it (RFC 9112, section 6.1).
pub(super) fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_chunked = |coding: &http::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    if headers.get_all(TRANSFER_ENCODING).iter().all(is_chunked) { Ok(()) } else { Err(Problem::UnknownCoding) }
}

/// The announced length of a request. On a connection hyper has validated it; a program that embeds the runtime may
/// send any.
pub(super) fn declared_length(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let mut values = headers.get_all(CONTENT_LENGTH).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.any(|other| other != first) {
        return Err(Problem::UnreadableBody);
    }
    let digits = first.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.map(str::parse) {
        Some(Ok(length)) => Ok(Some(length)),
        // More digits than any length has are too many bytes.
        Some(Err(_)) if !first.is_empty() => Ok(Some(u64::MAX)),
        _ => Err(Problem::UnreadableBody),
    }
}
