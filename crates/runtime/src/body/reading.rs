//! A request's body that arrives while a service of WASI 0.3 reads it.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use wasmtime_wasi_http::Error;

use super::arriving::{Arriving, Given, TURN, Wanted};
use crate::request::problem::Problem;

/// The body, as the guest reads it.
pub(crate) struct Reading {
    state: State,
    course: watch::Sender<Course>,
}

enum State {
    /// Nobody waits for a part of it.
    Idle(Box<Arriving>),
    /// The guest waits for the next part.
    Waiting(Next),
    Over,
}

/// The next part of a body, and the rest of it.
type Next = Pin<Box<dyn Future<Output = (Box<Arriving>, Result<Given, Problem>)> + Send>>;

/// The course of the reading.
#[derive(Clone)]
enum Course {
    /// The guest has had all that it asked for since then.
    Busy(Instant),
    /// The guest waits for its client, as it did then. Each look at the client's data renews it, at least every [`TURN`].
    Waiting(Instant),
    /// No more of the body can be read.
    Failed(Problem),
}

/// The view of the reading that the guest's caller has.
pub(crate) struct Progress(watch::Receiver<Course>);

impl Reading {
    /// The body of a request, and the progress of its reading.
    pub(crate) fn new(arriving: Arriving) -> (Self, Progress) {
        let (course, progress) = watch::channel(Course::Busy(Instant::now()));
        (Self { state: State::Idle(Box::new(arriving)), course }, Progress(progress))
    }

    fn note(&self, course: Course) {
        self.course.send_replace(course);
    }
}

impl Progress {
    /// Waits until the body cannot be read any more, and returns the reason. None when the guest has had all that it asked for
    /// during `limit`, or asks for no more of it: a guest can give up its reading without a trace.
    pub(crate) async fn ends(mut self, limit: Duration) -> Option<Problem> {
        loop {
            let course = self.0.borrow_and_update().clone();
            let ends = match course {
                Course::Failed(problem) => return Some(problem),
                Course::Waiting(since) => since + TURN + limit,
                Course::Busy(since) => since + limit,
            };
            match timeout_at(ends, self.0.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => {
                    // The guest reads no more.
                    sleep_until(ends).await;
                    return None;
                }
                Err(_) => return None,
            }
        }
    }
}

impl Body for Reading {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Poll::Ready(None),
                State::Idle(mut arriving) => {
                    // The guest has taken the part before.
                    arriving.taken();
                    self.note(Course::Waiting(Instant::now()));
                    self.state = State::Waiting(Box::pin(async move {
                        let given = arriving.give(Wanted::Piece).await;
                        (arriving, given)
                    }));
                }
                State::Waiting(mut waiting) => {
                    let Poll::Ready((mut arriving, given)) = waiting.as_mut().poll(cx) else {
                        self.state = State::Waiting(waiting);
                        return Poll::Pending;
                    };
                    if !matches!(given, Ok(Given::Nothing)) {
                        self.note(Course::Busy(Instant::now()));
                    }
                    match given {
                        Ok(Given::Nothing) => self.state = State::Idle(arriving),
                        Ok(Given::Piece(piece)) => {
                            self.state = State::Idle(arriving);
                            return Poll::Ready(Some(Ok(Frame::data(piece))));
                        }
                        Ok(Given::End | Given::Broken) => {
                            return Poll::Ready(arriving.trailers().map(|trailers| Ok(Frame::trailers(trailers))));
                        }
                        Err(problem) => {
                            self.note(Course::Failed(problem));
                            leave(async { arriving });
                            return Poll::Ready(Some(Err(Error::ConnectionTerminated)));
                        }
                    }
                }
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Over => {}
            State::Idle(arriving) => leave(async { arriving }),
            State::Waiting(waiting) => {
                self.note(Course::Busy(Instant::now()));
                leave(async { waiting.await.0 });
            }
        }
    }
}

/// Reads the rest of a body that the guest does not want, so that a client that is still sending sees the answer.
fn leave(arriving: impl Future<Output = Box<Arriving>> + Send + 'static) {
    // Without a runtime there is no client left either.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async { arriving.await.leave().await });
    }
}
