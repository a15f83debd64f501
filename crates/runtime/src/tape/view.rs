//! A recording as JSON, for people and for tools.

use serde_json::{Value, json};
use tenon_tape::{Event, Field, Meta, Response, Tape};

use super::difference::{described, described_in_full};

/// Returns everything of a recording: its head, its events in words, and its answer.
#[must_use]
pub fn tape_view(tape: &Tape) -> Value {
    let mut view = meta_view(&tape.meta);
    let events = tape.events.iter().map(|event| {
        let full = described_in_full(event);
        // A line of the log is the message of an exception, whose end may be the cause.
        let text = if matches!(event, Event::Log(..)) { full.clone() } else { described(event) };
        let mut shown = json!({ "kind": event.kind(), "text": text });
        if full.len() > text.len() {
            shown["full"] = json!(full);
        }
        match event {
            Event::Enter(request) => shown["headers"] = fields(&request.headers),
            Event::Start(_, call) => shown["headers"] = fields(&call.headers),
            Event::Leave(response) | Event::Take(Some((_, Ok(response)))) => {
                shown["headers"] = fields(&response.headers)
            }
            Event::Monotonic(now) => shown["nanoseconds"] = json!(now),
            Event::Wall(now) => shown["nanoseconds"] = json!(now),
            Event::Environment(variables) => {
                let names = variables.iter().map(|variable| {
                    let mark = if variable.is_secret { " (secret)" } else { "" };
                    format!("{}{mark}", variable.name)
                });
                shown["names"] = names.collect();
            }
            _ => {}
        }
        shown
    });
    view["events"] = events.collect();
    let answer = tape.events.iter().find_map(|event| match event {
        Event::Leave(response) => Some(response),
        _ => None,
    });
    if let Some(Response { status, headers, body }) = answer {
        let body = body.as_deref().unwrap_or_default();
        view["answer"] = json!({ "status": status, "headers": fields(headers), "body": String::from_utf8_lossy(body) });
    }
    view
}

/// Returns the head of a recording.
#[must_use]
pub fn meta_view(meta: &Meta) -> Value {
    json!({
        "module": meta.module,
        "requestId": meta.request_id,
        "time": meta.time / 1_000_000,
        "durationMs": meta.duration as f64 / 1e6,
        "status": meta.status,
        "kept": meta.kept.name(),
        "component": hex::encode(meta.component),
        "memory": meta.memory.map(|digest| format!("{digest:032x}")),
        "masked": meta.masked,
        "isCut": meta.is_cut,
    })
}

fn fields(headers: &[Field]) -> Value {
    headers.iter().map(|(name, value)| json!([name, String::from_utf8_lossy(value)])).collect()
}
