//! The body of a response: whole, written by a guest that still runs, or streamed piece by piece.

mod streamed;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use tenon_http_server::{Ongoing, Turn};
use thiserror::Error;

use crate::body::reserved::with_owners;
use crate::instance::call::guest_body::GuestBody;
use crate::instance::call::pieces::Pieces;
use crate::request::client::Room;
use crate::telemetry::exchange::Exchange;
use crate::telemetry::transcript::Transcript;
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
    transcript: Option<Arc<Transcript>>,
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

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self { inner: Inner::Whole(bytes), room: None, sending: None, transcript: None }
    }
}

impl From<GuestBody> for ResponseBody {
    fn from(body: GuestBody) -> Self {
        Self { inner: Inner::Guest(body, None), room: None, sending: None, transcript: None }
    }
}

impl From<Pieces> for ResponseBody {
    fn from(pieces: Pieces) -> Self {
        let streamed = Inner::Streamed(Box::new(Streamed::new(pieces)));
        Self { inner: streamed, room: None, sending: None, transcript: None }
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
    pub(crate) fn record(&mut self, transcript: &Arc<Transcript>) {
        match &self.inner {
            Inner::Whole(bytes) => transcript.answer_data(bytes),
            Inner::Guest(..) | Inner::Streamed(_) => self.transcript = Some(Arc::clone(transcript)),
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
                *bytes = with_owners(std::mem::take(bytes), room, ongoing);
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
        Ok(with_owners(bytes, Some(room.all()), besides))
    })
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { inner, room, sending, transcript } = self.get_mut();
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
        if let (Some(transcript), Poll::Ready(Some(Ok(frame)))) = (transcript, &polled)
            && let Some(data) = frame.data_ref()
        {
            transcript.answer_data(data);
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
