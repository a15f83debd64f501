//! The values that another build gets.

use super::*;
use crate::tape::driver::tests::tape;

fn call(url: &str) -> Call {
    Call { method: "GET".into(), url: url.into(), ..Call::default() }
}

fn answer(status: u16) -> Result<Response, Failure> {
    Ok(Response { status, ..Response::default() })
}

fn parts(loose: Loose) -> Vec<String> {
    loose.end().0.into_iter().map(|change| change.part).collect()
}

#[test]
fn recorded_values_come_in_their_order_until_the_first_deviation() {
    let events = [
        Event::Monotonic(5),
        Event::Wait(1_000, false),
        // A clock that the wait did not advance as far as it was asked to.
        Event::Monotonic(900_000),
        Event::RandomNumber(7),
        Event::Monotonic(2_000_000),
    ];
    let mut same = Loose::new(&tape(&events));
    assert_eq!((same.monotonic(), same.wait(1_000).ok(), same.monotonic()), (5, Some(false), 900_000));
    assert_eq!((same.random_number(), same.monotonic()), (7, 2_000_000));
    let mut other = Loose::new(&tape(&events));
    assert_eq!((other.monotonic(), other.monotonic(), other.random_number()), (5, 900_000, 7));
    assert_eq!((other.monotonic(), other.monotonic()), (2_000_000, 2_000_000 + STEP));
}

#[test]
fn a_clock_that_was_never_read_begins_with_the_request() {
    let mut recorded = tape(&[Event::Monotonic(3_000)]);
    recorded.meta.time = 1_764_218_700_000_000_000;
    let mut loose = Loose::new(&recorded);
    loose.monotonic();
    let first = loose.wall();
    assert_eq!(first, recorded.meta.time + 3_000);
    assert!(loose.wall() > first);
}

#[test]
fn calls_and_results_that_nobody_asks_for_again_are_told() {
    let events = [
        Event::Start(1, call("a")),
        Event::Start(2, call("b")),
        Event::Take(Some((2, answer(200)))),
        Event::Take(Some((1, answer(404)))),
    ];
    assert_eq!(parts(Loose::new(&tape(&events))), ["call 1", "call 2"]);
    let mut some = Loose::new(&tape(&events));
    assert_eq!(some.start(call("b")).ok(), Some(1));
    assert_eq!(parts(some), ["call 1", "result of call 2"]);
    let mut all = Loose::new(&tape(&events));
    assert_eq!((all.start(call("a")).ok(), all.start(call("b")).ok()), (Some(1), Some(2)));
    // Another wait than the recorded one, which has none.
    assert_eq!(all.wait(u32::MAX).ok(), Some(true));
    assert_eq!(all.take(), Some((2, answer(200))));
    assert_eq!(all.take(), Some((1, answer(404))));
    assert_eq!((all.take(), parts(all)), (None, Vec::new()));
}

#[test]
fn a_wait_for_something_that_never_came_ends_the_replay() {
    let mut recorded = tape(&[Event::Start(1, call("a")), Event::Monotonic(1)]);
    for is_cut in [false, true] {
        recorded.meta.is_cut = is_cut;
        let mut loose = Loose::new(&recorded);
        assert_eq!(loose.wait(u32::MAX).ok(), Some(false));
        assert_eq!(loose.start(call("a")).ok(), Some(1));
        assert_eq!(loose.wait(1_000).ok(), Some(false));
        let stop = loose.wait(u32::MAX).err();
        assert_eq!(matches!(stop, Some(Stop::Cut)), is_cut);
        loose.cancel(1);
        assert_eq!(loose.wait(u32::MAX).ok(), Some(false));
    }
}

#[test]
fn a_stream_goes_on_after_a_deviation() {
    let streamed = Call { streamed: Some(true), ..call("a") };
    let events = [
        Event::Start(1, streamed.clone()),
        Event::Take(Some((1, answer(200)))),
        Event::Read(1, Piece::Later),
        Event::Wait(u32::MAX, true),
        Event::Ready(Some(1)),
        Event::Read(1, Piece::Bytes(b"one".to_vec())),
        Event::Read(1, Piece::End),
    ];
    let mut loose = Loose::new(&tape(&events));
    assert_eq!(loose.start(streamed).ok(), Some(1));
    assert!(loose.take().is_some());
    assert_eq!(loose.read(1), Piece::Later);
    loose.monotonic();
    assert_eq!((loose.wait(u32::MAX).ok(), loose.ready(), loose.ready()), (Some(true), Some(1), None));
    assert_eq!(loose.read(1), Piece::Bytes(b"one".to_vec()));
    assert_eq!((loose.read(1), loose.read(1)), (Piece::End, Piece::End));
    assert_eq!(parts(loose), Vec::<String>::new());
}
