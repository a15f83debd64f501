//! The values of a recording for another build.
//!
//! As long as the build does what the recorded one did, it gets the recorded values in their order. From its first deviation on it may ask
//! for time and random values in another order: the clocks never go back, random values come from the recorded ones as long as there
//! are any, and calls are found by their content. A call that was not recorded, or comes in another order, ends the replay.
//!
//! The log is no part of the order: another line of it changes no value.

mod call;
mod clock;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use tenon_tape::{Call, Event, Failure, Piece, Request, Response, Tape, Variable};

use super::change::{Change, MOST};
use super::log_lines::{LogLine, LogLines};
use crate::instance::host::RANDOM_BYTES;
use call::RecordedCall;
use clock::{Clock, STEP};

/// The reason why another build cannot go on.
pub(super) enum Stop {
    /// The host ended the recorded build here, too.
    Refused(String),
    /// It waits for something that had not come when the recorded build was stopped.
    Cut,
    /// It asks for something that is nowhere in the recording.
    Asks(Box<Event>),
}

/// The values that another build is given.
pub(crate) struct Loose {
    /// The recorded events that the build has not caused yet. It has deviated when there are none.
    follows: VecDeque<Event>,
    is_cut: bool,
    monotonic: Clock,
    wall: Clock,
    /// The beginning of the request, when the recorded build never read the wall clock.
    began: Option<u64>,
    random: VecDeque<u8>,
    /// The state of a generator, for more random values than were recorded.
    more: u64,
    environment: Vec<Variable>,
    calls: Vec<RecordedCall>,
    /// The first recorded call that may still be started.
    next: usize,
    started: u32,
    /// Calls that have ended, in the recorded order of their ends.
    done: BTreeMap<usize, usize>,
    recorded_log: LogLines,
    log: LogLines,
}

impl Loose {
    pub(crate) fn new(tape: &Tape) -> Self {
        let mut loose = Self {
            follows: VecDeque::new(),
            is_cut: tape.meta.is_cut,
            monotonic: Clock::default(),
            wall: Clock::default(),
            began: None,
            random: VecDeque::new(),
            more: 0x9e37_79b9_7f4a_7c15,
            environment: Vec::new(),
            calls: Vec::new(),
            next: 0,
            started: 0,
            done: BTreeMap::new(),
            recorded_log: LogLines::default(),
            log: LogLines::default(),
        };
        let mut of_number = BTreeMap::new();
        let mut ends = 0;
        for event in &tape.events {
            match event {
                Event::Monotonic(now) => loose.monotonic.values.push_back(*now),
                Event::Wall(now) => loose.wall.values.push_back(*now),
                Event::RandomBytes(bytes) => loose.random.extend(bytes),
                Event::RandomNumber(number) => loose.random.extend(number.to_be_bytes()),
                Event::Environment(variables) => loose.environment.clone_from(variables),
                Event::Start(number, call) => {
                    of_number.insert(*number, loose.calls.len());
                    loose.calls.push(RecordedCall::new(*number, call.clone()));
                }
                Event::Take(Some((number, outcome))) => {
                    if let Some(at) = of_number.get(number) {
                        loose.calls[*at].outcome = Some((ends, outcome.clone()));
                        ends += 1;
                    }
                }
                Event::Read(number, piece) if *piece != Piece::Later => {
                    if let Some(at) = of_number.get(number) {
                        loose.calls[*at].pieces.push_back(piece.clone());
                    }
                }
                Event::Write(number, Some(piece), Some(taken)) => {
                    if let Some(at) = of_number.get(number) {
                        let taken = piece.len().min(*taken as usize);
                        loose.calls[*at].written.extend_from_slice(&piece[..taken]);
                    }
                }
                Event::Log(is_error, text) => loose.recorded_log.add(*is_error, text),
                _ => {}
            }
            if !matches!(event, Event::Log(..)) {
                loose.follows.push_back(event.clone());
            }
        }
        // A build that asks for the time more often than before gets times near the first.
        loose.monotonic.now = loose.monotonic.values.front().map_or(0, |first| first.saturating_sub(STEP));
        match loose.wall.values.front() {
            Some(first) => loose.wall.now = first.saturating_sub(STEP),
            None => loose.began = Some(tape.meta.time),
        }
        loose
    }

    /// The next call into the recorded build, as long as this one has done the same.
    pub(super) fn enter(&mut self) -> Option<Request> {
        self.follow(|event| match event {
            Event::Enter(request) => Some(request.clone()),
            _ => None,
        })
    }

    /// The build returned or trapped.
    pub(super) fn leave(&mut self, event: &Event) {
        self.follow(|recorded| (recorded == event).then_some(()));
    }

    pub(super) fn monotonic(&mut self) -> u64 {
        let now = self.follow(|event| match event {
            Event::Monotonic(now) => Some(*now),
            _ => None,
        });
        now.unwrap_or_else(|| self.monotonic.read(0))
    }

    pub(super) fn wall(&mut self) -> u64 {
        let now = self.follow(|event| match event {
            Event::Wall(now) => Some(*now),
            _ => None,
        });
        let least = self.began.map_or(0, |began| began.saturating_add(self.monotonic.now));
        now.unwrap_or_else(|| self.wall.read(least))
    }

    pub(super) fn random_bytes(&mut self, length: u64) -> Result<Vec<u8>, Stop> {
        self.refused()?;
        if length > RANDOM_BYTES {
            return Err(Stop::Refused("more random bytes than a guest may ask for".into()));
        }
        let length = length as usize;
        let bytes = self.follow(|event| match event {
            Event::RandomBytes(bytes) if bytes.len() == length => Some(bytes.clone()),
            _ => None,
        });
        Ok(bytes.unwrap_or_else(|| self.random(length)))
    }

    pub(super) fn random_number(&mut self) -> u64 {
        let number = self.follow(|event| match event {
            Event::RandomNumber(number) => Some(*number),
            _ => None,
        });
        let number_of = |bytes: Vec<u8>| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        number.unwrap_or_else(|| number_of(self.random(8)))
    }

    pub(super) fn environment(&mut self) -> Vec<Variable> {
        self.follow(|event| matches!(event, Event::Environment(_)).then_some(()));
        self.environment.clone()
    }

    pub(super) fn start(&mut self, call: Call) -> Result<u32, Stop> {
        self.refused()?;
        let followed = self.follow(|event| match event {
            Event::Start(number, recorded) if *recorded == call => Some(*number),
            _ => None,
        });
        if let Some(number) = followed {
            return Ok(number);
        }
        let found = self.calls.iter().skip(self.next).position(|recorded| recorded.call == call);
        let Some(at) = found.map(|at| at + self.next) else { return Err(asks(Event::Start(0, call))) };
        self.began_call(at, self.started.saturating_add(1));
        Ok(self.started)
    }

    pub(super) fn wait(&mut self, timeout: u32) -> Result<bool, Stop> {
        let followed = self.follow(|event| match event {
            Event::Wait(recorded, has_any) if *recorded == timeout => Some(*has_any),
            _ => None,
        });
        if let Some(has_any) = followed {
            return Ok(has_any);
        }
        let has_any = !self.done.is_empty() || self.calls.iter().any(|recorded| recorded.is_ready());
        if !has_any && timeout == u32::MAX {
            return match self.calls.iter().find(|recorded| recorded.runs()) {
                Some(_) if self.is_cut => Err(Stop::Cut),
                Some(recorded) if recorded.is_taken => Err(asks(Event::Read(recorded.recorded, Piece::Later))),
                Some(_) => Err(asks(Event::Wait(timeout, false))),
                None => Ok(false),
            };
        }
        if !has_any {
            let waited = u64::from(timeout) * 1_000;
            self.monotonic.now = self.monotonic.now.saturating_add(waited);
            self.wall.now = self.wall.now.saturating_add(waited);
        }
        Ok(has_any)
    }

    pub(super) fn take(&mut self) -> Option<(u32, Result<Response, Failure>)> {
        let followed = self.follow(|event| match event {
            Event::Take(taken) => Some(taken.clone()),
            _ => None,
        });
        if let Some(taken) = followed {
            return taken;
        }
        let (_, at) = self.done.pop_first()?;
        let recorded = &mut self.calls[at];
        recorded.is_taken = true;
        Some((recorded.number?, recorded.outcome.clone()?.1))
    }

    pub(super) fn ready(&mut self) -> Option<u32> {
        let followed = self.follow(|event| match event {
            Event::Ready(number) => Some(*number),
            _ => None,
        });
        if let Some(number) = followed {
            return number;
        }
        let recorded = self.calls.iter_mut().find(|recorded| recorded.is_ready())?;
        recorded.waits = false;
        recorded.number
    }

    pub(super) fn read(&mut self, call: u32) -> Piece {
        let followed = self.follow(|event| match event {
            Event::Read(number, piece) if *number == call => Some(piece.clone()),
            _ => None,
        });
        followed.unwrap_or_else(|| {
            let Some(recorded) = self.of(call) else { return Piece::End };
            let piece = recorded.pieces.pop_front();
            if matches!(piece, Some(Piece::End | Piece::Failed(_))) {
                recorded.pieces = VecDeque::from([Piece::End]);
            }
            recorded.waits = piece.is_none();
            piece.unwrap_or(Piece::Later)
        })
    }

    pub(super) fn write(&mut self, call: u32, piece: Option<Vec<u8>>) -> Result<Option<u32>, Stop> {
        let followed = self.follow(|event| match event {
            Event::Write(number, recorded, taken) if *number == call && *recorded == piece => Some(*taken),
            _ => None,
        });
        if let Some(taken) = followed {
            return Ok(taken);
        }
        let (Some(recorded), Some(bytes)) = (self.of(call), &piece) else { return Ok(Some(0)) };
        let expected = recorded.written.get(recorded.rewritten..).unwrap_or_default();
        if !expected.starts_with(bytes) {
            return Err(asks(Event::Write(call, piece, None)));
        }
        recorded.rewritten += bytes.len();
        Ok(u32::try_from(bytes.len()).ok())
    }

    pub(super) fn cancel(&mut self, call: u32) {
        self.follow(|event| (*event == Event::Cancel(call)).then_some(()));
        self.cancelled(call);
    }

    pub(super) fn log(&mut self, is_error: bool, text: &[u8]) {
        self.log.add(is_error, text);
    }

    /// The recorded calls, results and log lines that the build did not cause again, and its own log.
    pub(super) fn end(self) -> (Vec<Change>, Vec<LogLine>) {
        let mut changes = self.recorded_log.changes(&self.log, self.is_cut);
        changes.truncate(MOST);
        // Neither needs to have come as far as the other when both were stopped.
        if !self.is_cut {
            let missing = self.calls.iter().filter_map(RecordedCall::missing).take(MOST);
            changes.splice(..0, missing);
        }
        (changes, self.log.into_lines())
    }

    /// Returns a value of the next recorded event when the build still follows the recording and has caused this event.
    fn follow<T>(&mut self, value: impl FnOnce(&Event) -> Option<T>) -> Option<T> {
        let found = self.follows.front().and_then(value);
        match (found, self.follows.pop_front()) {
            (Some(value), Some(event)) => {
                self.followed(event);
                Some(value)
            }
            _ => {
                self.follows.clear();
                None
            }
        }
    }

    /// Fails when the host ended the recorded build in this function.
    fn refused(&mut self) -> Result<(), Stop> {
        let Some(Event::Refused(text)) = self.follows.front() else { return Ok(()) };
        let text = text.clone();
        self.follows.pop_front();
        Err(Stop::Refused(text))
    }

    /// Notes that the build has got the values of an event, so that it does not get them again after a deviation.
    fn followed(&mut self, event: Event) {
        match event {
            Event::Monotonic(now) => self.monotonic.follow(now),
            Event::Wall(now) => self.wall.follow(now),
            Event::RandomBytes(bytes) => drop(self.random.drain(..bytes.len())),
            Event::RandomNumber(_) => drop(self.random.drain(..8)),
            Event::Start(number, _) => self.began_call(self.next, number),
            Event::Take(Some((number, _))) => {
                if let Some(recorded) = self.of(number) {
                    recorded.is_taken = true;
                    if let Some((end, _)) = recorded.outcome {
                        self.done.remove(&end);
                    }
                }
            }
            Event::Ready(Some(number)) => {
                if let Some(recorded) = self.of(number) {
                    recorded.waits = false;
                }
            }
            Event::Read(number, piece) => {
                if let Some(recorded) = self.of(number) {
                    recorded.waits = piece == Piece::Later;
                    if piece != Piece::Later {
                        recorded.pieces.pop_front();
                    }
                    if matches!(piece, Piece::End | Piece::Failed(_)) {
                        recorded.pieces = VecDeque::from([Piece::End]);
                    }
                }
            }
            Event::Write(number, Some(piece), Some(taken)) => {
                if let Some(recorded) = self.of(number) {
                    let taken = piece.len().min(taken as usize);
                    recorded.rewritten += taken;
                    recorded.waits = taken < piece.len();
                }
            }
            _ => {}
        }
    }

    fn random(&mut self, length: usize) -> Vec<u8> {
        (0..length)
            .map(|_| {
                self.random.pop_front().unwrap_or_else(|| {
                    self.more ^= self.more << 13;
                    self.more ^= self.more >> 7;
                    self.more ^= self.more << 17;
                    self.more as u8
                })
            })
            .collect()
    }

    /// Notes that the build has started a recorded call.
    fn began_call(&mut self, at: usize, number: u32) {
        self.next = at + 1;
        self.started = number;
        let recorded = &mut self.calls[at];
        recorded.number = Some(number);
        if let Some((end, _)) = &recorded.outcome {
            self.done.insert(*end, at);
        }
    }

    fn cancelled(&mut self, call: u32) {
        let Some(recorded) = self.of(call) else { return };
        recorded.is_cancelled = true;
        recorded.pieces = VecDeque::from([Piece::End]);
        if let Some((end, _)) = recorded.outcome {
            self.done.remove(&end);
        }
    }

    fn of(&mut self, call: u32) -> Option<&mut RecordedCall> {
        self.calls.iter_mut().find(|recorded| recorded.number == Some(call))
    }
}

fn asks(event: Event) -> Stop {
    Stop::Asks(Box::new(event))
}
