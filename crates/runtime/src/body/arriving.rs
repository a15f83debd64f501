//! A request's body that the module takes piece by piece while it answers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http::request::Parts;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use tenon_http_server::{Upload, discard_rest};
use tokio::time::{Instant, timeout, timeout_at};

use super::whole::{WHOLE_LIMIT, broken_off, check_coding, declared_length, read_within};
use crate::config::{Limits, ms, size};
use crate::metering::meter::Meter;
use crate::request::client::{Client, Room};
use crate::request::problem::Problem;
use crate::telemetry::transcript::Transcript;

/// Length from which on a body is given to the module piece by piece, in bytes. A shorter one is read faster as a whole.
const STREAMED_BYTES: u64 = 256 * 1024;

/// Bytes after which a piece is handed over, though more have arrived.
const PIECE_BYTES: usize = 256 * 1024;

/// Time after which the module gets a turn though nothing has arrived, so that its timers run.
pub(super) const TURN: Duration = Duration::from_millis(100);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body on its way from a client to a module.
pub(crate) struct Arriving {
    body: UnsyncBoxBody<Bytes, BoxError>,
    _upload: Option<Upload>,
    declared: Option<u64>,
    /// Bytes that the module has got.
    taken: u64,
    /// Bytes that have been read for the next piece.
    gathered: Vec<u8>,
    /// Start of the wait for the next piece.
    waits_since: Option<Instant>,
    room: Room,
    /// True once the client was asked for the body.
    is_begun: bool,
    is_ended: bool,
    /// The fields after the body, for a module that may ask for them.
    trailers: Option<HeaderMap>,
    /// True where the rest is read and thrown away before the client gets the answer.
    is_left_whole: bool,
    max_bytes: u64,
    max_whole_bytes: u64,
    timeout_ms: u64,
    /// Keeps the part that the module gets, in development.
    transcript: Option<Arc<Transcript>>,
    /// Counts that part.
    meter: Option<Meter>,
}

/// The part of the body that a module asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// The next piece.
    Piece,
    /// All that is left, in one piece.
    Whole,
}

/// The part of the body that a module is given.
#[derive(Debug)]
pub(crate) enum Given {
    Piece(Bytes),
    /// Nothing has arrived for a while.
    Nothing,
    End,
    /// No more of the body will come.
    Broken,
}

/// Tells bodies that a module may take piece by piece, because they are long or of unknown length, from short ones.
pub(crate) fn may_be_long<B: Body>(parts: &Parts, body: &B) -> bool {
    if body.is_end_stream() {
        return false;
    }
    let declared = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    declared.is_none_or(|declared| declared > STREAMED_BYTES)
}

impl Arriving {
    /// Begins to receive a body.
    ///
    /// # Errors
    ///
    /// [`Problem::UnknownCoding`], [`Problem::UnreadableBody`], [`Problem::BodyTooLarge`] or [`Problem::NoRoom`]
    pub(crate) fn begin<B>(
        parts: &Parts,
        body: B,
        limits: &Limits,
        client: &Client,
        room: Room,
        transcript: Option<Arc<Transcript>>,
    ) -> Result<Self, (B, Problem)>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let begun = check_coding(&parts.headers).and_then(|()| {
            let declared = declared_length(&parts.headers)?;
            if declared.is_some_and(|declared| declared > limits.max_upload_bytes) {
                return Err(Problem::BodyTooLarge(limits.max_upload_bytes, "max_upload_bytes"));
            }
            Ok((declared, client.upload(declared.map(size))?))
        });
        let (declared, upload) = match begun {
            Ok(begun) => begun,
            Err(problem) => return Err((body, problem)),
        };
        let asks = parts.headers.contains_key(EXPECT);
        Ok(Self {
            body: body.map_err(Into::into).boxed_unsync(),
            _upload: upload,
            declared,
            taken: 0,
            gathered: Vec::new(),
            waits_since: None,
            room,
            // A client that asks first has not begun to send (RFC 9110, section 10.1.1).
            is_begun: !asks,
            is_ended: false,
            trailers: None,
            is_left_whole: Client::must_send_all(parts.version),
            max_bytes: limits.max_upload_bytes,
            max_whole_bytes: limits.max_body_bytes,
            timeout_ms: limits.body_timeout_ms,
            transcript,
            meter: None,
        })
    }

    /// Has the bytes that the module gets counted.
    pub(crate) fn metered_by(&mut self, meter: Option<Meter>) {
        self.meter = meter;
    }

    /// Receives the part that the module asks for.
    ///
    /// # Errors
    ///
    /// [`Problem::BodyTooLarge`], [`Problem::BodyTimedOut`] when nothing arrives for `body_timeout_ms`, [`Problem::NoRoom`],
    /// [`Problem::UnreadableBody`] when it breaks off, or [`Problem::ClientGone`] when its client does
    pub(crate) async fn give(&mut self, wanted: Wanted) -> Result<Given, Problem> {
        if self.is_ended {
            return Ok(Given::End);
        }
        self.is_begun = true;
        let given = match wanted {
            Wanted::Whole => {
                self.whole().await.map(|rest| if rest.is_empty() { Given::End } else { Given::Piece(rest) })
            }
            Wanted::Piece => self.piece().await,
        };
        if let Ok(Given::Piece(piece)) = &given {
            if let Some(transcript) = &self.transcript {
                transcript.request_data(piece);
            }
            if let Some(meter) = &self.meter {
                meter.note_in(piece.len());
            }
        }
        given
    }

    /// Frees the room of the piece that the module has taken.
    pub(crate) fn taken(&mut self) {
        self.room.clear();
    }

    /// Takes the fields that came after the body.
    pub(crate) fn trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    async fn piece(&mut self) -> Result<Given, Problem> {
        let now = Instant::now();
        let ends = *self.waits_since.get_or_insert(now) + ms(self.timeout_ms);
        match timeout_at(ends.min(now + TURN), self.gather()).await {
            Ok(gathered) => {
                self.waits_since = None;
                gathered
            }
            Err(_) if Instant::now() >= ends => Err(Problem::BodyTimedOut(self.timeout_ms)),
            Err(_) => Ok(Given::Nothing),
        }
    }

    /// Waits for data, and takes all that is buffered. It is cancellation safe.
    async fn gather(&mut self) -> Result<Given, Problem> {
        while self.gathered.is_empty() && !self.is_ended {
            let frame = self.body.frame().await;
            self.add(frame)?;
        }
        while self.gathered.len() < PIECE_BYTES && !self.is_ended {
            let next = std::future::poll_fn(|cx| match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(frame) => Poll::Ready(Some(frame)),
                Poll::Pending => Poll::Ready(None),
            });
            let Some(frame) = next.await else { break };
            self.add(frame)?;
        }
        if self.gathered.is_empty() {
            return Ok(Given::End);
        }
        self.room.hold(self.gathered.len()).await?;
        let piece = Bytes::from(std::mem::take(&mut self.gathered));
        self.taken += piece.len() as u64;
        Ok(Given::Piece(piece))
    }

    fn add(&mut self, frame: Option<Result<http_body::Frame<Bytes>, BoxError>>) -> Result<(), Problem> {
        let read = |body: &Self| body.taken + body.gathered.len() as u64;
        let Some(frame) = frame else {
            self.is_ended = true;
            let is_whole = self.declared.is_none_or(|declared| declared == read(self));
            return if is_whole { Ok(()) } else { Err(Problem::UnreadableBody) };
        };
        let frame = frame.map_err(|error| {
            self.is_ended = true;
            broken_off(&*error)
        })?;
        match frame.into_data() {
            Ok(data) => self.gathered.extend_from_slice(&data),
            Err(frame) => self.trailers = frame.into_trailers().ok(),
        }
        if read(self) > self.max_bytes {
            Err(Problem::BodyTooLarge(self.max_bytes, "max_upload_bytes"))
        } else {
            Ok(())
        }
    }

    async fn whole(&mut self) -> Result<Bytes, Problem> {
        let (most, before) = (self.max_whole_bytes, std::mem::take(&mut self.gathered));
        let too_large = Problem::BodyTooLarge(most, WHOLE_LIMIT);
        let left = self.declared.map(|declared| declared.saturating_sub(self.taken + before.len() as u64));
        if left.is_some_and(|left| left + before.len() as u64 > most) {
            return Err(too_large);
        }
        let reading = read_within(Pin::new(&mut self.body), left, most - before.len() as u64, &mut self.room);
        let rest = timeout(ms(self.timeout_ms), reading).await;
        let rest = match rest.unwrap_or(Err(Problem::BodyTimedOut(self.timeout_ms))) {
            Err(Problem::BodyTooLarge(..)) => return Err(too_large),
            rest => rest?,
        };
        self.is_ended = true;
        self.taken += (before.len() + rest.len()) as u64;
        Ok(if before.is_empty() { rest } else { Bytes::from([before, rest.to_vec()].concat()) })
    }

    /// Reads the rest, so that a client that is still sending sees the answer.
    pub(crate) async fn leave(self) {
        if self.is_left_whole && self.is_begun && !self.is_ended {
            discard_rest(self.body, ms(self.timeout_ms)).await;
        }
    }
}
