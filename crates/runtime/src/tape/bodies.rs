//! The bodies that a guest got, which may be in the pieces of several events.

use std::collections::BTreeMap;

use memchr::memmem;
use tenon_tape::{BEGIN, Event, Field, PIECE, Piece};

/// A body that a guest got, of a request or of an answer.
pub(super) struct Body {
    /// Its events: several when it came in pieces.
    at: Vec<usize>,
    pub(super) is_json: bool,
}

impl Body {
    pub(super) fn is_in_pieces(&self) -> bool {
        self.at.len() > 1
    }

    /// All of it.
    pub(super) fn whole(&self, events: &mut [Event]) -> Vec<u8> {
        joined(events, &self.at)
    }

    /// Puts it back into its pieces, whose lengths stay.
    pub(super) fn put(&self, whole: &[u8], events: &mut [Event]) {
        let mut rest = whole;
        for at in &self.at {
            let Some(piece) = bytes(&mut events[*at]) else { continue };
            let (own, behind) = rest.split_at(piece.len().min(rest.len()));
            piece.copy_from_slice(own);
            rest = behind;
        }
    }
}

/// The bodies that a guest got.
pub(super) fn bodies(events: &[Event]) -> Vec<Body> {
    let mut bodies: Vec<Body> = Vec::new();
    let mut uploaded = None;
    let mut answers = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let (open, headers) = match event {
            Event::Enter(request) if request.method == PIECE => (uploaded, &[][..]),
            Event::Enter(request) => {
                if request.method.starts_with(BEGIN) || !request.method.starts_with(':') {
                    uploaded = Some(bodies.len());
                }
                (None, &request.headers[..])
            }
            // The beginning of a streamed answer is in it as well.
            Event::Take(Some((call, Ok(response)))) => {
                answers.insert(*call, bodies.len());
                (None, &response.headers[..])
            }
            Event::Read(call, Piece::Bytes(_)) => (answers.get(call).copied(), &[][..]),
            _ => continue,
        };
        match open {
            Some(body) => bodies[body].at.push(at),
            None => bodies.push(Body { at: vec![at], is_json: says_json(headers) }),
        }
        if let Event::Read(call, _) = event {
            answers.entry(*call).or_insert(bodies.len() - 1);
        }
    }
    bodies
}

/// The body of the request, which may have come in pieces.
pub(super) fn incoming(events: &mut [Event]) -> Vec<u8> {
    let pieces = (0..events.len()).filter(|at| match &events[*at] {
        Event::Enter(request) => *at == 0 || request.method == PIECE,
        _ => false,
    });
    let pieces: Vec<_> = pieces.collect();
    joined(events, &pieces)
}

/// Returns whether a guest got bytes that are compressed.
pub(super) fn is_packed(event: &Event) -> bool {
    let headers = match event {
        Event::Take(Some((_, Ok(response)))) => &response.headers,
        _ => return false,
    };
    has_encoding(headers)
}

pub(super) fn has_encoding(headers: &[Field]) -> bool {
    let of_name = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    of_name.into_iter().any(|(_, value)| !value.eq_ignore_ascii_case(b"identity"))
}

fn says_json(headers: &[Field]) -> bool {
    let of_type = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    of_type.into_iter().any(|(_, value)| memmem::find(&value.to_ascii_lowercase(), b"json").is_some())
}

/// The bytes of a piece.
fn bytes(event: &mut Event) -> Option<&mut Vec<u8>> {
    match event {
        Event::Enter(request) => request.body.as_mut(),
        Event::Take(Some((_, Ok(response)))) => response.body.as_mut(),
        Event::Read(_, Piece::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// The body that came in pieces.
fn joined(events: &mut [Event], at: &[usize]) -> Vec<u8> {
    let mut whole = Vec::new();
    for at in at {
        whole.extend_from_slice(bytes(&mut events[*at]).map_or(&[][..], |piece| piece));
    }
    whole
}

/// All that a guest got, with each body as a whole.
pub(super) fn inputs(events: &mut [Event]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut add = |text: &[u8]| {
        all.extend_from_slice(text);
        all.push(b'\n');
    };
    for event in &*events {
        match event {
            Event::Enter(request) => {
                add(request.path.as_bytes());
                request.headers.iter().for_each(|(_, value)| add(value));
            }
            Event::Take(Some((_, Ok(response)))) => response.headers.iter().for_each(|(_, value)| add(value)),
            Event::Take(Some((_, Err(failure)))) | Event::Read(_, Piece::Failed(failure)) => {
                add(failure.detail.as_bytes());
            }
            Event::Environment(variables) => variables.iter().for_each(|variable| add(variable.value.as_bytes())),
            _ => {}
        }
    }
    for body in bodies(events) {
        add(&body.whole(events));
    }
    all
}
