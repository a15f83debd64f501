//! Calls and log lines by `sdk:core/calls` and `sdk:core/log`.

pub(super) mod peer;
mod streams;

use std::collections::HashSet;

use tenon_fixtures::calls::{Call, NO_LIMIT, Script, StepResults, Taken};
use tenon_fixtures::random::Numbers;
use tenon_transport::{Address, Sidecar};
use tokio::net::UnixListener;

use super::isolation::created;
use super::*;
use crate::config::Isolation;
use peer::Peer;

const REFUSED: u32 = 0;
const UNREACHABLE: u32 = 1;
const TIMEOUT: u32 = 2;
const TOO_LARGE: u32 = 3;
const INVALID: u32 = 4;
const BROKEN: u32 = 5;

/// A runtime of the fixture that reaches a peer by TCP, and its URL.
async fn calling(limits: Limits, isolation: Isolation) -> (Runtime, Arc<Peer>, String, TempDir) {
    let peer = Peer::new();
    let url = peer.listen().await;
    let (runtime, folder) = runtime_of(&url, limits, isolation).await;
    (runtime, peer, url, folder)
}

async fn runtime_of(url: &str, limits: Limits, isolation: Isolation) -> (Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.wasm");
    std::fs::write(&path, fixtures::calls::calls()).unwrap();
    let sidecar = |name, address: &str| Sidecar::new(name, Address::parse(address).unwrap()).unwrap();
    // Nobody listens at the second.
    let sidecars = vec![sidecar("db", url), sidecar("gone", "http://127.0.0.1:1")];
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let environment = vec![("TENON_SECRET_SIDECAR_DB_TOKEN".to_string(), "t0ken".to_string())];
    let config = RuntimeConfig { modules, limits, isolation, sidecars, environment, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    runtime.record_requests();
    (runtime, folder)
}

async fn run(runtime: &Runtime, script: &Script) -> Received {
    send(runtime, request("POST", "/run/c/", script.body())).await
}

/// The results of a script's steps, when its handler answered.
async fn answered(runtime: &Runtime, script: &Script) -> Bytes {
    let answer = run(runtime, script).await;
    let last = || runtime.transcript(runtime.recent_requests().last()?.transcript?);
    assert_eq!(answer.status, 200, "{:?}", last());
    answer.body
}

/// Starts calls that fail, waits for each, and takes them: their reasons and details.
async fn failing(runtime: &Runtime, calls: &[Call<'_>]) -> Vec<(u32, String)> {
    let mut failures = Vec::new();
    for call in calls {
        let given = answered(runtime, Script::default().start(call).wait(NO_LIMIT).take()).await;
        let mut results = StepResults(&given);
        assert_eq!((results.number(), results.number()), (1, 1));
        match results.taken() {
            Taken::Failure { call: 1, reason, detail } => failures.push((reason, detail)),
            other => panic!("{call:?}: {other:?}"),
        }
    }
    failures
}

fn body_of(taken: &Taken) -> String {
    match taken {
        Taken::Response { body, .. } => String::from_utf8_lossy(body).into_owned(),
        other => panic!("{other:?}"),
    }
}

fn number_of(taken: &Taken) -> u32 {
    match taken {
        Taken::Response { call, .. } | Taken::Failure { call, .. } => *call,
        Taken::None => 0,
    }
}

#[tokio::test]
async fn calls_run_at_once_and_are_taken_in_the_order_of_their_ends() {
    let (runtime, _peer, url, _folder) = calling(small(), Isolation::Request).await;
    let [pair, gate, open, echo] = ["/pair", "/gate", "/open", "/echo?a=%20b"].map(|path| format!("{url}{path}"));
    let post = Call {
        method: "POST",
        headers: &[("X-Own", "1"), ("x-own", "2"), ("content-length", "4"), ("tenon-egress", "explain")],
        body: Some(b"body"),
        ..Call::get(&echo)
    };
    let mut script = Script::default();
    // Two that are answered together only, and one that is answered when another one has been.
    script.start(&Call::get(&gate)).start(&Call::get(&pair)).start(&Call::get(&pair));
    script.wait(NO_LIMIT).take().wait(NO_LIMIT).take();
    script.start(&post).wait(NO_LIMIT).take().wait(0).take();
    script.start(&Call::get(&open)).wait(NO_LIMIT).take().wait(NO_LIMIT).take();
    script.wait(NO_LIMIT).wait(1_000).take();
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!([(); 3].map(|()| results.number()), [1, 2, 3]);
    let take = |results: &mut StepResults| {
        assert_eq!(results.number(), 1, "a call has ended");
        results.taken()
    };
    assert_eq!([(); 2].map(|()| number_of(&take(&mut results))).iter().sum::<u32>(), 5);
    assert_eq!(results.number(), 4);
    let echoed = take(&mut results);
    let Taken::Response { call: 4, status: 203, headers, .. } = &echoed else { panic!("{echoed:?}") };
    let twice: Vec<_> = headers.iter().filter(|(name, _)| name == "x-twice").map(|(_, value)| value.as_str()).collect();
    assert_eq!(twice, ["1", "2"]);
    let told = body_of(&echoed);
    assert!(told.starts_with("POST /echo?a=%20b\n") && told.ends_with("\nbody"), "{told}");
    for line in [
        &format!("\nhost: {}\n", &url["http://".len()..]),
        "\nx-own: 1\nx-own: 2\n",
        "\ncontent-length: 4\n",
        "\nx-request-id: ",
    ] {
        assert_eq!(told.matches(line).count(), 1, "{line:?} in {told}");
    }
    assert!(!told.contains("tenon-egress"), "{told}");
    // Nothing else has ended.
    assert_eq!((results.number(), results.taken()), (0, Taken::None));
    assert_eq!(results.number(), 5);
    let rest: HashSet<_> = [(); 2].map(|()| number_of(&take(&mut results))).into();
    assert_eq!(rest, HashSet::from([1, 5]));
    assert_eq!((results.number(), results.number(), results.taken()), (0, 0, Taken::None));
    assert!(results.0.is_empty());
}

#[tokio::test]
async fn a_call_that_fails_has_a_reason() {
    let limits = Limits {
        max_outbound_body_bytes: 1_000,
        max_fields_bytes: 1_024,
        max_hostcall_bytes: 64 * 1024,
        outbound_timeout_ms: 20_000,
        breaker_failures: 100,
        ..small()
    };
    let (runtime, peer, url, _folder) = calling(limits, Isolation::Request).await;
    let at = |path: &str| format!("{url}{path}");
    let [hang, stall, ten, ten_pieces, large, broken, fields, echo] =
        ["/hang", "/stall", "/size?10", "/pieces?10", "/size?65537", "/broken", "/fields?2000", "/echo"].map(at);
    let user = "http://ada:s3cret@10.0.0.1/?token=s3cret";
    let outgoing = vec![b'x'; 1_001];
    let long = "x".repeat(1_024);
    let long = [("a", long.as_str())];
    let soon = |url| Call { timeout_ms: 300, ..Call::get(url) };
    let few = |url| Call { max_bytes: 9, ..Call::get(url) };
    let with = |headers| Call { headers, ..Call::get(&echo) };
    let by = |method| Call { method, ..Call::get(&echo) };
    let calls = [
        (Call::get(user), REFUSED, "10.0.0.1 is refused"),
        (Call::get("https://db"), REFUSED, "https://db is refused"),
        (Call::get("http://127.0.0.1:1/"), REFUSED, "gone cannot be reached"),
        (Call::get("sidecar:gone/a"), REFUSED, "gone cannot be reached"),
        (Call::get("sidecar:none/a"), REFUSED, "there is no such sidecar"),
        (Call::get("sidecar:db"), REFUSED, "there is no such sidecar"),
        (Call::get("sidecar:/a"), REFUSED, "there is no such sidecar"),
        (Call::get("sidecar:db/a#b"), INVALID, "fragment"),
        (Call::get("sidecar:db/a b"), INVALID, "its URL must be valid"),
        (soon(&hang), TIMEOUT, "db did not answer within 300 ms"),
        (soon(&stall), TIMEOUT, "the response of db was not complete within 300 ms"),
        (few(&ten), TOO_LARGE, "larger than 9 bytes (as the handler asked for)"),
        (few(&ten_pieces), TOO_LARGE, "larger than 9 bytes (as the handler asked for)"),
        (Call::get(&large), TOO_LARGE, "larger than 65536 bytes (max_hostcall_bytes)"),
        (Call { max_bytes: u32::MAX, ..Call::get(&large) }, TOO_LARGE, "larger than 65536 bytes (max_hostcall_bytes)"),
        (Call::get(&fields), TOO_LARGE, "larger than 1024 bytes (max_fields_bytes)"),
        (Call::get(&broken), BROKEN, "the response of db broke off"),
        (by("G T"), INVALID, "its method must be a token, as HTTP has it"),
        (by(""), INVALID, "its method must be a token, as HTTP has it"),
        (by("CONNECT"), INVALID, "must not be CONNECT"),
        (Call::get(""), INVALID, "its URL must be valid"),
        (Call::get("http://"), INVALID, "its URL must be valid"),
        (Call::get("http://a b/"), INVALID, "its URL must be valid"),
        (Call::get("/echo"), INVALID, "must begin with http://"),
        (Call::get("ftp://db/"), INVALID, "must begin with http://"),
        (Call::get("http://db/#a"), INVALID, "fragment"),
        (with(&[("a b", "")]), INVALID, "the name of a header"),
        (with(&[("", "")]), INVALID, "the name of a header"),
        (with(&[("a", "s3cret\r\nb: c")]), INVALID, "the value of a must have no control characters"),
        (with(&[("Host", "a")]), INVALID, "host must not be set: the host sets it"),
        (with(&[("transfer-encoding", "chunked")]), INVALID, "transfer-encoding must not be set: the host sets it"),
        (with(&[("content-length", "1")]), INVALID, "must be the length of its body"),
        (Call { body: Some(&outgoing), ..by("POST") }, INVALID, "max_outbound_body_bytes"),
        (with(&long), INVALID, "max_fields_bytes"),
    ];
    let failures = failing(&runtime, &calls.map(|(call, ..)| call)).await;
    for ((call, reason, words), (found, detail)) in calls.iter().zip(&failures) {
        assert_eq!((found, detail.contains(words)), (reason, true), "{call:?}: {detail}");
        assert!(!detail.contains("s3cret"), "{detail}");
    }
    assert!(peer.seen().iter().all(|asked| !asked.ends_with("/echo")), "{:?}", peer.seen());
    let metrics = runtime.metrics();
    for line in [
        r#"tenon_outbound_refused_total{module="c"} 2"#,
        r#"tenon_sidecar_calls_total{module="c",sidecar="gone",outcome="connect"} 2"#,
        r#"tenon_sidecar_calls_total{module="c",sidecar="db",outcome="timeout"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    until(|| peer.given_up() == 1).await;
}

#[tokio::test]
async fn a_sidecar_is_called_by_its_name_and_gets_its_token() {
    let (runtime, peer, url, _folder) = calling(small(), Isolation::Request).await;
    let other = format!("{url}/echo");
    let named = Call::get("sidecar:db/echo?a=%20");
    let own = Call { headers: &[("authorization", "own")], ..named };
    for call in [named, own, Call::get(&other)] {
        answered(&runtime, Script::default().start(&call).wait(NO_LIMIT).take()).await;
    }
    assert_eq!(peer.seen(), ["GET /echo?a=%20 Bearer t0ken", "GET /echo?a=%20 own", "GET /echo"]);
}

#[tokio::test]
async fn the_calls_of_a_request_are_limited_in_number_and_in_bytes() {
    let limits = Limits { max_outbound_calls: 3, max_held_bytes: 80_000, max_resources: 16, ..small() };
    let (runtime, _peer, url, _folder) = calling(limits.clone(), Isolation::Request).await;
    let [large, smaller, echo] = ["/size?60000", "/size?20000", "/echo"].map(|path| format!("{url}{path}"));
    let call = Call::get(&large);
    let post = Call { method: "POST", body: Some(&[b'x'; 10_000]), ..Call::get(&echo) };
    let mut script = Script::default();
    // The host holds the first response when the second call starts, and has let go of it when the third one does.
    script.start(&call).wait(NO_LIMIT).start(&post).cancel(1).take();
    script.start(&post).wait(NO_LIMIT).take().start(&post).take();
    let first = answered(&runtime, &script).await;
    let mut results = StepResults(&first);
    assert_eq!([(); 3].map(|()| results.number()), [1, 1, 2]);
    let failed = |taken| match taken {
        Taken::Failure { call, reason: UNREACHABLE, detail } => (call, detail),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        failed(results.taken()),
        (2, "the host would hold more than 80000 bytes for this request (max_held_bytes)".to_string())
    );
    assert_eq!((results.number(), results.number()), (3, 1));
    assert!(matches!(results.taken(), Taken::Response { call: 3, .. }));
    assert_eq!(results.number(), 4);
    let (call_number, detail) = failed(results.taken());
    assert_eq!((call_number, detail.contains("max_outbound_calls")), (4, true), "{detail}");

    let mut greedy = Script::default();
    for _ in 0..16 {
        greedy.start(&call);
    }
    assert_eq!(run(&runtime, &greedy).await.status, 200);
    assert_eq!(run(&runtime, greedy.start(&call)).await.status, 500);
    // The bytes that were held for them are given back.
    let more = Limits { max_outbound_calls: 64, ..limits };
    let (runtime, _folder) = runtime_of(&url, more, Isolation::Request).await;
    let mut script = Script::default();
    for number in 1..20 {
        script.start(&call).wait(NO_LIMIT).cancel(number);
    }
    let given = answered(&runtime, script.start(&Call::get(&smaller)).wait(NO_LIMIT).take()).await;
    let mut results = StepResults(&given);
    for number in 1..=20 {
        assert_eq!((results.number(), results.number()), (number, 1));
    }
    assert!(matches!(results.taken(), Taken::Response { call: 20, body, .. } if body.len() == 20_000));
}

#[tokio::test]
async fn a_call_is_cancelled_wherever_it_is() {
    let (runtime, peer, url, _folder) = calling(small(), Isolation::Request).await;
    let [hang, echo] = ["/hang", "/echo"].map(|path| format!("{url}{path}"));
    let mut script = Script::default();
    script.start(&Call::get(&hang)).start(&Call::get(&echo)).cancel(1).cancel(77).wait(NO_LIMIT).take();
    script.start(&Call::get(&echo)).wait(NO_LIMIT).cancel(3).cancel(2).wait(NO_LIMIT).take();
    let given = answered(&runtime, &script).await;
    let mut results = StepResults(&given);
    assert_eq!([(); 3].map(|()| results.number()), [1, 2, 1]);
    assert_eq!(number_of(&results.taken()), 2);
    assert_eq!([(); 3].map(|()| results.number()), [3, 1, 0]);
    assert_eq!(results.taken(), Taken::None);
    // It may have been cancelled before it was sent.
    until(|| peer.given_up() == peer.seen().iter().filter(|asked| asked.ends_with("/hang")).count()).await;
}

#[tokio::test]
async fn what_a_request_leaves_ends_with_it_and_its_instance_goes_on() {
    for isolation in [Isolation::Request, Isolation::Shared] {
        let (runtime, peer, url, _folder) = calling(small(), isolation).await;
        let [hang, echo] = ["/hang", "/echo"].map(|path| format!("{url}{path}"));
        let mut leaving = Script::default();
        leaving.start(&Call::get(&hang)).start(&Call::get(&echo)).wait(NO_LIMIT).log(0, "whole\nhalf").log(1, "error");
        let mut looking = Script::default();
        looking.wait(0).take().start(&Call::get(&echo)).wait(NO_LIMIT).take().log(1, "other\n");
        let (mut before, mut left) = (None, 0);
        // Until one instance has served ten: other tests take its place away at times.
        while before != Some(created(&runtime, "c")) {
            before = Some(created(&runtime, "c"));
            for _ in 0..5 {
                assert_eq!(run(&runtime, &leaving).await.status, 200);
                left += 1;
                until(|| peer.given_up() == left && runtime.shared.admission.free() == 4).await;
                let given = answered(&runtime, &looking).await;
                let mut results = StepResults(&given);
                assert_eq!((results.number(), results.taken()), (0, Taken::None), "{isolation:?}");
                assert_eq!(
                    (results.number(), results.number(), number_of(&results.taken())),
                    (1, 1, 1),
                    "{isolation:?}"
                );
                until(|| runtime.shared.admission.free() == 4).await;
            }
        }
        let view = |number| runtime.transcript(number).unwrap();
        let lines = |number| {
            let view: serde_json::Value = serde_json::from_str(&view(number)).unwrap();
            let lines = view["log"]["lines"].as_array().unwrap().clone();
            lines.iter().map(|line| format!("{} {}", line["level"], line["text"])).collect::<Vec<_>>()
        };
        let last = runtime.recent_requests().last().unwrap().transcript.unwrap();
        assert_eq!(lines(last), [r#""error" "other""#]);
        assert_eq!(lines(last - 1), [r#""info" "whole""#, r#""info" "half""#, r#""error" "error""#]);
    }
}

#[tokio::test]
async fn a_request_that_waits_or_looks_for_ever_is_timed_out_with_its_calls() {
    let limits = Limits { request_timeout_ms: 100, ..small() };
    let (runtime, peer, url, _folder) = calling(limits, Isolation::Request).await;
    let hang = format!("{url}/hang");
    let call = Call::get(&hang);
    assert_eq!(run(&runtime, Script::default().start(&call).wait(NO_LIMIT)).await.status, 504);
    assert_eq!(run(&runtime, Script::default().wait(4_000_000_000)).await.status, 504);
    // One that never lets others run: a call has ended all the while, or it does not wait for any.
    for (call, timeout) in [(Call::get(""), NO_LIMIT), (call, 0), (call, 1)] {
        assert_eq!(run(&runtime, Script::default().start(&call).spin(timeout)).await.status, 504);
    }
    assert_eq!(run(&runtime, Script::default().start(&call).trap()).await.status, 500);
    until(|| peer.given_up() == peer.seen().len()).await;
}

#[tokio::test]
async fn a_sidecar_at_a_socket_sees_transactions_end_and_recordings_have_the_calls() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("db.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let peer = Peer::new();
    let served = Arc::clone(&peer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(Arc::clone(&served).serve(stream));
        }
    });
    let (runtime, _folder) = runtime_of(&format!("unix://{}", socket.display()), small(), Isolation::Request).await;
    let begin = Call { method: "POST", body: Some(b"{}"), ..Call::get("http://db.sidecar.internal/sql/transaction") };
    let given = answered(&runtime, Script::default().start(&begin).wait(NO_LIMIT).take()).await;
    let mut results = StepResults(&given);
    assert_eq!((results.number(), results.number()), (1, 1));
    assert!(matches!(results.taken(), Taken::Response { status: 201, .. }));
    until(|| peer.seen() == ["POST /sql/transaction", "DELETE /sql/transaction"]).await;
    let metrics = runtime.metrics();
    let line = r#"tenon_sidecar_calls_total{module="c",sidecar="db",outcome="ok"} 1"#;
    assert!(metrics.contains(line), "{metrics}");
    let last = runtime.recent_requests().last().unwrap().transcript.unwrap();
    let view: serde_json::Value = serde_json::from_str(&runtime.transcript(last).unwrap()).unwrap();
    let call = &view["calls"]["list"][0];
    assert_eq!(
        (&call["name"], &call["method"], &call["status"]),
        (&"db".into(), &"POST".into(), &201.into()),
        "{view}"
    );
    assert_eq!(call["body"]["text"], "{}");
}

#[tokio::test]
async fn arguments_at_random_fail_in_the_guest_alone() {
    let limits =
        Limits { max_hostcall_bytes: 64 * 1024, outbound_timeout_ms: 1_000, breaker_failures: 1_000, ..small() };
    let (runtime, _peer, url, _folder) = calling(limits, Isolation::Request).await;
    let (mut numbers, mut statuses) = (Numbers::new(9), HashSet::new());
    let echo = format!("{url}/echo");
    for _ in 0..300 {
        let below = |numbers: &mut Numbers, bound| u32::try_from(numbers.below(bound)).unwrap();
        // Text of the script, and numbers that fit; some are any.
        let mut arguments = [1_024, 8, 1_024, 40, 1_024, 2, 2, 1_024, 200, 60, 60, 3].map(|bound| match bound {
            1_024 => 1_024 + 4 * below(&mut numbers, 2_100),
            bound => below(&mut numbers, bound),
        });
        for argument in &mut arguments {
            if numbers.one_in(20) {
                *argument = [0, 7, 9_300, u32::MAX, numbers.next_u64() as u32][below(&mut numbers, 5) as usize];
            }
        }
        let cancelled = below(&mut numbers, 4);
        let mut script = Script::default();
        script.start(&Call::get(&echo)).start_raw(arguments).wait(0).cancel(cancelled).take().wait(20_000).take();
        let answer = run(&runtime, &script).await;
        statuses.insert(answer.status.as_u16());
    }
    assert_eq!(statuses, HashSet::from([200, 500]));
    let given = answered(&runtime, Script::default().start(&Call::get(&echo)).wait(NO_LIMIT).take()).await;
    let mut results = StepResults(&given);
    assert_eq!((results.number(), results.number(), number_of(&results.taken())), (1, 1, 1));
}
