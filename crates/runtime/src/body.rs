//! The two bodies of an exchange: the request's, read whole within a limit, and the response's, whole or streamed.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use thiserror::Error;

use crate::call::wasi_http::GuestBody;
use crate::config::{Limits, ms, size};
use crate::problem::Problem;

/// The body of a response: already there, or written by a guest that is still running.
pub struct ResponseBody(Inner);

enum Inner {
    Whole(Full<Bytes>),
    Guest(GuestBody),
}

/// The guest stopped writing before its body was whole.
#[derive(Debug, Error)]
#[error("the module's response broke off: {0}")]
pub struct BodyError(String);

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self(Inner::Whole(Full::new(bytes)))
    }
}

impl From<GuestBody> for ResponseBody {
    fn from(body: GuestBody) -> Self {
        Self(Inner::Guest(body))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.get_mut().0 {
            Inner::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Inner::Guest(body) => Pin::new(body).poll_frame(cx).map_err(|error| BodyError(error.to_string())),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(body) => body.is_end_stream(),
            Inner::Guest(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(body) => body.size_hint(),
            Inner::Guest(body) => body.size_hint(),
        }
    }
}

/// How much more of a body is read and thrown away once it is known to be too large. A client that is still sending when
/// its connection is closed sees an error instead of the answer; one that does not stop after this much has to live with it.
const DISCARD_BYTES: usize = 32 * 1024 * 1024;

/// Reads a request's body to its end, before an instance is taken for it: a slow client holds a connection, no more.
///
/// # Errors
///
/// [`Problem::UnknownCoding`], [`Problem::BodyTooLarge`], [`Problem::BodyTimedOut`], or [`Problem::UnreadableBody`] when it breaks off.
pub(crate) async fn read<B>(headers: &HeaderMap, body: B, limits: &Limits) -> Result<Bytes, Problem>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Decoding is the recipient's, and no module could tell that it has to (RFC 9112, section 6.1).
    if headers.get_all(TRANSFER_ENCODING).iter().any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return Err(Problem::UnknownCoding);
    }
    if body.is_end_stream() && !headers.contains_key(CONTENT_LENGTH) {
        return Ok(Bytes::new());
    }
    match tokio::time::timeout(ms(limits.body_timeout_ms), read_within(headers, body, limits.max_body_bytes)).await {
        Ok(read) => read,
        Err(_) => Err(Problem::BodyTimedOut(limits.body_timeout_ms)),
    }
}

/// Reads the body of a request that is answered without it, and throws it away: see [`DISCARD_BYTES`].
pub(crate) async fn leave<B: Body<Data = Bytes>>(headers: &HeaderMap, body: B, limits: &Limits) {
    // A client that asks first has not begun to send (RFC 9110, section 10.1.1).
    if !body.is_end_stream() && !headers.contains_key(EXPECT) {
        let body = std::pin::pin!(body);
        // One that takes too long sees its connection close.
        let _ = tokio::time::timeout(ms(limits.body_timeout_ms), discard(body)).await;
    }
}

async fn read_within<B>(headers: &HeaderMap, body: B, limit: u64) -> Result<Bytes, Problem>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = std::pin::pin!(body);
    let declared = declared_length(headers)?;
    if declared.is_some_and(|declared| declared > limit) {
        // A client that asks first has not begun to send (RFC 9110, section 10.1.1).
        if !headers.contains_key(EXPECT) {
            discard(body).await;
        }
        return Err(Problem::BodyTooLarge(limit));
    }
    match Limited::new(body.as_mut(), size(limit)).collect().await {
        Ok(collected) => {
            let bytes = collected.to_bytes();
            let whole = declared.is_none_or(|declared| declared == bytes.len() as u64);
            if whole { Ok(bytes) } else { Err(Problem::UnreadableBody) }
        }
        Err(error) if error.is::<LengthLimitError>() => {
            discard(body).await;
            Err(Problem::BodyTooLarge(limit))
        }
        Err(_) => Err(Problem::UnreadableBody),
    }
}

/// The length that a request announces. On a connection hyper has seen to it that it is one and true; a program that embeds
/// the runtime may write what it likes.
fn declared_length(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
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

async fn discard<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let mut left = DISCARD_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}
