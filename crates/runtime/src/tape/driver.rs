//! Drives another build through a recording. Its pieces of bodies may have other borders.
//!
//! A strict replay calls the guest as it was called. Another build is called as it wants to be: it gets the rest of the request's body
//! when it waits for it, and is asked for pieces until its answer ends. Whole answers are compared.

use std::collections::VecDeque;

use http::StatusCode;
use tenon_tape::{BEGIN, BROKEN, CANCEL, END, Event, MAX_BYTES, NEXT, PIECE, Request, Response, Tape};

use super::change::{Change, changes};
use crate::instance::call::direct::{WAITS, is_streamed, wants_whole};

/// The calls into a guest, and its answer so far.
pub(super) struct Driver {
    /// The first call; none once it was made.
    first: Option<Request>,
    wants: Wants,
    /// Pieces of the request's body that the guest has not got. None is a pause.
    pieces: VecDeque<Option<Vec<u8>>>,
    /// The call after the last piece; none once it was made.
    end: Option<&'static str>,
    answer: ComparedAnswer,
    recorded: ComparedAnswer,
}

/// An answer, or a part of it.
#[derive(Default)]
struct ComparedAnswer {
    head: Option<Response>,
    is_streamed: bool,
    /// The trap or failure that ended it, if any.
    failed: Option<Event>,
    /// True when the host did not want the rest.
    is_cancelled: bool,
    /// True when nobody waited for it.
    is_unknown: bool,
}

/// The next thing that a guest asks for after a call.
#[derive(Clone, Copy, Default)]
enum Wants {
    /// More of the request's body: the next piece, or all of it.
    Body(bool),
    /// To be asked for the next piece.
    Next,
    #[default]
    Nothing,
}

impl Driver {
    pub(super) fn new(tape: &Tape) -> Self {
        let (mut first, mut pieces, mut end) = (None, VecDeque::new(), None);
        let mut recorded = ComparedAnswer::default();
        for event in &tape.events {
            match event {
                Event::Enter(request) if first.is_none() => {
                    if request.method.starts_with(BEGIN) {
                        end = Some(END);
                    }
                    first = Some(request.clone());
                }
                Event::Enter(request) => match request.method.as_str() {
                    PIECE => pieces.push_back(request.body.clone()),
                    BROKEN => end = Some(BROKEN),
                    CANCEL => recorded.is_cancelled = true,
                    _ => {}
                },
                Event::Leave(_) if recorded.is_cancelled => {}
                Event::Leave(response) => drop(recorded.add(response.clone())),
                Event::Trap(_) => recorded.failed = Some(event.clone()),
                _ => {}
            }
        }
        if tape.meta.is_cut {
            // Its client had gone, unless the server answered for it.
            recorded.is_cancelled |= recorded.head.is_some();
            recorded.is_unknown = recorded.head.is_none() && tape.meta.status != StatusCode::GATEWAY_TIMEOUT;
        }
        Self { first, wants: Wants::Nothing, pieces, end, answer: ComparedAnswer::default(), recorded }
    }

    /// The next call into the guest: the recorded one, as long as the build has done the same, or else the one that it wants.
    pub(super) fn next(&mut self, recorded: Option<Request>) -> Option<Request> {
        let wants = std::mem::take(&mut self.wants);
        let first = self.first.take();
        if let Some(request) = recorded {
            match request.method.as_str() {
                PIECE => drop(self.pieces.pop_front()),
                END | BROKEN => self.end = None,
                CANCEL => self.answer.is_cancelled = true,
                _ => {}
            }
            return Some(request);
        }
        if first.is_some() {
            return first;
        }
        match wants {
            Wants::Body(whole) => self.body(whole),
            // As much as the client took.
            Wants::Next if self.recorded.is_cancelled && self.answer.length() >= self.recorded.length() => {
                self.answer.cut(self.recorded.length());
                self.answer.is_cancelled = true;
                Some(call(CANCEL, None))
            }
            // More than a recording can have is another answer in any case.
            Wants::Next if self.answer.length() > MAX_BYTES => {
                self.answer.is_cancelled = true;
                Some(call(CANCEL, None))
            }
            Wants::Next => Some(call(NEXT, None)),
            Wants::Nothing => None,
        }
    }

    /// The guest has returned from the last call.
    pub(super) fn returned(&mut self, response: Response) {
        if !self.answer.is_cancelled {
            self.wants = self.answer.add(response);
        }
    }

    /// The guest has trapped.
    pub(super) fn trapped(&mut self, trap: Event) {
        self.answer.failed = Some(trap);
    }

    /// The differences of both answers.
    pub(super) fn changes(self) -> Vec<Change> {
        if self.recorded.is_unknown {
            return Vec::new();
        }
        match (self.recorded.end(), self.answer.end()) {
            (None, None) => Vec::new(),
            (recorded, Some(answer)) => changes(recorded.as_ref(), &answer),
            (Some(_), None) => changes(None, &Event::Trap("no answer".into())),
        }
    }

    fn body(&mut self, whole: bool) -> Option<Request> {
        if whole && !self.pieces.is_empty() {
            let rest = self.pieces.drain(..).flatten().flatten().collect();
            return Some(call(PIECE, Some(rest)));
        }
        match self.pieces.pop_front() {
            Some(piece) => Some(call(PIECE, piece)),
            None => self.end.take().map(|end| call(end, None)),
        }
    }
}

impl ComparedAnswer {
    fn add(&mut self, mut response: Response) -> Wants {
        if response.status == WAITS {
            return Wants::Body(wants_whole(&response.headers));
        }
        let Some(head) = &mut self.head else {
            self.is_streamed = is_streamed(&response.headers);
            if self.is_streamed {
                response.headers.pop();
            }
            self.head = Some(response);
            return if self.is_streamed { Wants::Next } else { Wants::Nothing };
        };
        match response.status {
            200 | 202 => {
                head.body.get_or_insert_default().extend(response.body.unwrap_or_default());
                Wants::Next
            }
            204 => Wants::Nothing,
            _ => {
                self.failed = Some(Event::Trap("the body broke off".into()));
                Wants::Nothing
            }
        }
    }

    fn length(&self) -> usize {
        self.head.as_ref().and_then(|head| head.body.as_ref()).map_or(0, Vec::len)
    }

    fn cut(&mut self, length: usize) {
        if let Some(body) = self.head.as_mut().and_then(|head| head.body.as_mut()) {
            body.truncate(length);
        }
    }

    fn end(self) -> Option<Event> {
        self.failed.or(self.head.map(Event::Leave))
    }
}

fn call(method: &str, body: Option<Vec<u8>>) -> Request {
    Request { method: method.to_string(), body, ..Request::default() }
}

#[cfg(test)]
pub(super) mod tests {
    use tenon_tape::Meta;

    use super::*;

    fn leave(status: u16, header: Option<(&str, &str)>, body: &str) -> Response {
        let headers = header.iter().map(|(name, value)| ((*name).to_string(), value.as_bytes().to_vec())).collect();
        Response { status, headers, body: (!body.is_empty()).then(|| body.as_bytes().to_vec()) }
    }

    fn streamed() -> Option<(&'static str, &'static str)> {
        Some((":body", "streamed"))
    }

    /// Plays the leaves of another build, and returns its calls and the differences.
    fn played(events: &[Event], leaves: &[Response]) -> (Vec<String>, Vec<Change>) {
        let mut driver = Driver::new(&tape(events));
        let mut calls = Vec::new();
        let mut leaves = leaves.iter();
        while let Some(request) = driver.next(None) {
            calls.push(format!("{} {}", request.method, String::from_utf8(request.body.unwrap_or_default()).unwrap()));
            driver.returned(leaves.next().expect("another call").clone());
        }
        (calls, driver.changes())
    }

    pub(in crate::tape) fn tape(events: &[Event]) -> Tape {
        Tape { meta: Meta { status: 200, ..Meta::default() }, events: events.to_vec() }
    }

    fn enter(method: &str, body: &str) -> Event {
        let body = (!body.is_empty()).then(|| body.as_bytes().to_vec());
        Event::Enter(Request { method: method.into(), path: "/".into(), headers: Vec::new(), body })
    }

    #[test]
    fn other_pieces_of_the_same_answer_are_the_same() {
        let events = [
            enter("GET", ""),
            Event::Leave(leave(200, streamed(), "ab")),
            enter(NEXT, ""),
            Event::Leave(leave(200, None, "cd")),
            enter(NEXT, ""),
            Event::Leave(leave(204, None, "")),
        ];
        let whole = [leave(200, None, "abcd")];
        assert_eq!(played(&events, &whole), (vec!["GET ".into()], Vec::new()));
        let pieces = ["a", "b", "", "cd"].map(|piece| leave(if piece.is_empty() { 202 } else { 200 }, None, piece));
        let pieces = [[leave(200, streamed(), "")].as_slice(), &pieces, &[leave(204, None, "")]].concat();
        let (calls, changes) = played(&events, &pieces);
        assert_eq!((calls.len(), changes), (6, Vec::new()));
        let other = [leave(200, streamed(), "abc"), leave(204, None, "")];
        assert_eq!(played(&events, &other).1[0].part, "body from byte 3");
        let broken = [leave(200, streamed(), "abcd"), leave(500, None, "")];
        assert_eq!(played(&events, &broken).1[0].part, "result");
    }

    #[test]
    fn a_body_is_given_as_it_is_wanted() {
        let waits = |whole: bool| leave(100, whole.then_some((":body", "whole")), "");
        let events = [
            enter(":begin POST", ""),
            Event::Leave(waits(false)),
            enter(PIECE, "one"),
            Event::Leave(waits(false)),
            enter(PIECE, "two"),
            Event::Leave(waits(false)),
            enter(END, ""),
            Event::Leave(leave(201, None, "done")),
        ];
        let whole = [waits(true), waits(false), leave(201, None, "done")];
        let (calls, changes) = played(&events, &whole);
        assert_eq!((calls, changes), (vec![":begin POST ".into(), ":piece onetwo".into(), ":end ".into()], Vec::new()));
        let early = [leave(201, None, "done")];
        assert_eq!(played(&events, &early).1, Vec::new());
    }

    #[test]
    fn a_client_that_left_is_compared_as_far_as_it_read() {
        let events = [
            enter("GET", ""),
            Event::Leave(leave(200, streamed(), "ab")),
            enter(CANCEL, ""),
            Event::Leave(leave(204, None, "")),
        ];
        let more = [leave(200, streamed(), "a"), leave(200, None, "bcd"), leave(204, None, "")];
        let (calls, changes) = played(&events, &more);
        assert_eq!((calls.last().map(String::as_str), changes), (Some(":cancel "), Vec::new()));
    }
}
