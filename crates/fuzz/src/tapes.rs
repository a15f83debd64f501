//! Fuzz target for recordings of requests.

use tenon_tape::{Encoder, Event, Meta, Tape};

/// Reads bytes as a file, and as the events of one, because no input gets past the checksum by chance. The result is written with
/// the same bytes again, and can be shown.
pub fn tapes(bytes: &[u8]) {
    if let Ok(tape) = Tape::read(bytes) {
        assert_eq!(tape.file(), bytes, "a recording has one form");
        let _ = tenon_runtime::tape_view(&tape);
    }
    if let Ok(events) = Encoder::decode(bytes) {
        assert_eq!(encoded(&events), bytes, "events have one form");
        let tape = Tape { meta: Meta::default(), events };
        assert_eq!(Tape::read(&tape.file()).as_ref(), Ok(&tape));
        let _ = tenon_runtime::tape_view(&tape);
    }
}

fn encoded(events: &[Event]) -> Vec<u8> {
    let mut encoder = Encoder::default();
    events.iter().for_each(|event| encoder.event(event));
    encoder.into_bytes()
}
