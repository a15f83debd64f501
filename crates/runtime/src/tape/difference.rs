//! Differences between recorded and replayed events, in words.

use serde::Serialize;
use tenon_tape::{Call, Event, Field, Request, Response};

use super::change::shown;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DifferenceKind {
    /// The guest did something else.
    Event,
    /// Another build asked for something that is nowhere in the recording.
    New,
    /// Only the digest of memory and globals differs.
    Memory,
    /// The guest did not end within the time of a replay.
    Endless,
}

/// A call that the guest made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedCall {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
}

/// The first difference between a recording and its replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Its kind.
    pub kind: DifferenceKind,
    /// The number of the event, from 0.
    pub event: usize,
    /// The recorded event, in words.
    pub recorded: String,
    /// The event that the guest caused in its place, in words.
    pub replayed: String,
    /// The part that differs, where both are of one kind.
    pub part: Option<String>,
    /// The last call or log line before it.
    pub after: Option<String>,
    /// The place in the sources where the guest caused it. For an answer, for memory, and for an event that only Tenon's code caused,
    /// it is the last place before it.
    pub place: Option<String>,
    /// The call that the guest made in the place of the recorded event.
    pub asked: Option<AskedCall>,
}

/// Describes the difference between a recorded event and another one.
pub(super) fn difference(
    event: usize,
    recorded: Option<&Event>,
    replayed: Option<&Event>,
    after: Option<String>,
) -> Difference {
    let part = match (recorded, replayed) {
        (Some(Event::Start(_, one)), Some(Event::Start(_, other))) => part_of_calls(one, other),
        (Some(Event::Leave(one)), Some(Event::Leave(other))) => part_of_responses(one, other),
        (Some(Event::Log(_, one)), Some(Event::Log(_, other))) => Some(format!("byte {}", first(one, other))),
        (Some(Event::Write(_, Some(one), _)), Some(Event::Write(_, Some(other), _))) => {
            Some(format!("byte {}", first(one, other)))
        }
        _ => None,
    };
    let text = |event: Option<&Event>| event.map_or_else(|| "nothing more".to_string(), described);
    let asked = match replayed {
        Some(Event::Start(_, Call { method, url, .. })) => Some(AskedCall { method: method.clone(), url: url.clone() }),
        _ => None,
    };
    Difference {
        kind: DifferenceKind::Event,
        event,
        recorded: text(recorded),
        replayed: text(replayed),
        part,
        after,
        place: None,
        asked,
    }
}

/// The first place at which two texts differ.
fn first(one: &[u8], other: &[u8]) -> usize {
    let at = one.iter().zip(other).position(|(one, other)| one != other);
    at.unwrap_or(one.len().min(other.len()))
}

fn part_of_bodies(one: Option<&Vec<u8>>, other: Option<&Vec<u8>>) -> Option<String> {
    let [one, other] = [one, other].map(|body| body.map(Vec::as_slice).unwrap_or_default());
    (one != other).then(|| format!("body, byte {}", first(one, other)))
}

fn part_of_headers(one: &[Field], other: &[Field]) -> Option<String> {
    if one == other {
        return None;
    }
    let pairs = one.iter().zip(other);
    let differing = pairs.into_iter().find(|(one, other)| one != other).map(|(one, _)| &one.0);
    Some(differing.map_or_else(|| "the number of headers".to_string(), |name| format!("header {name}")))
}

fn part_of_calls(one: &Call, other: &Call) -> Option<String> {
    match () {
        () if one.method != other.method => Some("method".to_string()),
        () if one.url != other.url => Some("URL".to_string()),
        () => part_of_headers(&one.headers, &other.headers)
            .or_else(|| part_of_bodies(one.body.as_ref(), other.body.as_ref())),
    }
}

fn part_of_responses(one: &Response, other: &Response) -> Option<String> {
    if one.status != other.status {
        return Some("status".to_string());
    }
    part_of_headers(&one.headers, &other.headers).or_else(|| part_of_bodies(one.body.as_ref(), other.body.as_ref()))
}

/// An event in a line.
pub(super) fn described(event: &Event) -> String {
    described_with(event, shown)
}

/// The same, whose values are all of it.
pub(super) fn described_in_full(event: &Event) -> String {
    described_with(event, |bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn described_with(event: &Event, shown: impl Fn(&[u8]) -> String) -> String {
    let body = |body: &Option<Vec<u8>>| match body {
        Some(body) if !body.is_empty() => format!(" {}", shown(body)),
        _ => String::new(),
    };
    match event {
        Event::Enter(Request { method, path, body: own, .. }) => format!("request {method} {path}{}", body(own)),
        Event::Leave(Response { status, body: own, .. }) => format!("answer {status}{}", body(own)),
        Event::Trap(text) => format!("trap: {}", shown(text.as_bytes())),
        Event::Refused(text) => format!("ended by the host: {}", shown(text.as_bytes())),
        Event::Start(_, Call { method, url, body: own, .. }) => format!("call {method} {url}{}", body(own)),
        Event::Wait(timeout, _) if *timeout == u32::MAX => "wait for a call".to_string(),
        Event::Wait(timeout, _) => format!("wait for {timeout} µs"),
        Event::Take(Some((call, Ok(Response { status, body: own, .. })))) => {
            format!("result of call {call}: {status}{}", body(own))
        }
        Event::Take(Some((call, Err(failure)))) => {
            format!("result of call {call}: {}", shown(failure.detail.as_bytes()))
        }
        Event::RandomBytes(bytes) => format!("{} random bytes", bytes.len()),
        Event::Write(call, piece, _) => format!("write to call {call}{}", body(piece)),
        Event::Read(call, _) => format!("read of call {call}"),
        Event::Cancel(call) => format!("end of call {call}"),
        Event::Log(_, text) => format!("log {}", shown(text).trim_end()),
        other => other.kind().to_string(),
    }
}

/// Describes an event without any value of it but a status.
pub(super) fn bare(event: Option<&Event>) -> String {
    match event {
        Some(Event::Leave(Response { status, .. })) => format!("answer {status}"),
        Some(event) => event.kind().to_string(),
        None => "nothing more".to_string(),
    }
}
