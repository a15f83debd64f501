//! A circuit breaker: leaves a failing destination alone for a while, then tries it with one request at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum pause after repeated failed probes.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The breaker of one destination.
///
/// Closed: all requests pass. After a number of failures in a row it opens, and no request passes during a pause. After
/// the pause it is half open: one request passes as a probe. If that succeeds, the breaker closes. Otherwise it opens
/// again for twice as long. The watch over a sidecar opens it earlier when nothing answers, and ends the pause when the
/// sidecar is back.
pub(crate) struct Breaker {
    failures: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Failures in a row.
    failed: u32,
    /// End of the current or last pause; none while the breaker is closed.
    open_until: Option<Instant>,
    pause: Duration,
    probing: bool,
    /// Number of requests that wait for their answer.
    waiting: u32,
    /// Start of the time in which requests wait and none was answered.
    silent_since: Option<Instant>,
    /// Result of the last call or check, true for an answer; and its time.
    last: Option<(bool, Instant)>,
}

/// Traffic to a destination, as the watch sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// No call waits and the breaker is closed.
    None,
    /// Calls pass.
    Passing,
    /// This many calls wait, and none was answered for a while.
    Silent(u32),
    /// No call passes.
    Refused,
}

/// Permission for one request. Dropped without a verdict, it does not count for the destination.
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
    /// The number of failures in a row, and the rest of the pause.
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

    /// Returns the state of the calls. They are silent when none was answered for `silence`.
    pub(crate) fn traffic(&self, silence: Duration) -> Traffic {
        let state = self.state();
        match (state.open_until, state.silent_since.map(|since| since.elapsed())) {
            (Some(_), _) => Traffic::Refused,
            (None, Some(silent)) if silent >= silence => Traffic::Silent(state.waiting),
            (None, Some(_)) => Traffic::Passing,
            (None, None) => Traffic::None,
        }
    }

    /// Returns whether the destination last answered, and the time of that.
    pub(crate) fn known(&self) -> Option<(bool, Instant)> {
        let (state, now) = (self.state(), Instant::now());
        match state.open_until {
            Some(until) if until > now => Some((false, now)),
            _ => state.last,
        }
    }

    /// Records the result of a check. It does not change which calls pass.
    pub(crate) fn looked(&self, up: bool) {
        self.state().last = Some((up, Instant::now()));
    }

    /// Records a sign of life. Waiting calls may go on, and a refused call may pass.
    pub(crate) fn heard(&self) {
        let (mut state, now) = (self.state(), Instant::now());
        state.last = Some((true, now));
        state.silent_since = state.silent_since.map(|_| now);
        state.open_until = state.open_until.map(|until| until.min(now));
    }

    /// Records that this many waiting calls get no sign of life. If they are enough, no other call passes.
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
    /// Removes a waiting request.
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
    /// Records an answer.
    pub(crate) fn succeeded(mut self) {
        self.told = true;
        let mut state = self.breaker.state();
        state.end(true);
        let State { waiting, silent_since, .. } = *state;
        *state = State { waiting, silent_since, last: Some((true, Instant::now())), ..State::default() };
    }

    /// Records a failure that is the destination's own.
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

    /// Waits until a call passes, and drops its permission.
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
        assert_eq!((is_up(&breaker), breaker.traffic(PAUSE)), (Some(false), Traffic::Refused));
        wait(&breaker);
        let probe = breaker.pass().unwrap();
        assert!(breaker.pass().is_err(), "one probe at a time");
        probe.succeeded();
        assert!(breaker.pass().is_ok());
        assert_eq!((is_up(&breaker), breaker.traffic(PAUSE)), (Some(true), Traffic::None));
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
        let silent = |silence| matches!(breaker.traffic(silence), Traffic::Silent(_));
        let (first, second) = (breaker.pass().unwrap(), breaker.pass().unwrap());
        assert!(silent(Duration::ZERO) && !silent(Duration::from_secs(60)));
        // A sign of life resets the silence.
        breaker.heard();
        assert_eq!(breaker.traffic(Duration::from_secs(60)), Traffic::Passing);
        breaker.silent(1);
        assert!(breaker.pass().is_ok(), "one that waits is too few");
        breaker.silent(2);
        assert_eq!(breaker.pass().map(drop).unwrap_err().0, 2);
        first.succeeded();
        assert!(breaker.pass().is_ok(), "it was slow");
        drop(second);
        assert_eq!(breaker.traffic(Duration::ZERO), Traffic::None);
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
