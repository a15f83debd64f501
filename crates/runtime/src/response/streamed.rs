//! A response that is streamed: each piece is made when the client has taken the last one.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::StatusCode;
use http_body::Frame;
use tokio::sync::oneshot;

use super::{BodyError, Pending, SLICE, Sending, hold_piece};
use crate::instance::call::pieces::Pieces;
use crate::request::client::Room;
use crate::telemetry::exchange::Exchange;

/// Never sent anything, but closed.
type Taken = oneshot::Receiver<Infallible>;

/// The pieces, and the one that is on its way to the client.
pub(super) struct Streamed {
    pieces: Pieces,
    /// A piece that waits for its reservation, and the stream's end after the client has taken it.
    pending: Option<(Pending, Taken)>,
    /// The part of the last piece that hyper does not have yet.
    rest: Bytes,
    /// Closed when the client has taken the last piece.
    taken: Option<Taken>,
    /// The exchange and the status of the answer, until its end is noted. An answer that is dropped before was given up by
    /// its client.
    exchange: Option<(Exchange, StatusCode)>,
}

impl Streamed {
    pub(super) fn new(pieces: Pieces) -> Self {
        Self { pieces, pending: None, rest: Bytes::new(), taken: None, exchange: None }
    }

    /// Notes the answer at its end.
    pub(super) fn finish_later(&mut self, exchange: Exchange, status: StatusCode) {
        self.exchange = Some((exchange, status));
    }

    /// The response goes to a client on a connection.
    pub(super) fn connect(&self) {
        self.pieces.connect();
    }

    /// Reports whether the client has yet to take a piece, so that no other one is made.
    pub(super) fn waits_for_client(&self) -> bool {
        self.taken.is_some()
    }

    pub(super) fn poll(
        &mut self,
        room: Option<&mut Room>,
        sending: Option<&Sending>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = ready!(self.poll_piece(room, sending, cx));
        if !matches!(polled, Some(Ok(_)))
            && let Some((exchange, status)) = self.exchange.take()
        {
            exchange.finish(status);
        }
        Poll::Ready(polled.map(|piece| piece.map(Frame::data)))
    }

    fn poll_piece(
        &mut self,
        room: Option<&mut Room>,
        sending: Option<&Sending>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BodyError>>> {
        if self.rest.is_empty() {
            if let Some(taken) = &mut self.taken {
                let _ = ready!(Pin::new(taken).poll(cx));
                self.taken = None;
            }
            if self.pending.is_none() {
                let piece = match ready!(self.pieces.poll_next(cx)) {
                    Some(Ok(piece)) => piece,
                    Some(Err(cut)) => return Poll::Ready(Some(Err(BodyError(cut.to_string())))),
                    None => return Poll::Ready(None),
                };
                let (Some(room), Some(sending)) = (room, sending) else { return Poll::Ready(Some(Ok(piece))) };
                let (take, taken) = oneshot::channel();
                let pending = hold_piece(piece, room.another(), (Arc::clone(&sending.ongoing), take));
                self.pending = Some((pending, taken));
            }
            if let Some((pending, _)) = &mut self.pending {
                let held = ready!(pending.as_mut().poll(cx));
                self.taken = self.pending.take().map(|(_, taken)| taken);
                match held {
                    Ok(piece) => self.rest = piece,
                    Err(error) => return Poll::Ready(Some(Err(error))),
                }
            }
        }
        // HTTP/2 is given slices, so that a client is seen to read.
        let all = self.rest.len();
        let most = if sending.is_some_and(|sending| sending.turn.is_some()) { all.min(SLICE) } else { all };
        Poll::Ready(Some(Ok(self.rest.split_to(most))))
    }
}
