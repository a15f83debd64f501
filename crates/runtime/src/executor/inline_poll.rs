//! Polls a call once on the caller's thread before handing it to the pool.
//!
//! Waking another thread and being woken by it costs as much as a small handler does. So a program with a thread of its
//! own may begin a call there, and most end within this poll. A call that waits, or computes until the engine's clock
//! ticks, continues elsewhere.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// A beginning that took longer than this is followed by a pause of so many times its length: modules that compute for long
/// hold the thread up for a twentieth of its time at most.
const BRIEF: Duration = Duration::from_millis(1);
const PAUSE: u32 = 20;

thread_local! {
    static BEGINNING: Cell<bool> = const { Cell::new(false) };
}

/// Reports whether a call is begun on this thread, where no task runs that could continue work.
pub(crate) fn is_beginning() -> bool {
    BEGINNING.get()
}

/// Polls calls once on the caller's thread, unless the last ones took long there.
#[derive(Debug, Default)]
pub struct InlinePoll {
    paused_until: Option<Instant>,
}

impl InlinePoll {
    /// Polls a future until it waits; None when it panicked. A pending future must be moved to a task, or nothing wakes
    /// it. Needs the context of a Tokio runtime.
    pub fn begin<F: Future + ?Sized>(&mut self, future: Pin<&mut F>) -> Poll<Option<F::Output>> {
        let began = Instant::now();
        if self.paused_until.is_some_and(|until| began < until) {
            return Poll::Pending;
        }
        let mut context = Context::from_waker(Waker::noop());
        BEGINNING.set(true);
        let polled = catch_unwind(AssertUnwindSafe(|| future.poll(&mut context).map(Some)));
        BEGINNING.set(false);
        let took = began.elapsed();
        self.paused_until = (took > BRIEF).then(|| began + took * PAUSE);
        polled.unwrap_or(Poll::Ready(None))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::pin::pin;
    use std::thread::sleep;

    use super::*;

    #[test]
    fn a_call_that_is_over_at_once_is_answered_at_once_and_another_can_go_on() {
        let mut here = InlinePoll::default();
        assert_eq!(here.begin(pin!(ready(1))), Poll::Ready(Some(1)));
        assert_eq!(here.begin(pin!(pending::<u8>())), Poll::Pending);
        assert_eq!(here.begin(pin!(ready(2))), Poll::Ready(Some(2)));
    }

    #[test]
    fn after_a_long_beginning_calls_are_begun_elsewhere_for_a_while() {
        let mut here = InlinePoll::default();
        let long = poll_fn(|_| {
            sleep(BRIEF * 2);
            Poll::Ready(1)
        });
        assert_eq!(here.begin(pin!(long)), Poll::Ready(Some(1)));
        assert_eq!(here.begin(pin!(ready(2))), Poll::Pending);
        here.paused_until = Some(Instant::now());
        assert_eq!(here.begin(pin!(ready(2))), Poll::Ready(Some(2)));
    }

    #[test]
    fn what_is_called_can_tell_that_it_is_begun_here() {
        assert_eq!(
            InlinePoll::default().begin(pin!(poll_fn(|_| Poll::Ready(is_beginning())))),
            Poll::Ready(Some(true))
        );
        assert!(!is_beginning());
    }

    #[test]
    fn a_panic_ends_the_call_and_nothing_else() {
        let mut here = InlinePoll::default();
        assert_eq!(here.begin(pin!(poll_fn::<u8, _>(|_| panic!("meant")))), Poll::Ready(None));
        assert!(!is_beginning());
        // Telling of it takes a while.
        here.paused_until = None;
        assert_eq!(here.begin(pin!(ready(2))), Poll::Ready(Some(2)));
    }
}
