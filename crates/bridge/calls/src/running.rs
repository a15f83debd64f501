//! The calls of a component, and waiting for them.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::bindings::exports::sdk::core::calls::{Bodies, Failure, Piece, Reason, Request, Response};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::io::poll::poll;
use crate::call::Call;
use crate::failure::failure;

/// Maximum number of running calls. It keeps a loop from filling the memory; servers have limits of their own.
const MOST: usize = 64;

/// Nanoseconds in a microsecond.
const US: u64 = 1000;

/// The timeout that means none.
const NO_LIMIT: u32 = u32::MAX;

/// All calls that were not taken yet, and the streamed ones that were not read to their end.
pub struct Running {
    last: u32,
    calls: Vec<Call>,
    ended: VecDeque<(u32, Result<Response, Failure>)>,
    /// Streams that have something to read, or room to write.
    ready: VecDeque<u32>,
}

/// The calls behind a cell. A component runs one function call at a time.
struct Single(RefCell<Running>);

// SAFETY: the component has one thread.
unsafe impl Sync for Single {}

static RUNNING: Single =
    Single(RefCell::new(Running { last: 0, calls: Vec::new(), ended: VecDeque::new(), ready: VecDeque::new() }));

/// Runs a function with the calls.
pub fn with<T>(work: impl FnOnce(&mut Running) -> T) -> T {
    work(&mut RUNNING.0.borrow_mut())
}

impl Running {
    /// Starts a call, or records the failure to start it.
    pub fn start(&mut self, request: Request, bodies: Bodies) -> u32 {
        self.last = self.last.wrapping_add(1).max(1);
        let number = self.last;
        let started = if self.calls.len() >= MOST {
            Err(failure(Reason::Unreachable, "the handler has too many calls running"))
        } else {
            Call::start(number, request, bodies)
        };
        match started {
            Ok(mut call) => match call.proceed(monotonic_clock::now()) {
                Some(result) => {
                    self.ended.push_back((number, result));
                    if call.is_streaming() {
                        self.calls.push(call);
                    }
                }
                None => self.calls.push(call),
            },
            Err(failure) => self.ended.push_back((number, Err(failure))),
        }
        number
    }

    /// Waits until a call has ended or a stream is ready, at most `timeout_us` microseconds.
    pub fn wait(&mut self, timeout_us: u32) -> bool {
        let end = (timeout_us != NO_LIMIT).then(|| monotonic_clock::now().saturating_add(u64::from(timeout_us) * US));
        loop {
            let now = monotonic_clock::now();
            self.proceed(now);
            if self.has_any() {
                return true;
            }
            let mut waited = Vec::new();
            self.calls.iter().for_each(|call| call.pollables(&mut waited));
            if waited.is_empty() && end.is_none() {
                return false;
            }
            if end.is_some_and(|end| end <= now) {
                // Some hosts notice that a response has arrived only when they are polled for it.
                if waited.iter().fold(false, |any, pollable| pollable.ready() | any) {
                    drop(waited);
                    self.proceed(now);
                }
                return self.has_any();
            }
            if let Some(first) = self.calls.iter().filter_map(Call::next_time).chain(end).min() {
                waited.push(monotonic_clock::subscribe_instant(first));
            }
            poll(&waited.iter().collect::<Vec<_>>());
        }
    }

    fn has_any(&self) -> bool {
        !self.ended.is_empty() || !self.ready.is_empty()
    }

    fn proceed(&mut self, now: u64) {
        let mut at = 0;
        while let Some(call) = self.calls.get_mut(at) {
            let number = call.number;
            let result = if call.is_open() { None } else { call.proceed(now) };
            if result.is_none() && call.is_ready(now) && !self.ready.contains(&number) {
                self.ready.push_back(number);
            }
            let Some(result) = result else {
                at += 1;
                continue;
            };
            if call.is_streaming() {
                at += 1;
            } else {
                self.calls.remove(at);
            }
            self.ended.push_back((number, result));
        }
    }

    /// Takes the number of a stream with something to read, or room to write.
    pub fn ready(&mut self) -> Option<u32> {
        let number = self.ready.pop_front()?;
        if let Some(call) = self.open(number) {
            (call.reads, call.writes) = (false, false);
        }
        Some(number)
    }

    /// Reads the next piece of a response.
    pub fn read(&mut self, number: u32) -> Piece {
        // Its head was not taken yet.
        if self.ended.iter().any(|(ended, _)| *ended == number) {
            return Piece::End;
        }
        let Some(call) = self.open(number).filter(|call| call.is_open()) else { return Piece::End };
        let piece = call.read(monotonic_clock::now());
        if matches!(piece, Piece::End | Piece::Failed(_)) {
            self.cancel(number);
        }
        piece
    }

    /// Writes the next piece of a request, or ends it.
    pub fn write(&mut self, number: u32, piece: Option<&[u8]>) -> Option<u32> {
        let call = self.open(number)?;
        match piece {
            Some(piece) => call.write(piece),
            None => call.end(),
        }
    }

    fn open(&mut self, number: u32) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.number == number)
    }

    /// Takes the call that ended first.
    pub fn take(&mut self) -> Option<(u32, Result<Response, Failure>)> {
        self.ended.pop_front()
    }

    /// Cancels a call and drops its result.
    pub fn cancel(&mut self, number: u32) {
        self.calls.retain(|call| call.number != number);
        self.ended.retain(|(ended, _)| *ended != number);
        self.ready.retain(|ready| *ready != number);
    }
}
