//! The time at which the statements of a request have to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time for SQLite to end a statement by itself, after which its instance is ended.
const GRACE: Duration = Duration::from_millis(200);

/// A deadline, and a flag that the client has left.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    deadline: Option<Instant>,
    left: Option<Arc<AtomicBool>>,
    /// The moment in which it was first seen that the time is over.
    over: Option<Instant>,
}

impl Watch {
    pub(crate) fn new(deadline: Option<Instant>, left: Option<Arc<AtomicBool>>) -> Self {
        Self { deadline, left, over: None }
    }

    /// Reports whether the deadline has passed, or the client has left.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
            || self.left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed))
    }

    /// Reports whether SQLite has had its time to end the statement.
    pub(crate) fn must_end(&mut self) -> bool {
        if !self.is_over() {
            return false;
        }
        let now = Instant::now();
        now > *self.over.get_or_insert(now) + GRACE
    }

    /// The time that is left; `most` without a deadline.
    pub(crate) fn remaining(&self, most: Duration) -> Duration {
        if self.is_over() {
            return Duration::ZERO;
        }
        self.deadline.map_or(most, |deadline| deadline.saturating_duration_since(Instant::now()).min(most))
    }
}
