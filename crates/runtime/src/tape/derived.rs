//! Texts that a guest derived from masked values, such as a hash of a secret or a part of a URL, or from random values.
//!
//! They are in none of the guest's new outputs, because those are made of placeholders. A service that repeats such a text brings it
//! back into what the guest gets, where no form of a masked value shows it. So the guest runs once more, and gets back what it has made
//! in the place of the text.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use tenon_tape::{Event, Field};

use super::bodies::inputs;
use super::masked::MOST_SEARCHED;
use super::masked_values::SHORTEST;

/// Words in small letters.
type Words = BTreeSet<Vec<u8>>;

/// Texts that a guest made, each with what it made of placeholders in its place.
pub(super) type Remade = BTreeMap<Vec<u8>, Vec<u8>>;

/// Texts that are given back to a guest, at most.
const MOST_REMADE: usize = 64;

/// Returns the reason why a request must not be written, whose guest made `before` of masked values and `after` of placeholders. The
/// guest got `given` in the place of texts that it had made.
pub(super) fn reason(before: &[Event], after: &mut [Event], given: &Remade) -> Option<&'static str> {
    let new = words(after);
    let derived: Vec<_> = words(before).into_iter().filter(|word| !new.contains(word)).collect();
    let inputs = inputs(after).to_ascii_lowercase();
    if (derived.len() as u64).saturating_mul(inputs.len() as u64) > MOST_SEARCHED {
        return Some("too much of it depends on masked values");
    }
    if derived.iter().any(|word| memmem::find(&inputs, word).is_some()) {
        return Some("the module makes a text of masked values, and gets it back");
    }
    // A text of an earlier run may have been made of one that was not replaced yet.
    let made = pairs(before, after);
    let is_made = |(text, given): (&Vec<u8>, &Vec<u8>)| {
        made.get(text).is_some_and(|Made { first, is_only }| *is_only && first == given)
    };
    (!given.iter().all(is_made)).then_some("the module makes something else of what it gets back")
}

/// Returns the texts of `before` that the guest got back, each with what it made in its place with placeholders. None when they are
/// those of an earlier run. `after` may end before the request did.
pub(super) fn remade(before: &mut [Event], after: &[Event], earlier: &Remade) -> Option<Remade> {
    let mut pairs = pairs(before, after);
    let inputs = inputs(before).to_ascii_lowercase();
    if (pairs.len() as u64).saturating_mul(inputs.len() as u64) > MOST_SEARCHED {
        return None;
    }
    pairs.retain(|text, _| memmem::find(&inputs, &text.to_ascii_lowercase()).is_some());
    let mut remade = earlier.clone();
    remade.extend(pairs.into_iter().map(|(text, made)| (text, made.first)));
    (remade != *earlier && remade.len() <= MOST_REMADE).then_some(remade)
}

/// The texts that a guest made of masked values.
type Pairs = BTreeMap<Vec<u8>, Made>;

/// A text that a guest made of placeholders in the place of another one.
struct Made {
    /// The first one.
    first: Vec<u8>,
    /// False when it made several.
    is_only: bool,
}

/// Compares what a guest made of masked values with what it made of placeholders.
fn pairs(before: &[Event], after: &[Event]) -> Pairs {
    let mut pairs = Pairs::new();
    let [before, after] = [before, after].map(|events| outputs(events).into_iter().collect::<BTreeMap<_, _>>());
    for (key, text) in before {
        if let Some(other) = after.get(&key).filter(|other| other.len() == text.len() && **other != text) {
            SEPARATORS.iter().for_each(|is_separator| pair(&text, other, *is_separator, &mut pairs));
        }
    }
    pairs
}

/// The separators of texts, from those of the longest texts to those of words: a service may repeat an id, or a part of it.
const SEPARATORS: [fn(u8) -> bool; 3] = [
    |byte| {
        byte.is_ascii()
            && !byte.is_ascii_alphanumeric()
            && !matches!(byte, b'-' | b'_' | b'.' | b'+' | b'/' | b'~' | b'%')
    },
    |byte| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_'),
    |byte| byte.is_ascii() && !byte.is_ascii_alphanumeric(),
];

/// Adds the parts of two texts of one length that differ.
fn pair(text: &[u8], other: &[u8], is_separator: fn(u8) -> bool, pairs: &mut Pairs) {
    let mut start = 0;
    for part in text.split(|byte| is_separator(*byte)) {
        let made = &other[start..start + part.len()];
        start += part.len() + 1;
        let is_one = part.len() >= SHORTEST && part != made && !made.iter().any(|byte| is_separator(*byte));
        if is_one {
            match pairs.entry(part.to_vec()) {
                Entry::Vacant(entry) => {
                    entry.insert(Made { first: made.to_vec(), is_only: true });
                }
                Entry::Occupied(mut entry) => entry.get_mut().is_only &= entry.get().first == made,
            }
        }
    }
}

/// The words of a guest's answer, log and calls.
fn words(events: &[Event]) -> Words {
    let mut words = Words::new();
    for (_, text) in outputs(events) {
        let all = text.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
        words.extend(all.filter(|word| word.len() >= SHORTEST).map(<[u8]>::to_ascii_lowercase));
    }
    words
}

/// The part of an event that a text is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A URL, or a line of the log.
    Text,
    Body,
    /// The value of a header, by its number.
    Header(usize),
}

/// A text of a guest, with the number of its event and its place there.
type Output<'a> = ((usize, Part), Cow<'a, [u8]>);

/// The texts of a guest's answer, log and calls, each body as a whole.
fn outputs(events: &[Event]) -> Vec<Output<'_>> {
    let mut texts = Vec::new();
    let mut written: BTreeMap<u32, (usize, Cow<'_, [u8]>)> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Leave(response) => {
                add_headers(at, &response.headers, &mut texts);
                texts.push(((at, Part::Body), response.body.as_deref().unwrap_or_default().into()));
            }
            Event::Log(_, text) => texts.push(((at, Part::Text), text.into())),
            Event::Start(number, call) => {
                texts.push(((at, Part::Text), call.url.as_bytes().into()));
                add_headers(at, &call.headers, &mut texts);
                written.insert(*number, (at, call.body.as_deref().unwrap_or_default().into()));
            }
            Event::Write(number, Some(piece), _) => {
                let (_, body) = written.entry(*number).or_insert((at, Cow::default()));
                body.to_mut().extend(piece);
            }
            _ => {}
        }
    }
    texts.extend(written.into_values().map(|(at, body)| ((at, Part::Body), body)));
    texts
}

fn add_headers<'a>(at: usize, headers: &'a [Field], texts: &mut Vec<Output<'a>>) {
    texts.extend(headers.iter().enumerate().map(|(n, (_, value))| ((at, Part::Header(n)), value.into())));
}

#[cfg(test)]
mod tests {
    use tenon_tape::{Call, Piece, Request, Response};

    use super::*;

    const CARD: [&str; 2] = ["pan 4111111122223333", "pan 5222111122223333"];

    /// The events of a guest that makes a text and gets an answer.
    fn events(made: &str, answer: &[Event]) -> Vec<Event> {
        let call = Call { body: Some(made.as_bytes().to_vec()), ..Call::default() };
        let start = [Event::Enter(Request::default()), Event::Start(1, call)];
        start.into_iter().chain(answer.iter().cloned()).collect()
    }

    fn taken(headers: &[(&str, &str)], body: &str) -> Event {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
        Event::Take(Some((1, Ok(Response { status: 200, headers, body: Some(body.as_bytes().to_vec()) }))))
    }

    fn read(piece: &str) -> Event {
        Event::Read(1, Piece::Bytes(piece.as_bytes().to_vec()))
    }

    #[test]
    fn a_word_that_a_guest_derived_and_a_service_repeats_is_refused() {
        let reason = |made: [&str; 2], answer: &[Event]| {
            reason(&events(made[0], answer), &mut events(made[1], answer), &Remade::new())
        };
        assert!(reason(CARD, &[taken(&[], r#"{"pan":"x41111111"#), read(r#"22223333"}"#)]).is_some());
        // The same with placeholders as without them, so it is of no secret, or repeated nowhere.
        assert!(reason([CARD[0]; 2], &[taken(&[], CARD[0])]).is_none());
        assert!(reason(CARD, &[taken(&[], "a card 1111222233")]).is_none());
        assert!(reason(CARD, &[taken(&[("location", "/?of=4111111122223333")], "")]).is_some());
    }

    #[test]
    fn a_text_that_comes_back_has_what_the_guest_makes_in_its_place() {
        let id = ["0190b5f2-7c1e-4d3a-9abc-0123456789ab", "a7c1d2e3-0f1e-4b2c-8def-ba9876543210"];
        let made = id.map(|id| format!(r#"{{"params":["{id}","order/{id}"]}}"#));
        let remade = |answer: &str, earlier: &Remade| {
            remade(&mut events(&made[0], &[taken(&[], answer)]), &events(&made[1], &[]), earlier)
        };
        // As the whole of it, and as a part of a longer text.
        let back = remade(&format!(r#"["{}","order/{}"]"#, id[0], id[0]), &Remade::new()).unwrap();
        let of = |text: &str| back.get(text.as_bytes()).map(|made| String::from_utf8(made.clone()).unwrap());
        assert_eq!(
            (of(id[0]), of(&format!("order/{}", id[0]))),
            (Some(id[1].into()), Some(format!("order/{}", id[1])))
        );
        // Nothing comes back that is not known from an earlier run.
        assert_eq!(remade(&format!(r#"["{}","order/{}"]"#, id[0], id[0]), &back), None);
        assert_eq!(remade("[]", &Remade::new()), None);
        // Texts of another length are of another kind.
        let longer = events(&format!("{}0", made[1]), &[]);
        assert_eq!(super::remade(&mut events(&made[0], &[taken(&[], id[0])]), &longer, &Remade::new()), None);
    }

    /// A guest that makes a second text of a masked value and of the first text, as it has come back.
    #[test]
    fn a_text_that_was_made_of_one_that_was_not_replaced_is_made_again() {
        let run = |value: &str, answers: [&str; 2]| {
            let call = |number, url| Event::Start(number, Call { url, ..Call::default() });
            let mixed = value[..4].to_string() + &answers[0][..4];
            let first = [Event::Enter(Request::default()), call(1, value.chars().rev().collect())];
            let rest = [taken(&[], answers[0]), call(2, mixed), taken(&[], answers[1])];
            first.into_iter().chain(rest).collect::<Vec<_>>()
        };
        let recorded = ["87654321", "12348765"];
        let mut before = run("12345678", recorded);
        let given = |texts: [&str; 2]| -> Remade {
            recorded
                .iter()
                .zip(texts)
                .map(|(text, given)| (text.as_bytes().to_vec(), given.as_bytes().to_vec()))
                .collect()
        };
        let mut first = run("abcdefgh", recorded);
        assert!(reason(&before, &mut first, &Remade::new()).is_some());
        let back = ["hgfedcba", "abcd8765"];
        assert_eq!(remade(&mut before, &first, &Remade::new()), Some(given(back)));
        // It got digits of the value now, which are in no text of the first run.
        let mut second = run("abcdefgh", back);
        assert!(reason(&before, &mut second, &given(back)).is_some());
        let last = ["hgfedcba", "abcdhgfe"];
        assert_eq!(remade(&mut before, &second, &given(back)), Some(given(last)));
        let mut third = run("abcdefgh", last);
        assert_eq!(reason(&before, &mut third, &given(last)), None);
        assert_eq!(remade(&mut before, &third, &given(last)), None);
        // A text that is made nowhere any more, or differently, is not known to be of placeholders.
        assert!(reason(&before, &mut third[..2], &given(last)).is_some());
        third.push(Event::Log(false, b"12348766".to_vec()));
        before.push(Event::Log(false, b"12348765".to_vec()));
        assert!(reason(&before, &mut third, &given(last)).is_some());
    }
}
