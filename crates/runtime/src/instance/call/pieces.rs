//! Streamed responses: the instance makes one piece after another, each when the client has taken the one before.
//!
//! A task owns the instance for as long as the response goes on ([`Maker`]); the body that is sent asks it for pieces
//! ([`Pieces`]). A call into the instance cannot be interrupted without losing the instance. So when the client goes away,
//! the task lets the call end, which takes about a second at most, and then tells the instance to cancel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::direct::{self, Next, Step};
use super::failure::Failure;
use super::guest_time::GuestTime;
use super::instance::Instance;
use crate::body::arriving::{Arriving, Given, Wanted};
use crate::config::{Limits, ms};

/// Time that an instance gets to end a call for a piece that nobody waits for any more, and as much again to cancel.
pub(crate) const WIND_UP: Duration = Duration::from_secs(5);

/// Why a streamed response breaks off.
#[derive(Debug, Error)]
pub(crate) enum Cut {
    /// The guest trapped.
    #[error("the module failed")]
    Failed(Failure),
    /// The guest has reported that it cannot go on.
    #[error("the module could not finish its response")]
    Broken,
    /// No piece came in time, in milliseconds.
    #[error("no piece of the response came within {0} ms (request_timeout_ms)")]
    TimedOut(u64),
    /// The pieces together are beyond the limit, in bytes.
    #[error("the response is larger than {0} bytes (max_response_bytes)")]
    TooLarge(u64),
    /// The guest did not end the response when it was cancelled, and its instance is dropped.
    #[error("it was cancelled, and the module did not end it within {} s", WIND_UP.as_secs())]
    NotCancelled,
    /// The task that makes the pieces has ended with the server.
    #[error("the server stops")]
    Stopped,
}

/// A message of the task: a piece, or None at the end.
type Sent = Result<Option<Bytes>, Cut>;

/// The pieces of a streamed response. Nobody asks for more when it is dropped, and the response is cancelled.
pub(crate) struct Pieces {
    first: Bytes,
    ask: mpsc::Sender<()>,
    sent: mpsc::Receiver<Sent>,
    /// True when a piece has been asked for that has not come.
    asked: bool,
    over: bool,
    stream: Arc<Stream>,
}

/// Makes the pieces.
pub(crate) struct Maker {
    asked: mpsc::Receiver<()>,
    send: mpsc::Sender<Sent>,
    left: u64,
    max_bytes: u64,
    timeout_ms: u64,
    /// The rest of the request's body, when the module takes that piece by piece.
    arriving: Option<Arriving>,
    _stream: Arc<Stream>,
}

/// The pieces of a response after its first one, and the task that makes them. `arriving` is the rest of the request's
/// body.
pub(crate) fn streamed(
    first: Bytes,
    arriving: Option<Arriving>,
    limits: &Limits,
    streams: &Arc<Streams>,
) -> (Pieces, Maker) {
    let (ask, asked) = mpsc::channel(1);
    let (send, sent) = mpsc::channel(1);
    let stream = Arc::new(Stream { streams: Arc::clone(streams), connected: AtomicBool::new(false) });
    let max_bytes = limits.max_response_bytes;
    let left = max_bytes.saturating_sub(first.len() as u64);
    let timeout_ms = limits.request_timeout_ms;
    let maker = Maker { asked, send, left, max_bytes, timeout_ms, arriving, _stream: Arc::clone(&stream) };
    (Pieces { first, ask, sent, asked: false, over: false, stream }, maker)
}

impl Pieces {
    /// The next piece, for which the instance is asked now. None at the end.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Cut>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut self.first))));
        }
        if self.over {
            return Poll::Ready(None);
        }
        if !self.asked {
            // There is room for one, and one is asked for at a time. Nobody is asked when the task has ended.
            let _ = self.ask.try_send(());
            self.asked = true;
        }
        let sent = ready!(self.sent.poll_recv(cx));
        self.asked = false;
        self.over = !matches!(sent, Some(Ok(Some(_))));
        Poll::Ready(match sent {
            Some(Ok(piece)) => piece.map(Ok),
            Some(Err(cut)) => Some(Err(cut)),
            None => Some(Err(Cut::Stopped)),
        })
    }

    /// The response goes to a client on a connection, and the server waits for its end.
    pub(crate) fn connect(&self) {
        self.stream.connect();
    }
}

impl Maker {
    /// Makes pieces until the end of the response, and returns the instance if it can serve another request. `report`
    /// gets the reason when the response breaks off, unless the client disconnected.
    pub(crate) async fn run(mut self, mut instance: Instance, report: impl Fn(&Cut) + Sync) -> Option<Instance> {
        loop {
            let wanted = self.asked.recv().await.is_some() && !self.send.is_closed();
            if !wanted {
                return cancel(instance, &report).await;
            }
            match self.next(&mut instance, &report).await {
                NextPiece::Piece(piece) => {
                    if let Some(meter) = instance.meter() {
                        meter.note_out(piece.len());
                    }
                    match self.left.checked_sub(piece.len() as u64) {
                        Some(left) => {
                            self.left = left;
                            // There is room: a piece is asked for when the last one was received. The client may have gone away,
                            // which is noticed where it asks for no more.
                            let _ = self.send.try_send(Ok(Some(piece)));
                        }
                        None => {
                            self.cut(Cut::TooLarge(self.max_bytes), &report);
                            return cancel(instance, &report).await;
                        }
                    }
                }
                NextPiece::End => {
                    let _ = self.send.try_send(Ok(None));
                    return Some(instance);
                }
                NextPiece::Broken => {
                    self.cut(Cut::Broken, &report);
                    return Some(instance);
                }
                NextPiece::Unfinished => return cancel(instance, &report).await,
                NextPiece::Lost(cut) => {
                    self.cut(cut, &report);
                    return None;
                }
            }
        }
    }

    /// Makes the next piece. The time limit holds from now until it is there, however often the guest is called
    /// ([`GuestTime`]).
    async fn next(&mut self, instance: &mut Instance, report: &(impl Fn(&Cut) + Sync)) -> NextPiece {
        let mut time = GuestTime::new(ms(self.timeout_ms));
        let mut step = Step::Next;
        loop {
            let mut call = std::pin::pin!(direct::next(instance, std::mem::replace(&mut step, Step::Next)));
            let (called, wanted) = tokio::select! {
                biased;
                called = &mut call => (Ok(called), true),
                () = self.send.closed() => (timeout(WIND_UP, call).await, false),
                () = sleep_until(time.ends()) => {
                    self.cut(Cut::TimedOut(self.timeout_ms), report);
                    (timeout(WIND_UP, call).await, false)
                }
            };
            match called {
                Ok(Ok(Next::End)) => return NextPiece::End,
                Ok(Ok(Next::Broken)) => return NextPiece::Broken,
                Ok(Ok(Next::Piece(piece))) if wanted => return NextPiece::Piece(piece),
                Ok(Ok(Next::Waits(part))) if wanted && !self.send.is_closed() => {
                    let waits_since = Instant::now();
                    let Some(given) = self.give(part).await else { return NextPiece::Unfinished };
                    time.waited(waits_since, &given);
                    step = Step::Give(given);
                }
                Ok(Ok(Next::Later)) if wanted && !self.send.is_closed() => {}
                Ok(Ok(_)) => return NextPiece::Unfinished,
                Ok(Err(failure)) => return NextPiece::Lost(Cut::Failed(failure)),
                Err(_) => return NextPiece::Lost(Cut::NotCancelled),
            }
            if time.is_over() {
                self.cut(Cut::TimedOut(self.timeout_ms), report);
                return NextPiece::Unfinished;
            }
            // A guest that does not wait is called again at once, and must not keep others from running.
            tokio::task::yield_now().await;
        }
    }

    /// The part of the request's body that the guest waits for; none when nobody waits for the response any more.
    async fn give(&mut self, wanted: Wanted) -> Option<Given> {
        let Some(arriving) = &mut self.arriving else { return Some(Given::Broken) };
        arriving.taken();
        tokio::select! {
            given = arriving.give(wanted) => Some(given.unwrap_or(Given::Broken)),
            () = self.send.closed() => None,
        }
    }

    /// Breaks the response off, and reports it to the client once.
    fn cut(&self, cut: Cut, report: &(impl Fn(&Cut) + Sync)) {
        report(&cut);
        let _ = self.send.try_send(Err(cut));
    }
}

/// The outcome of asking for the next piece.
enum NextPiece {
    Piece(Bytes),
    End,
    /// The guest has ended the response before its end.
    Broken,
    /// The guest would go on, but nobody waits for it any more.
    Unfinished,
    /// The instance cannot be called again.
    Lost(Cut),
}

/// Has a response ended that the guest would go on with.
async fn cancel(mut instance: Instance, report: &(impl Fn(&Cut) + Sync)) -> Option<Instance> {
    match timeout(WIND_UP, direct::cancel(&mut instance)).await {
        Ok(Ok(())) => return Some(instance),
        Err(_) => report(&Cut::NotCancelled),
        Ok(Err(failure)) => report(&Cut::Failed(failure)),
    }
    None
}

/// Streamed responses of a runtime to clients on connections.
#[derive(Debug, Default)]
pub(crate) struct Streams(watch::Sender<usize>);

impl Streams {
    /// Waits until all have ended, and their instances are cancelled: for some seconds at most.
    pub(crate) async fn ended(&self) {
        // The sender lives as long as this.
        let _ = timeout(2 * WIND_UP, self.0.subscribe().wait_for(|streams| *streams == 0)).await;
    }
}

/// One streamed response, from its start until nothing more of it is made and sent.
struct Stream {
    streams: Arc<Streams>,
    connected: AtomicBool,
}

impl Stream {
    fn connect(&self) {
        if !self.connected.swap(true, Ordering::Relaxed) {
            self.streams.0.send_modify(|streams| *streams += 1);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if *self.connected.get_mut() {
            self.streams.0.send_modify(|streams| *streams -= 1);
        }
    }
}
