//! Streamed calls: bodies that a guest reads and writes piece by piece.

use std::sync::atomic::Ordering;

use tenon_fixtures::calls::{Read, UNWANTED};

use super::*;

const MIB: usize = 1024 * 1024;

/// The most bytes that the host has held for one request.
fn peak(runtime: &Runtime) -> usize {
    let slot = runtime.shared.registry.get("c").unwrap();
    let State::Ready(module) = &slot.state else { panic!("it is not ready") };
    module.shared_state.peak.load(Ordering::Relaxed)
}

fn post(url: &str) -> Call<'_> {
    Call { method: "POST", ..Call::get(url) }
}

fn failed(read: Read) -> (u32, String) {
    match read {
        Read::Failed { reason, detail } => (reason, detail),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn pieces_pass_both_ways_at_once() {
    let (runtime, peer, url, _folder) = calling(small(), Isolation::Request).await;
    let mirror = format!("{url}/mirror");
    let mut script = Script::default();
    script.start_streamed(&post(&mirror), true).wait(NO_LIMIT).take().read(1);
    script.write(1, Some(b"a")).wait(NO_LIMIT).ready().ready().read(1).read(1).wait(0);
    script.write(1, Some(b"")).write(1, Some(b"bc")).wait(NO_LIMIT).take().ready().read(1).read(1);
    script.write(1, None).wait(NO_LIMIT).ready().read(1).read(1).write(1, Some(b"d")).write(1, None).wait(NO_LIMIT);
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!((results.number(), results.number()), (1, 1));
    assert!(matches!(results.taken(), Taken::Response { call: 1, status: 200, body, .. } if body.is_empty()));
    assert_eq!(results.read(), Read::Later);
    assert_eq!([(); 4].map(|()| results.number()), [1, 1, 1, 0]);
    assert_eq!((results.read(), results.read(), results.number()), (Read::Bytes(b"a".to_vec()), Read::Later, 0));
    assert_eq!([(); 3].map(|()| results.number()), [0, 2, 1]);
    assert_eq!((results.taken(), results.number()), (Taken::None, 1));
    assert_eq!((results.read(), results.read()), (Read::Bytes(b"bc".to_vec()), Read::Later));
    assert_eq!([(); 3].map(|()| results.number()), [0, 1, 1]);
    assert_eq!((results.read(), results.read()), (Read::End, Read::End));
    assert_eq!([(); 3].map(|()| results.number()), [UNWANTED, UNWANTED, 0]);
    assert!(results.0.is_empty());
    assert_eq!(peer.seen(), ["POST /mirror"]);
}

#[tokio::test]
async fn a_short_response_is_whole_when_its_head_is_taken() {
    let (runtime, _peer, url, _folder) = calling(small(), Isolation::Request).await;
    for (path, length) in [("/size?10", 10), ("/size?0", 0)] {
        let url = format!("{url}{path}");
        let mut script = Script::default();
        script.start_streamed(&Call::get(&url), false).wait(NO_LIMIT).take().read(1);
        let given = answered(&runtime, &script).await;
        let mut results = StepResults(&given);
        assert_eq!((results.number(), results.number()), (1, 1));
        assert_eq!((body_of(&results.taken()).len(), results.read()), (length, Read::End), "{path}");
    }
    // Pieces that come later are read. The system may divide a longer response.
    for (path, length) in [("/pieces?3", 15), ("/size?65536", 65536)] {
        let mut script = Script::default();
        script.start_streamed(&Call::get(&format!("{url}{path}")), false).wait(NO_LIMIT).take().drain(1);
        let given = answered(&runtime, &script).await;
        let mut results = StepResults(&given);
        assert_eq!((results.number(), results.number()), (1, 1));
        let first = body_of(&results.taken()).len();
        assert_eq!((first + results.number() as usize, results.read()), (length, Read::End), "{path}");
    }
    // The limit of whole bodies does not hold.
    let large = format!("{url}/size?3000000");
    let limits = Limits { max_hostcall_bytes: 256 * 1024, ..small() };
    let (runtime, _folder) = runtime_of(&url, limits, Isolation::Request).await;
    let mut script = Script::default();
    script.start_streamed(&Call::get(&large), false).wait(NO_LIMIT).take().drain(1);
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!((results.number(), results.number()), (1, 1));
    let first = body_of(&results.taken()).len();
    assert_eq!((first + results.number() as usize, results.read()), (3_000_000, Read::End));
    assert!(first <= 64 * 1024 && peak(&runtime) < MIB / 4, "{first} {}", peak(&runtime));
}

#[tokio::test]
async fn a_streamed_call_that_fails_has_a_reason() {
    let limits =
        Limits { max_outbound_body_bytes: 1_000, outbound_timeout_ms: 1_000, breaker_failures: 100, ..small() };
    let (runtime, peer, url, _folder) = calling(limits, Isolation::Request).await;
    let [broken, stall, trickle, endless, echo, hang, mirror] =
        ["/broken", "/stall", "/trickle", "/endless", "/echo", "/hang", "/mirror"].map(|path| format!("{url}{path}"));
    let soon = |url| Call { timeout_ms: 300, ..Call::get(url) };
    for (call, reason, words) in [
        (Call::get(&broken), BROKEN, "the response of db broke off"),
        (Call::get(&stall), TIMEOUT, "no data arrived for 1000 ms"),
        (soon(&stall), TIMEOUT, "not complete within 300 ms"),
        (soon(&trickle), TIMEOUT, "not complete within 300 ms"),
        (Call { max_bytes: 100_000, ..Call::get(&endless) }, TOO_LARGE, "larger than 100000 bytes"),
    ] {
        let mut script = Script::default();
        script.start_streamed(&call, false).wait(NO_LIMIT).take().drain(1).read(1);
        let given = answered(&runtime, &script).await;
        let mut results = StepResults(&given);
        assert_eq!((results.number(), results.number()), (1, 1));
        let taken = results.taken();
        assert!(matches!(taken, Taken::Response { .. }), "{call:?}: {taken:?}");
        results.number();
        let (found, detail) = failed(results.read());
        assert_eq!((found, detail.contains(words)), (reason, true), "{call:?}: {detail}");
        // Nothing is left of it.
        assert_eq!(results.read(), Read::End);
    }
    let named = Call { headers: &[("content-length", "4")], ..post(&echo) };
    for (call, pieces, reason, words) in [
        (Call::get("http://10.0.0.1/"), 0, REFUSED, "10.0.0.1 is refused"),
        (Call::get("sidecar:gone/a"), 0, REFUSED, "gone cannot be reached"),
        (named, 0, INVALID, "content-length must not be set for a streamed body"),
        (soon(&hang), 0, TIMEOUT, "db did not answer within 300 ms"),
        (post(&echo), 2, INVALID, "max_outbound_body_bytes"),
    ] {
        let mut script = Script::default();
        script.start_streamed(&call, true);
        for _ in 0..pieces {
            script.write(1, Some(&[b'x'; 600]));
        }
        script.wait(NO_LIMIT).take().read(1).write(1, None);
        let given = answered(&runtime, &script).await;
        let mut results = StepResults(&given);
        assert_eq!(results.number(), 1);
        assert_eq!((0..pieces).map(|_| results.number()).collect::<Vec<_>>(), [600, UNWANTED][..pieces]);
        assert_eq!(results.number(), 1);
        match results.taken() {
            Taken::Failure { call: 1, reason: found, detail } => {
                assert_eq!((found, detail.contains(words)), (reason, true), "{call:?}: {detail}");
            }
            other => panic!("{call:?}: {other:?}"),
        }
        assert_eq!((results.read(), results.number()), (Read::End, UNWANTED));
    }
    // Too much is written when the response has begun.
    let mut script = Script::default();
    script.start_streamed(&post(&mirror), true).wait(NO_LIMIT).take();
    script.write(1, Some(&[b'x'; 600])).write(1, Some(&[b'x'; 600])).drain(1);
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!((results.number(), results.number()), (1, 1));
    results.taken();
    assert_eq!((results.number(), results.number()), (600, UNWANTED));
    results.number();
    let (reason, detail) = failed(results.read());
    assert_eq!((reason, detail.contains("max_outbound_body_bytes")), (INVALID, true), "{detail}");
    // Endless bodies were given up, and so were requests without an answer.
    until(|| peer.given_up() == 3).await;
}

#[tokio::test]
async fn the_host_holds_little_of_a_body_that_nobody_takes() {
    let limits = Limits { max_outbound_body_bytes: 4 << 30, request_timeout_ms: 1_500, ..small() };
    let (runtime, peer, url, _folder) = calling(limits, Isolation::Request).await;
    let [endless, hang] = ["/endless", "/hang"].map(|path| format!("{url}{path}"));
    // A guest never reads. The sent bytes are in the buffers of the connection.
    let mut script = Script::default();
    script.start_streamed(&Call::get(&endless), false).wait(NO_LIMIT).take().wait(300_000);
    answered(&runtime, &script).await;
    until(|| peer.given_up() == 1).await;
    assert!(peer.pieces() < 400, "{} pieces of 64 KiB", peer.pieces());
    // One that writes to a server that does not read, and so does not notice the end.
    assert_eq!(run(&runtime, Script::default().start_streamed(&post(&hang), true).fill(1)).await.status, 504);
    // One that reads for ever.
    let mut script = Script::default();
    script.start_streamed(&Call::get(&endless), false).wait(NO_LIMIT).take().drain(1);
    assert_eq!(run(&runtime, &script).await.status, 504);
    until(|| peer.given_up() == 2).await;
    assert!(peak(&runtime) < MIB / 2, "{}", peak(&runtime));
}

#[tokio::test]
async fn an_answer_before_the_end_of_the_request_ends_it() {
    let limits = Limits { max_outbound_body_bytes: 4 << 30, ..small() };
    let (runtime, _peer, url, _folder) = calling(limits, Isolation::Request).await;
    let early = format!("{url}/early");
    let mut script = Script::default();
    script.start_streamed(&post(&early), true).fill(1).wait(NO_LIMIT).take().read(1);
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!((results.number(), results.number()), (1, 1));
    assert!(matches!(results.taken(), Taken::Response { status: 202, .. } | Taken::Failure { .. }));
    assert_eq!(results.read(), Read::End);
}

#[tokio::test]
async fn a_thousand_streams_run_at_once_within_the_sums_of_a_request() {
    let many = Limits { max_outbound_calls: 2_000, max_concurrent_per_sidecar: 2_000, ..small() };
    let few = Limits { max_held_bytes: 2 * 1024 * 1024, ..many.clone() };
    let numbered = Limits { max_resources: 100, ..many.clone() };
    let (_, _peer, url, _folder) = calling(small(), Isolation::Request).await;
    let stall = format!("{url}/stall");
    let taking = |count: u32| {
        let mut script = Script::default();
        script.start_many(&Call::get(&stall), count);
        for _ in 0..20 {
            script.wait(NO_LIMIT).take();
        }
        script
    };
    for isolation in [Isolation::Request, Isolation::Shared] {
        for (limits, count, fails) in [(&many, 1_000, false), (&few, 30, true), (&many, 1_000, false)] {
            let (runtime, _folder) = runtime_of(&url, limits.clone(), isolation).await;
            let given = answered(&runtime, &taking(count)).await;
            let mut results = StepResults(&given);
            assert_eq!((1..=count).map(|_| results.number()).sum::<u32>(), (1..=count).sum::<u32>());
            let mut failures = 0;
            for _ in 0..20 {
                assert_eq!(results.number(), 1);
                match results.taken() {
                    Taken::Failure { reason: UNREACHABLE, detail, .. } if detail.contains("max_held_bytes") => {
                        failures += 1
                    }
                    Taken::Response { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(failures > 0, fails);
            assert!(peak(&runtime) <= usize::try_from(limits.max_held_bytes).unwrap());
        }
        let (runtime, _folder) = runtime_of(&url, numbered.clone(), isolation).await;
        assert_eq!(run(&runtime, &taking(1_000)).await.status, 500);
        let (held, _folder) = runtime_of(&url, few.clone(), isolation).await;
        assert_eq!(run(&held, &taking(1_000)).await.status, 500);
        assert_eq!(run(&runtime, &taking(20)).await.status, 200);
    }
}

#[tokio::test]
async fn a_number_is_of_its_own_request_and_kind() {
    for isolation in [Isolation::Request, Isolation::Shared] {
        let (runtime, peer, url, _folder) = calling(small(), isolation).await;
        let [mirror, echo, endless] = ["/mirror", "/echo", "/endless"].map(|path| format!("{url}{path}"));
        let mut leaving = Script::default();
        // One that has something to read, and one that waits for it.
        leaving.start_streamed(&Call::get(&endless), false).start_streamed(&post(&mirror), true);
        leaving.wait(NO_LIMIT).take().wait(NO_LIMIT).take().read(2).write(2, Some(b"secret")).wait(NO_LIMIT);
        let mut looking = Script::default();
        looking.ready().read(1).read(2).write(2, Some(b"x")).wait(NO_LIMIT);
        looking.start(&Call::get(&echo)).read(1).write(1, None).wait(NO_LIMIT).read(1).take().read(1);
        looking.start_streamed(&post(&mirror), true).read(2).cancel(2).read(2).write(2, None).read(0).read(u32::MAX);
        for round in 1..4 {
            answered(&runtime, &leaving).await;
            until(|| peer.given_up() == round && runtime.shared.admission.free() == 4).await;
            let given = answered(&runtime, &looking).await;
            let mut results = StepResults(&given);
            assert_eq!((results.number(), results.read(), results.read()), (0, Read::End, Read::End));
            assert_eq!((results.number(), results.number()), (UNWANTED, 0));
            assert_eq!((results.number(), results.read(), results.number()), (1, Read::End, UNWANTED));
            assert_eq!((results.number(), results.read()), (1, Read::End));
            assert!(matches!(results.taken(), Taken::Response { call: 1, .. }));
            assert_eq!((results.read(), results.number()), (Read::End, 2));
            assert_eq!((results.read(), results.read(), results.number()), (Read::End, Read::End, UNWANTED));
            assert_eq!((results.read(), results.read()), (Read::End, Read::End));
        }
    }
}

#[tokio::test]
async fn a_stream_is_cancelled_wherever_it_is() {
    let (runtime, peer, url, _folder) = calling(small(), Isolation::Request).await;
    let [endless, hang, trickle] = ["/endless", "/hang", "/trickle"].map(|path| format!("{url}{path}"));
    let mut script = Script::default();
    script.start_streamed(&Call::get(&endless), false).wait(NO_LIMIT).cancel(1);
    script.start_streamed(&Call::get(&endless), false).wait(NO_LIMIT).take().read(2).cancel(2).wait(NO_LIMIT);
    script.start_streamed(&Call::get(&trickle), false).wait(NO_LIMIT).take().read(3).read(3).wait(NO_LIMIT).cancel(3);
    script.ready().wait(NO_LIMIT).start_streamed(&Call::get(&hang), true).wait(20_000).cancel(4).wait(NO_LIMIT);
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!([(); 4].map(|()| results.number()), [1, 1, 2, 1]);
    results.taken();
    results.read();
    assert_eq!([(); 3].map(|()| results.number()), [0, 3, 1]);
    results.taken();
    assert_ne!((results.read(), results.read()), (Read::End, Read::End));
    assert_eq!([(); 6].map(|()| results.number()), [1, 0, 0, 4, 0, 0]);
    until(|| peer.given_up() == 4).await;
}
