//! The two bodies of an exchange: the request's, read whole within a limit, and the response's, whole or streamed.

pub(crate) mod arriving;
pub(crate) mod reading;
mod streamed;

use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tenon_http_server::{Ongoing, Reservation, Turn, asks_first, discard_rest};
use thiserror::Error;

use crate::config::{Limits, ms, size};
use crate::instance::call::guest_body::GuestBody;
use crate::instance::call::pieces::Pieces;
use crate::request::client::{Client, Room};
use crate::request::problem::Problem;
use crate::telemetry::exchange::Exchange;
use crate::telemetry::recording::Recording;
use streamed::Streamed;

/// Bytes of a body that an HTTP/2 stream is given at once: that it takes them shows that its client reads.
const SLICE: usize = 32 * 1024;

/// The body of a response: already there, or written by a guest that is still running.
pub struct ResponseBody {
    inner: Inner,
    /// Reservation for the buffered bytes, until they are sent.
    room: Option<Room>,
    sending: Option<Sending>,
    /// Keeps a guest's body as it is sent, in development.
    recording: Option<Arc<Recording>>,
}

enum Inner {
    Whole(Bytes),
    Guest(GuestBody, Option<Pending>),
    Streamed(Box<Streamed>),
}

/// A piece of a guest's body that waits for room.
type Pending = Pin<Box<dyn Future<Output = Result<Bytes, BodyError>> + Send + Sync>>;

/// A response on its way to a client.
struct Sending {
    /// The exchange, with HTTP/2. A guest's body is sent in pieces, which share it.
    ongoing: Arc<Option<Ongoing>>,
    /// With HTTP/2, how long the client takes.
    turn: Option<Turn>,
}

/// The guest stopped writing before its body was whole, or there was no room for more of it.
#[derive(Debug, Error)]
#[error("the module's response broke off: {0}")]
pub struct BodyError(String);

/// Bytes with their reservation, and other values that live until the last byte is dropped.
struct Held<T> {
    bytes: Bytes,
    _room: Option<Reservation>,
    _besides: T,
}

impl<T> AsRef<[u8]> for Held<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes whose room is released with the last of them.
pub(crate) fn held(bytes: Bytes, room: Reservation) -> Bytes {
    if bytes.is_empty() {
        return bytes;
    }
    Bytes::from_owner(Held { bytes, _room: Some(room), _besides: () })
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self { inner: Inner::Whole(bytes), room: None, sending: None, recording: None }
    }
}

impl From<GuestBody> for ResponseBody {
    fn from(body: GuestBody) -> Self {
        Self { inner: Inner::Guest(body, None), room: None, sending: None, recording: None }
    }
}

impl From<Pieces> for ResponseBody {
    fn from(pieces: Pieces) -> Self {
        let streamed = Inner::Streamed(Box::new(Streamed::new(pieces)));
        Self { inner: streamed, room: None, sending: None, recording: None }
    }
}

impl ResponseBody {
    /// Reports whether the module streams it: the next piece is made on demand. Dropping it ends the stream.
    #[must_use]
    pub fn is_streamed(&self) -> bool {
        matches!(self.inner, Inner::Streamed(_))
    }

    /// Its length when it is whole.
    pub(crate) fn whole(&self) -> Option<usize> {
        match &self.inner {
            Inner::Whole(bytes) => Some(bytes.len()),
            Inner::Guest(..) | Inner::Streamed(_) => None,
        }
    }

    /// Notes the answer: at its end when it is streamed, else now.
    pub(crate) fn finish(&mut self, exchange: Exchange, status: StatusCode) {
        match &mut self.inner {
            Inner::Streamed(streamed) => streamed.finish_later(exchange, status),
            Inner::Whole(_) | Inner::Guest(..) => exchange.finish(status),
        }
    }

    /// Keeps the part of it that is sent.
    pub(crate) fn record(&mut self, recording: &Arc<Recording>) {
        match &self.inner {
            Inner::Whole(bytes) => recording.answer_data(bytes),
            Inner::Guest(..) | Inner::Streamed(_) => self.recording = Some(Arc::clone(recording)),
        }
    }

    /// The room that it has.
    pub(crate) fn set_room(&mut self, room: Room) {
        self.room = Some(room);
    }

    /// Sends it to a client on a connection: room is kept, and `ongoing` lasts, until its last byte has left the server. With
    /// `ongoing`, which HTTP/2 has, it is noted how long the client takes.
    pub(crate) fn send(mut self, ongoing: Option<Ongoing>) -> Self {
        let turn = || ongoing.as_ref().map(Ongoing::turn);
        match &mut self.inner {
            Inner::Whole(bytes) if bytes.is_empty() => {}
            Inner::Whole(bytes) => {
                let turn = turn();
                let room = self.room.as_mut().map(Room::all);
                *bytes = Bytes::from_owner(Held { bytes: std::mem::take(bytes), _room: room, _besides: ongoing });
                self.sending = turn.map(|turn| Sending { ongoing: Arc::default(), turn: Some(turn) });
            }
            Inner::Guest(..) => {
                let turn = turn();
                self.sending = Some(Sending { ongoing: Arc::new(ongoing), turn });
            }
            Inner::Streamed(streamed) => {
                streamed.connect();
                let turn = turn();
                self.sending = Some(Sending { ongoing: Arc::new(ongoing), turn });
            }
        }
        self
    }
}

/// The next piece of a guest's body, once there is room for it.
fn poll_guest(
    body: &mut GuestBody,
    pending: &mut Option<Pending>,
    room: Option<&mut Room>,
    ongoing: Option<&Arc<Option<Ongoing>>>,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
    if pending.is_none() {
        let polled = Pin::new(body).poll_frame(cx).map_err(|error| BodyError(error.to_string()));
        match (polled, room, ongoing) {
            (Poll::Ready(Some(Ok(frame))), Some(room), Some(ongoing)) => match frame.into_data() {
                Ok(bytes) if !bytes.is_empty() => {
                    *pending = Some(hold_piece(bytes, room.another(), Arc::clone(ongoing)));
                }
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(frame) => return Poll::Ready(Some(Ok(frame))),
            },
            (polled, ..) => return polled,
        }
    }
    let Some(waiting) = pending else { return Poll::Pending };
    let piece = std::task::ready!(waiting.as_mut().poll(cx));
    *pending = None;
    Poll::Ready(Some(piece.map(Frame::data)))
}

/// A piece once there is room for it. The room is kept, and `besides` lasts, until its last byte has left the server.
fn hold_piece(bytes: Bytes, mut room: Room, besides: impl Send + Sync + 'static) -> Pending {
    Box::pin(async move {
        room.hold(bytes.len()).await.map_err(|problem| BodyError(problem.to_string()))?;
        Ok(Bytes::from_owner(Held { bytes, _room: Some(room.all()), _besides: besides }))
    })
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { inner, room, sending, recording } = self.get_mut();
        let turn = sending.as_ref().and_then(|sending| sending.turn.as_ref());
        let polled = match inner {
            Inner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Whole(bytes) if turn.is_some() => {
                Poll::Ready(Some(Ok(Frame::data(bytes.split_to(bytes.len().min(SLICE))))))
            }
            Inner::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Guest(body, pending) => {
                poll_guest(body, pending, room.as_mut(), sending.as_ref().map(|sending| &sending.ongoing), cx)
            }
            Inner::Streamed(streamed) => streamed.poll(room.as_mut(), sending.as_ref(), cx),
        };
        if let (Some(recording), Poll::Ready(Some(Ok(frame)))) = (recording, &polled)
            && let Some(data) = frame.data_ref()
        {
            recording.answer_data(data);
        }
        if let Some(turn) = turn {
            match inner {
                _ if polled.is_ready() => turn.client(),
                // Its turn goes on.
                Inner::Streamed(streamed) if streamed.waits_for_client() => {}
                _ => turn.server(),
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.inner {
            Inner::Whole(bytes) => bytes.is_empty(),
            Inner::Guest(body, pending) => pending.is_none() && body.is_end_stream(),
            Inner::Streamed(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Guest(body, None) => body.size_hint(),
            // The piece that waits is not in the guest's own.
            Inner::Guest(_, Some(_)) | Inner::Streamed(_) => SizeHint::default(),
        }
    }
}

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
    let declared = declared_length(headers)?;
    let mut body = std::pin::pin!(body);
    let mut begun = false;
    let reading = async {
        if declared.is_some_and(|declared| declared > limits.max_body_bytes) {
            return Err(Problem::BodyTooLarge(limits.max_body_bytes));
        }
        let _arriving = client.upload(declared.map(size))?;
        begun = true;
        read_within(body.as_mut(), declared, limits.max_body_bytes, room).await
    };
    let read = match tokio::time::timeout(ms(limits.body_timeout_ms), reading).await {
        Ok(read) => read,
        Err(_) => return Err(Problem::BodyTimedOut(limits.body_timeout_ms)),
    };
    if let Err(Problem::BodyTooLarge(_) | Problem::NoRoom) = &read {
        room.clear();
        let waits = !begun && asks_first(headers);
        if !waits && Client::must_send_all(parts.version) {
            discard_rest(body, ms(limits.body_timeout_ms)).await;
        }
    }
    read
}

async fn read_within<B>(
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
            return Err(Problem::BodyTooLarge(limit));
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
fn broken_off(error: &(dyn std::error::Error + 'static)) -> Problem {
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
fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_chunked = |coding: &http::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    if headers.get_all(TRANSFER_ENCODING).iter().all(is_chunked) { Ok(()) } else { Err(Problem::UnknownCoding) }
}

/// The announced length of a request. On a connection hyper has validated it; a program that embeds the runtime may
/// send any.
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
