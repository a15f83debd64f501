//! A circuit breaker: a destination that fails again and again is left alone for a while, then tried with one request at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest pause, however often trying again has failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The breaker of one destination.
///
/// Closed: everything passes. After a number of failures in a row it opens: nothing passes for a pause. After the pause
/// it is half open: one request passes as a probe. If that succeeds the breaker closes; if not, it opens again for twice
/// as long. The watch over a sidecar opens it earlier, when nothing answers, and ends the pause when the sidecar is back.
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
    /// Requests that wait for their answer.
    waiting: u32,
    /// Since when there are such requests and none was answered.
    silent_since: Option<Instant>,
    /// Whether the destination answered when it was last called or looked at, and when that was.
    last: Option<(bool, Instant)>,
}

/// The state of the calls to a destination, for whoever watches over them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// No call waits and the breaker is closed.
    None,
    /// Calls pass.
    Passing,
    /// So many calls wait, and none was answered for a while.
    Silent(u32),
    /// No call passes.
    Refused,
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
        let (mut state, now) = (self.state(), Instant::now());
        if let Some(until) = state.open_until {
            let left = until.saturating_duration_since(now);
            if !left.is_zero() || state.probing {
                return Err((state.failed, left));
            }
            state.probing = true;
        }
        let probe = state.open_until.is_some();
        state.waiting += 1;
        state.silent_since.get_or_insert(now);
        Ok(Pass { breaker: self, probe, told: false })
    }

    /// The state of the calls, which are silent when none was answered for as long as `silence`.
    pub(crate) fn calls(&self, silence: Duration) -> Calls {
        let state = self.state();
        match (state.open_until, state.silent_since.map(|since| since.elapsed())) {
            (Some(_), _) => Calls::Refused,
            (None, Some(silent)) if silent >= silence => Calls::Silent(state.waiting),
            (None, Some(_)) => Calls::Passing,
            (None, None) => Calls::None,
        }
    }

    /// Whether the destination answers, as far as is known, and since when that is known.
    pub(crate) fn known(&self) -> Option<(bool, Instant)> {
        let (state, now) = (self.state(), Instant::now());
        match state.open_until {
            Some(until) if until > now => Some((false, now)),
            _ => state.last,
        }
    }

    /// Notes that the destination was looked at, and whether it was there. Calls pass or not as before.
    pub(crate) fn looked(&self, up: bool) {
        self.state().last = Some((up, Instant::now()));
    }

    /// The destination has given a sign of life: calls that wait are waited for, and one passes that would be refused.
    pub(crate) fn heard(&self) {
        let (mut state, now) = (self.state(), Instant::now());
        state.last = Some((true, now));
        state.silent_since = state.silent_since.map(|_| now);
        state.open_until = state.open_until.map(|until| until.min(now));
    }

    /// The destination gives no sign of life to so many calls that wait. When they are enough, no other passes.
    pub(crate) fn silent(&self, waiting: u32) {
        let (mut state, now) = (self.state(), Instant::now());
        state.last = Some((false, now));
        if state.open_until.is_none() && waiting >= self.failures {
            state.failed = state.failed.max(waiting);
            state.pause = self.pause;
            state.open_until = Some(now + self.pause);
        }
    }
}

impl State {
    /// A request waits no longer.
    fn end(&mut self, answered: bool) {
        self.waiting = self.waiting.saturating_sub(1);
        if self.waiting == 0 {
            self.silent_since = None;
        } else if answered {
            self.silent_since = Some(Instant::now());
        }
    }
}

impl Pass<'_> {
    /// The destination answered.
    pub(crate) fn succeeded(mut self) {
        self.told = true;
        let mut state = self.breaker.state();
        state.end(true);
        let State { waiting, silent_since, .. } = *state;
        *state = State { waiting, silent_since, last: Some((true, Instant::now())), ..State::default() };
    }

    /// It did not, and that is its own fault.
    pub(crate) fn failed(mut self) {
        self.told = true;
        let mut state = self.breaker.state();
        state.end(false);
        state.failed = state.failed.saturating_add(1);
        state.last = Some((false, Instant::now()));
        if self.probe && state.open_until.is_some() {
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
        if !self.told {
            let mut state = self.breaker.state();
            state.end(false);
            if self.probe {
                state.probing = false;
            }
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

    /// Waits until a call passes, which is dropped.
    fn wait(breaker: &Breaker) {
        while breaker.pass().is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_up(breaker: &Breaker) -> Option<bool> {
        breaker.known().map(|(up, _)| up)
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_closes_after_a_probe() {
        let breaker = Breaker::new(3, PAUSE);
        assert_eq!(is_up(&breaker), None);
        fail(&breaker, 2);
        breaker.pass().map(Pass::succeeded).unwrap();
        assert_eq!(is_up(&breaker), Some(true));
        fail(&breaker, 3);
        assert_eq!(breaker.pass().map(drop).unwrap_err().0, 3);
        assert_eq!((is_up(&breaker), breaker.calls(PAUSE)), (Some(false), Calls::Refused));
        wait(&breaker);
        let probe = breaker.pass().unwrap();
        assert!(breaker.pass().is_err(), "one probe at a time");
        probe.succeeded();
        assert!(breaker.pass().is_ok());
        assert_eq!((is_up(&breaker), breaker.calls(PAUSE)), (Some(true), Calls::None));
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

    #[test]
    fn calls_that_wait_without_an_answer_are_silence_and_enough_of_them_open_it() {
        let breaker = Breaker::new(2, PAUSE);
        let silent = |silence| matches!(breaker.calls(silence), Calls::Silent(_));
        let (first, second) = (breaker.pass().unwrap(), breaker.pass().unwrap());
        assert!(silent(Duration::ZERO) && !silent(Duration::from_secs(60)));
        // A sign of life begins anew.
        breaker.heard();
        assert_eq!(breaker.calls(Duration::from_secs(60)), Calls::Passing);
        breaker.silent(1);
        assert!(breaker.pass().is_ok(), "one that waits is too few");
        breaker.silent(2);
        assert_eq!(breaker.pass().map(drop).unwrap_err().0, 2);
        first.succeeded();
        assert!(breaker.pass().is_ok(), "it was slow");
        drop(second);
        assert_eq!(breaker.calls(Duration::ZERO), Calls::None);
    }

    #[test]
    fn one_that_has_given_a_sign_of_life_is_tried_at_once() {
        let breaker = Breaker::new(1, LONGEST_PAUSE);
        fail(&breaker, 1);
        assert!(breaker.pass().is_err());
        breaker.heard();
        assert_eq!(is_up(&breaker), Some(true));
        let probe = breaker.pass().unwrap();
        assert!(breaker.pass().is_err(), "one at a time");
        breaker.heard();
        assert!(breaker.pass().is_err(), "one at a time");
        probe.failed();
        assert!(breaker.pass().is_err());
    }
}
