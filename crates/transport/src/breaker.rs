//! A circuit breaker: who fails again and again is left alone for a while, then tried with one request at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest pause, however often trying again has failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The breaker of one destination.
///
/// Closed: everything passes. After a number of failures in a row it opens: nothing passes for a pause. After the pause
/// it is half open: one request passes as a probe. If that succeeds the breaker closes; if not, it opens again for twice
/// as long.
pub(crate) struct Breaker {
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Failures in a row.
    failed: u32,
    /// When the pause ends or has ended; none while the breaker is closed.
    open_until: Option<Instant>,
    pause: Duration,
    probing: bool,
    last: Option<bool>,
}

/// How things stand with a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The last request was answered.
    Good,
    /// Nothing is known for sure: it was never asked, or failed and may be asked again.
    Unknown,
    /// It is left alone.
    Paused,
}

/// Permission for one request. Dropped without a verdict, it says nothing about the destination.
pub(crate) struct Pass<'a> {
    breaker: &'a Breaker,
    probe: bool,
    told: bool,
}

impl Breaker {
    pub(crate) fn new(failures: u32, pause: Duration) -> Self {
        Self { failures, pause, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request pass.
    ///
    /// # Errors
    ///
    /// How many failures in a row there were, and how long the pause still is.
    pub(crate) fn pass(&self) -> Result<Pass<'_>, (u32, Duration)> {
        let mut state = self.state();
        let Some(until) = state.open_until else { return Ok(Pass { breaker: self, probe: false, told: false }) };
        let left = until.saturating_duration_since(Instant::now());
        if !left.is_zero() || state.probing {
            return Err((state.failed, left));
        }
        state.probing = true;
        Ok(Pass { breaker: self, probe: true, told: false })
    }

    pub(crate) fn standing(&self) -> Standing {
        let state = self.state();
        match state.open_until {
            Some(until) if until > Instant::now() => Standing::Paused,
            None if state.last == Some(true) => Standing::Good,
            _ => Standing::Unknown,
        }
    }
}

impl Pass<'_> {
    /// The destination answered.
    pub(crate) fn succeeded(mut self) {
        self.told = true;
        let mut state = self.breaker.state();
        *state = State { last: Some(true), ..State::default() };
    }

    /// It did not, and that is its own fault.
    pub(crate) fn failed(mut self) {
        self.told = true;
        let mut state = self.breaker.state();
        state.failed = state.failed.saturating_add(1);
        state.last = Some(false);
        if self.probe {
            state.probing = false;
            state.pause = (state.pause * 2).min(LONGEST_PAUSE);
        } else if state.open_until.is_some() || state.failed < self.breaker.failures {
            return;
        } else {
            state.pause = self.breaker.pause;
        }
        state.open_until = Some(Instant::now() + state.pause);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe && !self.told {
            self.breaker.state().probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(40);

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.pass().map(Pass::failed).unwrap();
        }
    }

    fn wait(breaker: &Breaker) {
        while breaker.standing() == Standing::Paused {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_closes_after_a_probe() {
        let breaker = Breaker::new(3, PAUSE);
        assert_eq!(breaker.standing(), Standing::Unknown);
        fail(&breaker, 2);
        breaker.pass().map(Pass::succeeded).unwrap();
        assert_eq!(breaker.standing(), Standing::Good);
        fail(&breaker, 3);
        assert_eq!(breaker.pass().map(drop).unwrap_err().0, 3);
        wait(&breaker);
        let probe = breaker.pass().unwrap();
        assert!(breaker.pass().is_err(), "one probe at a time");
        probe.succeeded();
        assert!(breaker.pass().is_ok());
        assert_eq!(breaker.standing(), Standing::Good);
    }

    #[test]
    fn a_failed_probe_doubles_the_pause_and_one_without_a_verdict_changes_nothing() {
        let breaker = Breaker::new(1, PAUSE);
        fail(&breaker, 1);
        wait(&breaker);
        drop(breaker.pass().unwrap());
        let probe = breaker.pass().unwrap();
        probe.failed();
        let (_, left) = breaker.pass().map(drop).unwrap_err();
        assert!(left > PAUSE, "{left:?}");
    }
}
