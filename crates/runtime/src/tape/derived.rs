//! Words that a guest derived from masked values, such as a hash of a secret or a part of a URL.
//!
//! They are in none of the guest's new outputs, because those are made of placeholders. A service that repeats such a word brings it
//! back into what the guest gets, where no form of a masked value shows it.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use tenon_tape::{Event, Piece};

use super::bodies::bodies;
use super::masked::MOST_SEARCHED;
use super::masked_values::{MaskedValues, SHORTEST};

/// Words in small letters.
type Words = BTreeSet<Vec<u8>>;

/// Returns the reason why a request must not be written, whose guest made `before` of masked values and `after` of placeholders.
pub(super) fn reason(before: &[Event], after: &mut [Event], known: &MaskedValues) -> Option<&'static str> {
    let new = of_outputs(after);
    let derived: Vec<_> = of_outputs(before).into_iter().filter(|word| !new.contains(word)).collect();
    let inputs = inputs(after);
    if known.is_in(&inputs) {
        return Some("a masked value is still in it");
    }
    if (derived.len() as u64).saturating_mul(inputs.len() as u64) > MOST_SEARCHED {
        return Some("too much of it depends on masked values");
    }
    let inputs = inputs.to_ascii_lowercase();
    let is_repeated = derived.iter().any(|word| memmem::find(&inputs, word).is_some());
    is_repeated.then_some("the module makes a text of masked values, and gets it back")
}

/// The words of a guest's answer, log and calls.
fn of_outputs(events: &[Event]) -> Words {
    let mut words = Words::new();
    let mut written: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for event in events {
        match event {
            Event::Leave(response) => {
                response.headers.iter().for_each(|(_, value)| add(&mut words, value));
                add(&mut words, response.body.as_deref().unwrap_or_default());
            }
            Event::Log(_, text) => add(&mut words, text),
            Event::Start(number, call) => {
                add(&mut words, call.url.as_bytes());
                call.headers.iter().for_each(|(_, value)| add(&mut words, value));
                written.insert(*number, call.body.clone().unwrap_or_default());
            }
            Event::Write(number, Some(piece), _) => written.entry(*number).or_default().extend(piece),
            _ => {}
        }
    }
    written.values().for_each(|body| add(&mut words, body));
    words
}

fn add(words: &mut Words, text: &[u8]) {
    let all = text.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    words.extend(all.filter(|word| word.len() >= SHORTEST).map(<[u8]>::to_ascii_lowercase));
}

/// All that a guest got, with each body as a whole.
fn inputs(events: &mut [Event]) -> Vec<u8> {
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
