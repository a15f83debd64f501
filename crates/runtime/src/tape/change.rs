//! Differences of two answers, for people: status, headers, members of JSON.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use tenon_tape::{Event, Field, Response};

/// The most that are described.
pub(super) const MOST: usize = 20;

/// The longest value that is shown.
const SHOWN: usize = 120;

/// One difference between a recorded answer and the one of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The part: `status`, `header <name>`, `body`, or the JSON pointer of a member, as `#/total`.
    pub part: String,
    /// The recorded value; none when it is new.
    pub recorded: Option<String>,
    /// The replayed value; none when it is gone.
    pub replayed: Option<String>,
}

impl Change {
    fn of(part: impl Into<String>, recorded: Option<String>, replayed: Option<String>) -> Self {
        Self { part: part.into(), recorded, replayed }
    }
}

/// The differences between a recorded end of a call and another one.
pub(super) fn changes(recorded: Option<&Event>, replayed: &Event) -> Vec<Change> {
    match (recorded, replayed) {
        (Some(Event::Leave(one)), Event::Leave(other)) => of_responses(one, other),
        (Some(Event::Trap(one)), Event::Trap(other)) if one == other => Vec::new(),
        (recorded, replayed) => vec![Change::of("result", recorded.map(result), Some(result(replayed)))],
    }
}

fn result(event: &Event) -> String {
    match event {
        Event::Leave(Response { status, .. }) => format!("status {status}"),
        Event::Trap(text) => shown(text.as_bytes()),
        other => other.kind().to_string(),
    }
}

fn of_responses(one: &Response, other: &Response) -> Vec<Change> {
    let mut found = Vec::new();
    if one.status != other.status {
        found.push(Change::of("status", Some(one.status.to_string()), Some(other.status.to_string())));
    }
    let names: BTreeSet<&str> = one.headers.iter().chain(&other.headers).map(|(name, _)| name.as_str()).collect();
    for name in names {
        let (one, other) = (values(&one.headers, name), values(&other.headers, name));
        if one != other {
            found.push(Change::of(format!("header {name}"), one, other));
        }
    }
    let bodies = [one, other].map(|response| response.body.as_deref().unwrap_or_default());
    if bodies[0] != bodies[1] {
        match bodies.map(serde_json::from_slice::<Value>) {
            [Ok(one), Ok(other)] if one != other => members("#", Some(&one), Some(&other), &mut found),
            _ => {
                let at = bodies[0].iter().zip(bodies[1]).position(|(one, other)| one != other);
                let at = at.unwrap_or(bodies[0].len().min(bodies[1].len()));
                let rest = |body: &[u8]| shown(body.get(at..).unwrap_or_default());
                found.push(Change::of(format!("body from byte {at}"), Some(rest(bodies[0])), Some(rest(bodies[1]))));
            }
        }
    }
    found.truncate(MOST);
    found
}

fn values(headers: &[Field], name: &str) -> Option<String> {
    let values: Vec<_> = headers.iter().filter(|(own, _)| own == name).map(|(_, value)| shown(value)).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// The members that differ.
fn members(at: &str, one: Option<&Value>, other: Option<&Value>, found: &mut Vec<Change>) {
    if one == other || found.len() >= MOST {
        return;
    }
    match (one, other) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names: BTreeSet<_> = one.keys().chain(other.keys()).collect();
            for name in names {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                members(&format!("{at}/{escaped}"), one.get(name), other.get(name), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                members(&format!("{at}/{index}"), one.get(index), other.get(index), found);
            }
        }
        (one, other) => {
            let text = |value: &Value| shown(value.to_string().as_bytes());
            found.push(Change::of(at, one.map(text), other.map(text)));
        }
    }
}

/// A value for people, cut where it is long.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut: String = text.chars().take(SHOWN).collect();
    let cut = tenon_visible::shown(&cut).into_owned();
    if text.chars().nth(SHOWN).is_some() { format!("{cut}… ({} bytes)", bytes.len()) } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Event {
        let headers = headers.iter().map(|(name, value)| ((*name).to_string(), value.as_bytes().to_vec())).collect();
        Event::Leave(Response { status, headers, body: Some(body.as_bytes().to_vec()) })
    }

    fn told(one: &Event, other: &Event) -> Vec<String> {
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
        let each = changes(Some(one), other).into_iter();
        each.map(|change| format!("{}: {} | {}", change.part, text(change.recorded), text(change.replayed))).collect()
    }

    #[test]
    fn members_of_json_are_told_by_their_pointers() {
        let one = answer(200, &[("etag", "1")], r#"{"total":12,"items":[{"a/b":1}],"gone":true}"#);
        let other = answer(200, &[("etag", "1")], r#"{"items":[{"a/b":2},3],"total":12.5}"#);
        assert_eq!(
            told(&one, &other),
            ["#/gone: true | -", "#/items/0/a~1b: 1 | 2", "#/items/1: - | 3", "#/total: 12 | 12.5"]
        );
        assert_eq!(told(&one, &one), Vec::<String>::new());
    }

    #[test]
    fn status_headers_and_texts_are_told() {
        let one = answer(200, &[("etag", "1"), ("vary", "a"), ("vary", "b")], "hello world");
        let other = answer(404, &[("vary", "a")], "hello there");
        assert_eq!(
            told(&one, &other),
            ["status: 200 | 404", "header etag: 1 | -", "header vary: a, b | a", "body from byte 6: world | there"]
        );
        assert_eq!(told(&one, &Event::Trap("wasm trap".into())), ["result: status 200 | wasm trap"]);
        // The same members in another order are other bytes.
        let (one, other) = (answer(200, &[], r#"{"a":1,"b":2}"#), answer(200, &[], r#"{"b":2,"a":1}"#));
        assert_eq!(told(&one, &other).len(), 1);
    }
}
