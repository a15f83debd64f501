//! Masked values that come back in what a guest gets.

use memchr::memmem;
use tenon_tape::{Event, Piece};

use super::bodies::Body;
use super::masked_values::{MaskedValues, json, percent};
use super::placeholders::Placeholders;

/// A form of a masked value, and that of its placeholder.
struct Replacement {
    /// The form in small letters.
    lower: Vec<u8>,
    value: Vec<u8>,
    made: Vec<u8>,
}

/// Replaces known values wherever they are in what the guest has got. Returns whether there was one, also in what the guest made.
pub(super) fn replace_known(
    known: &MaskedValues,
    placeholders: &Placeholders,
    events: &mut [Event],
    bodies: &[Body],
) -> bool {
    let mut values: Vec<_> = known.0.iter().collect();
    // A value may contain another one.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let all: Vec<_> = values.iter().flat_map(|value| replacements(value, placeholders)).collect();
    if all.is_empty() {
        return false;
    }
    let mut is_found = false;
    let mut apply = |bytes: &mut Vec<u8>| is_found |= replace(bytes, &all);
    for event in events.iter_mut() {
        match event {
            Event::Enter(request) => {
                in_text(&mut request.path, &mut apply);
                request.headers.iter_mut().for_each(|(_, value)| apply(value));
            }
            Event::Environment(variables) => {
                let open = variables.iter_mut().filter(|variable| !variable.is_secret);
                open.for_each(|variable| in_text(&mut variable.value, &mut apply));
            }
            Event::Take(Some((_, Ok(response)))) => {
                response.headers.iter_mut().for_each(|(_, value)| apply(value));
            }
            Event::Take(Some((_, Err(failure)))) | Event::Read(_, Piece::Failed(failure)) => {
                in_text(&mut failure.detail, &mut apply);
            }
            // The guest's own: whether it is tainted has to be known.
            Event::Leave(response) => {
                response.headers.iter_mut().for_each(|(_, value)| apply(value));
                response.body.iter_mut().for_each(&mut apply);
            }
            Event::Log(_, text) => apply(text),
            Event::Start(_, call) => {
                in_text(&mut call.url, &mut apply);
                call.headers.iter_mut().for_each(|(_, value)| apply(value));
                call.body.iter_mut().for_each(&mut apply);
            }
            _ => {}
        }
    }
    for body in bodies {
        let mut whole = body.whole(events);
        apply(&mut whole);
        body.put(&whole, events);
    }
    is_found
}

fn in_text(text: &mut String, apply: &mut impl FnMut(&mut Vec<u8>)) {
    let mut bytes = std::mem::take(text).into_bytes();
    apply(&mut bytes);
    *text = String::from_utf8_lossy(&bytes).into_owned();
}

/// Replaces values in a text. Returns whether there was one.
fn replace(bytes: &mut [u8], all: &[Replacement]) -> bool {
    let mut is_found = false;
    let mut lower = bytes.to_ascii_lowercase();
    for Replacement { lower: lower_value, value, made } in all {
        let mut from = 0;
        while let Some(at) = memmem::find(&lower[from..], lower_value) {
            let range = from + at..from + at + value.len();
            let text = &mut bytes[range.clone()];
            if *text == **value {
                text.copy_from_slice(made);
            } else {
                // In small letters, in capital letters, or mixed.
                for (byte, made) in text.iter_mut().zip(made) {
                    let is_capital = byte.is_ascii_uppercase();
                    *byte = if is_capital { made.to_ascii_uppercase() } else { made.to_ascii_lowercase() };
                }
            }
            lower[range.clone()].copy_from_slice(&text.to_ascii_lowercase());
            from = range.end;
            is_found = true;
        }
    }
    is_found
}

/// A value and its placeholder, as they are, in a JSON string and percent-encoded.
fn replacements(value: &[u8], placeholders: &Placeholders) -> Vec<Replacement> {
    let of = |value: Vec<u8>, made| Replacement { lower: value.to_ascii_lowercase(), value, made };
    let made = placeholders.of(value);
    let mut all = Vec::new();
    for encode in [json, percent] {
        let (one, other) = (encode(value), encode(&made));
        if one != value && one.len() == other.len() {
            all.push(of(one, other));
        }
    }
    all.insert(0, of(value.to_vec(), made));
    all
}
