//! The values of a recording for another build, which may ask for time and random values in another order.
//!
//! The clocks never go back, random values come from the recorded ones as long as there are any, and calls are found by their content.
//! A call that was not recorded, or comes in another order, ends the replay.

use std::collections::{BTreeMap, VecDeque};

use tenon_tape::{Call, Event, Failure, Piece, Response, Variable};

/// Nanoseconds by which a clock goes on when the recording has no other value.
const STEP: u64 = 1_000;

/// The values that another build is given.
pub(crate) struct Loose {
    monotonic: Clock,
    wall: Clock,
    random: VecDeque<u8>,
    /// The state of a generator, for more random values than were recorded.
    more: u64,
    environment: Vec<Variable>,
    calls: Vec<Recorded>,
    /// The first recorded call that may still be started.
    next: usize,
    started: u32,
    /// Calls that have ended, in the recorded order of their ends.
    done: BTreeMap<usize, usize>,
}

/// A clock that never goes back.
#[derive(Default)]
struct Clock {
    values: VecDeque<u64>,
    now: u64,
}

impl Clock {
    fn read(&mut self) -> u64 {
        let next = self.values.pop_front().unwrap_or(0);
        self.now = next.max(self.now.saturating_add(STEP));
        self.now
    }
}

/// A recorded call.
struct Recorded {
    call: Call,
    /// The bytes that were written after its start.
    written: Vec<u8>,
    /// Its place among the ends, and its result; none when nobody took it.
    outcome: Option<(usize, Result<Response, Failure>)>,
    pieces: VecDeque<Piece>,
    /// The number that the guest knows it by.
    number: Option<u32>,
    /// Bytes that were written again.
    rewritten: usize,
}

impl Loose {
    pub(crate) fn new(events: &[Event]) -> Self {
        let mut loose = Self {
            monotonic: Clock::default(),
            wall: Clock::default(),
            random: VecDeque::new(),
            more: 0x9e37_79b9_7f4a_7c15,
            environment: Vec::new(),
            calls: Vec::new(),
            next: 0,
            started: 0,
            done: BTreeMap::new(),
        };
        let mut of_number = BTreeMap::new();
        let mut ends = 0;
        for event in events {
            match event {
                Event::Monotonic(now) => loose.monotonic.values.push_back(*now),
                Event::Wall(now) => loose.wall.values.push_back(*now),
                Event::RandomBytes(bytes) => loose.random.extend(bytes),
                Event::RandomNumber(number) => loose.random.extend(number.to_be_bytes()),
                Event::Environment(variables) => loose.environment.clone_from(variables),
                Event::Start(number, call) => {
                    of_number.insert(*number, loose.calls.len());
                    loose.calls.push(Recorded {
                        call: call.clone(),
                        written: Vec::new(),
                        outcome: None,
                        pieces: VecDeque::new(),
                        number: None,
                        rewritten: 0,
                    });
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
                _ => {}
            }
        }
        // A build that asks for the time more often than before gets times near the first.
        loose.monotonic.now = loose.monotonic.values.front().map_or(0, |first| first.saturating_sub(STEP));
        loose.wall.now = loose.wall.values.front().map_or(0, |first| first.saturating_sub(STEP));
        loose
    }

    pub(super) fn monotonic(&mut self) -> u64 {
        self.monotonic.read()
    }

    pub(super) fn wall(&mut self) -> u64 {
        self.wall.read()
    }

    pub(super) fn random(&mut self, length: usize) -> Vec<u8> {
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

    pub(super) fn environment(&self) -> Vec<Variable> {
        self.environment.clone()
    }

    pub(super) fn start(&mut self, call: Call) -> Result<u32, Box<Event>> {
        let found = self.calls.iter().skip(self.next).position(|recorded| recorded.call == call);
        let Some(at) = found.map(|at| at + self.next) else { return Err(Box::new(Event::Start(0, call))) };
        self.next = at + 1;
        self.started += 1;
        self.calls[at].number = Some(self.started);
        if let Some((end, _)) = &self.calls[at].outcome {
            self.done.insert(*end, at);
        }
        Ok(self.started)
    }

    pub(super) fn wait(&mut self, timeout: u32) -> bool {
        if self.done.is_empty() && timeout != u32::MAX {
            let waited = u64::from(timeout) * 1_000;
            self.monotonic.now = self.monotonic.now.saturating_add(waited);
            self.wall.now = self.wall.now.saturating_add(waited);
        }
        !self.done.is_empty()
    }

    pub(super) fn take(&mut self) -> Option<(u32, Result<Response, Failure>)> {
        let (_, at) = self.done.pop_first()?;
        let recorded = &self.calls[at];
        Some((recorded.number?, recorded.outcome.clone()?.1))
    }

    pub(super) fn ready(&mut self) -> Option<u32> {
        None
    }

    pub(super) fn read(&mut self, call: u32) -> Piece {
        self.of(call).and_then(|recorded| recorded.pieces.pop_front()).unwrap_or(Piece::End)
    }

    pub(super) fn write(&mut self, call: u32, piece: Option<Vec<u8>>) -> Result<Option<u32>, Box<Event>> {
        let (Some(recorded), Some(bytes)) = (self.of(call), &piece) else { return Ok(Some(0)) };
        let expected = recorded.written.get(recorded.rewritten..).unwrap_or_default();
        if !expected.starts_with(bytes) {
            return Err(Box::new(Event::Write(call, piece, None)));
        }
        recorded.rewritten += bytes.len();
        Ok(u32::try_from(bytes.len()).ok())
    }

    pub(super) fn log(&mut self, _is_error: bool, _text: &[u8]) {}

    fn of(&mut self, call: u32) -> Option<&mut Recorded> {
        self.calls.iter_mut().find(|recorded| recorded.number == Some(call))
    }
}
