//! A call of a recording, which another build may make at another time.

use std::collections::VecDeque;

use tenon_tape::{Call, Event, Failure, Piece, Response};

use crate::tape::change::{Change, shown};
use crate::tape::difference::described;

/// A recorded call.
pub(super) struct RecordedCall {
    pub(super) call: Call,
    /// Its number in the recording.
    pub(super) recorded: u32,
    /// The bytes that were written after its start.
    pub(super) written: Vec<u8>,
    /// Its place among the ends, and its result; none when nobody took it.
    pub(super) outcome: Option<(usize, Result<Response, Failure>)>,
    pub(super) pieces: VecDeque<Piece>,
    /// The number that the guest knows it by.
    pub(super) number: Option<u32>,
    /// Bytes that were written again.
    pub(super) rewritten: usize,
    pub(super) is_taken: bool,
    pub(super) is_cancelled: bool,
    /// True when the guest was told to wait until it can read or write.
    pub(super) waits: bool,
}

impl RecordedCall {
    pub(super) fn new(number: u32, call: Call) -> Self {
        Self {
            call,
            recorded: number,
            written: Vec::new(),
            outcome: None,
            pieces: VecDeque::new(),
            number: None,
            rewritten: 0,
            is_taken: false,
            is_cancelled: false,
            waits: false,
        }
    }

    /// True when the guest was told to wait, and can read or write now.
    pub(super) fn is_ready(&self) -> bool {
        let has_more = !self.pieces.is_empty() || self.rewritten < self.written.len();
        self.waits && !self.is_cancelled && has_more
    }

    /// True when the guest may wait for it.
    pub(super) fn runs(&self) -> bool {
        self.number.is_some() && !self.is_cancelled && (!self.is_taken || self.waits)
    }

    /// The part of it that the build did not ask for again.
    pub(super) fn missing(&self) -> Option<Change> {
        let change = |part, recorded| Some(Change { part, recorded: Some(recorded), replayed: None });
        if self.number.is_none() {
            let call = described(&Event::Start(self.recorded, self.call.clone()));
            return change(format!("call {}", self.recorded), call.trim_start_matches("call ").to_string());
        }
        if let Some((_, outcome)) = &self.outcome
            && !self.is_taken
        {
            let outcome = described(&Event::Take(Some((self.recorded, outcome.clone()))));
            let (part, outcome) = outcome.split_once(": ").unwrap_or(("result", &outcome));
            return change(part.to_string(), outcome.to_string());
        }
        let rest = self.written.get(self.rewritten..).unwrap_or_default();
        if !rest.is_empty() {
            return change(format!("body of call {} from byte {}", self.recorded, self.rewritten), shown(rest));
        }
        None
    }
}
