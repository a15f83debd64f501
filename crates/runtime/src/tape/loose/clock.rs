//! The clocks of another build.

use std::collections::VecDeque;

/// Nanoseconds by which a clock goes on when the recording has no other value.
pub(super) const STEP: u64 = 1_000;

/// A clock that never goes back.
#[derive(Default)]
pub(super) struct Clock {
    pub(super) values: VecDeque<u64>,
    pub(super) now: u64,
}

impl Clock {
    pub(super) fn read(&mut self, least: u64) -> u64 {
        let next = self.values.pop_front().unwrap_or(least);
        self.now = next.max(self.now.saturating_add(STEP));
        self.now
    }

    /// Reads the value that was recorded at this place.
    pub(super) fn follow(&mut self, now: u64) {
        self.values.pop_front();
        self.now = now;
    }
}
