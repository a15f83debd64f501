//! Recordings and their replays.

use std::path::Path;

use tenon_fixtures::calls::{Call, NO_LIMIT, Script};
use tenon_fixtures::random::{self, KEPT, Numbers, Step};
use tenon_tape::{Event, Kept, Piece, Tape, TapeFolder};
use tenon_transport::{Address, Sidecar};

use super::calls::peer::Peer;
use super::*;
use crate::config::RecordConfig;
use crate::tape::{DifferenceKind, Verdict};

/// A runtime that records everything.
async fn recording(bytes: Vec<u8>, change: impl FnOnce(&mut RuntimeConfig)) -> (Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.wasm");
    std::fs::write(&path, bytes).unwrap();
    let record = RecordConfig { share: 1.0, ..RecordConfig::new(folder.path().join("tapes")) };
    let mut config = RuntimeConfig {
        modules: vec![ModuleSource::from_path(path).unwrap()],
        limits: small(),
        record: Some(record),
        ..RuntimeConfig::default()
    };
    change(&mut config);
    (Runtime::new(config).await.unwrap(), folder)
}

/// The bytes of all recordings.
async fn files(runtime: &Runtime, folder: &Path) -> Vec<Vec<u8>> {
    until(|| runtime.shared.admission.idle().is_some()).await;
    runtime.flush().await;
    let folder = TapeFolder::open(&folder.join("tapes"), u64::MAX, None).unwrap();
    folder.files().map(|file| folder.read(&file.name).unwrap()).collect()
}

async fn tapes(runtime: &Runtime, folder: &Path) -> Vec<Tape> {
    files(runtime, folder).await.iter().map(|bytes| Tape::read(bytes).unwrap()).collect()
}

async fn verdict(runtime: &Runtime, tape: Tape) -> Verdict {
    runtime.replay("m", tape, false).await.unwrap().verdict
}

fn random_handler() -> Vec<u8> {
    let mut cores: Vec<_> = std::fs::read_dir(KEPT).unwrap().map(|entry| entry.unwrap().path()).collect();
    cores.sort();
    cores.iter().find_map(|core| random::handler(&std::fs::read(core).unwrap(), 8, 7)).unwrap()
}

fn steps(all: &[Step]) -> Vec<u8> {
    let (mut body, mut numbers) = (Vec::new(), Numbers::new(9));
    for step in all {
        step.encode(3, numbers.next_u64(), &mut body);
    }
    body
}

#[tokio::test]
async fn a_request_is_replayed_and_each_changed_value_is_found() {
    let (runtime, folder) = recording(random_handler(), |_| {}).await;
    let body = steps(&[Step::Now, Step::Random, Step::Function, Step::Date, Step::Store, Step::Globals]);
    let answer = send(&runtime, request("POST", "/run/m/x", body)).await;
    let tape = tapes(&runtime, folder.path()).await.pop().unwrap();
    assert_eq!((tape.meta.status, tape.meta.kept), (answer.status.as_u16(), Kept::Share));
    assert_eq!(tape.meta.component, runtime.component_digest("m").unwrap());
    let kinds: Vec<_> = tape.events.iter().map(Event::kind).collect();
    for kind in ["request", "monotonic time", "time", "answer"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let replayed = runtime.replay("m", tape.clone(), false).await.unwrap();
    assert_eq!((replayed.verdict, replayed.compared_memory), (Verdict::Same, true));

    let (mut found, mut only_kept) = (0, 0);
    for (at, kind) in kinds.iter().enumerate() {
        let mut changed = tape.clone();
        match &mut changed.events[at] {
            Event::Enter(request) => request.body.as_mut().unwrap()[0] ^= 1,
            Event::Leave(response) => response.status += 1,
            Event::Monotonic(now) | Event::Wall(now) => *now += 1_000,
            Event::RandomBytes(bytes) => bytes[0] ^= 1,
            Event::RandomNumber(number) => *number ^= 1,
            _ => continue,
        }
        // The guest's memory has the values that it got, as long as nothing has overwritten them.
        let Verdict::Differs(difference) = verdict(&runtime, changed).await else { panic!("{kind} is not found") };
        if difference.kind == DifferenceKind::Memory {
            assert!(difference.recorded != difference.replayed && difference.after.is_some(), "{difference:?}");
            only_kept += 1;
        }
        found += 1;
    }
    assert!(found > only_kept && only_kept > 0);
    // An event more, and one less.
    let mut shorter = tape.clone();
    shorter.events.remove(1);
    assert!(matches!(verdict(&runtime, shorter).await, Verdict::Differs(_)));
    let mut longer = tape;
    longer.events.insert(1, Event::Monotonic(5));
    assert!(matches!(verdict(&runtime, longer).await, Verdict::Differs(_)));
}

/// A module that calls a peer, with a token for it.
async fn calling(secret: &str) -> (Runtime, TempDir, String, Arc<Peer>) {
    let peer = Peer::new();
    let url = peer.listen().await;
    let (runtime, folder) = recording(fixtures::calls::calls(), |config| {
        config.sidecars = vec![Sidecar::new("db", Address::parse(&url).unwrap()).unwrap()];
        config.environment = vec![("TENON_SECRET_KEY".to_string(), secret.to_string())];
    })
    .await;
    (runtime, folder, url, peer)
}

#[tokio::test]
async fn calls_are_replayed_without_a_network() {
    let (runtime, folder, url, peer) = calling("unused").await;
    let [echo, gone] = [format!("{url}/echo?a=1"), "http://127.0.0.1:1/".to_string()];
    let mut script = Script::default();
    script.start(&Call { body: Some(b"one"), method: "POST", ..Call::get(&echo) }).start(&Call::get(&gone));
    script.wait(NO_LIMIT).take().wait(NO_LIMIT).take().wait(0).take().wait(500);
    script.start_streamed(&Call { method: "POST", ..Call::get(&echo) }, true).write(3, Some(b"two")).write(3, None);
    script.wait(NO_LIMIT).take().drain(3).log(0, "a line\n").start(&Call::get(&echo)).cancel(4);
    let answer = send(&runtime, request("POST", "/run/m/", script.body())).await;
    assert_eq!(answer.status, 200);
    drop(peer);
    let tape = tapes(&runtime, folder.path()).await.pop().unwrap();
    assert_eq!(verdict(&runtime, tape.clone()).await, Verdict::Same);
    // The same build answers the same to looser questions.
    assert_eq!(runtime.replay("m", tape.clone(), true).await.unwrap().verdict, Verdict::Same);

    // Every byte of an answer of the network matters, and so does the order.
    for at in 0..tape.events.len() {
        let mut changed = tape.clone();
        match &mut changed.events[at] {
            Event::Take(Some((_, Ok(response)))) => match &mut response.body {
                Some(body) if !body.is_empty() => body[0] ^= 1,
                _ => continue,
            },
            Event::Take(Some((_, Err(failure)))) => failure.detail.push('!'),
            Event::Read(_, Piece::Bytes(bytes)) => bytes[0] ^= 1,
            Event::Start(_, call) => call.url.push('x'),
            Event::Wait(_, has_any) => *has_any = !*has_any,
            Event::Write(_, _, Some(taken)) => *taken += 1,
            Event::Log(_, text) => text[0] ^= 1,
            Event::Cancel(call) => *call += 1,
            _ => continue,
        }
        let Verdict::Differs(difference) = verdict(&runtime, changed.clone()).await else {
            panic!("{:?} is not found", changed.events[at]);
        };
        assert!(difference.event >= at, "{difference:?}");
        if matches!(tape.events[at], Event::Start(..) | Event::Log(..)) {
            let last = tape.events[..at].iter().rev().find_map(|event| match event {
                Event::Start(_, tenon_tape::Call { method, url, .. }) => Some(format!("{method} {url}")),
                Event::Log(_, text) => Some(format!("log {}", String::from_utf8_lossy(text).trim_end())),
                _ => None,
            });
            assert_eq!(difference.after, last, "{difference:?}");
        }
    }
    // Another build does less, or writes another line.
    let against = async |change: &dyn Fn(&mut Tape)| {
        let mut changed = tape.clone();
        change(&mut changed);
        runtime.replay("m", changed, true).await.unwrap()
    };
    let last = tape.events.len() - 1;
    let changed = [
        against(&|tape| tape.events.insert(last, Event::Start(9, tenon_tape::Call::default()))).await,
        against(&|tape| tape.events.insert(last, Event::Take(Some((4, Ok(tenon_tape::Response::default())))))).await,
        against(&|tape| tape.events.retain(|event| !matches!(event, Event::Log(..)))).await,
    ];
    for (replayed, part) in changed.into_iter().zip(["call 9", "result of call 4", "log line 1"]) {
        let Verdict::Changed(found) = replayed.verdict else { panic!("{part} is not found") };
        assert_eq!(found.iter().map(|change| change.part.as_str()).collect::<Vec<_>>(), [part]);
        let log: Vec<_> = replayed.log.into_iter().flatten().map(|line| line.text).collect();
        assert_eq!(log, ["a line"]);
    }
    let mut asks = tape;
    for event in &mut asks.events {
        if let Event::Start(_, call) = event {
            call.url.push('x');
        }
    }
    let Verdict::Asks(asked) = runtime.replay("m", asks, true).await.unwrap().verdict else { panic!("it asks") };
    assert!(asked.replayed.starts_with("call POST http") && asked.kind == DifferenceKind::New, "{asked:?}");
    assert_eq!(asked.after, None);
}

#[tokio::test]
async fn streamed_answers_traps_and_time_outs_are_replayed() {
    let (runtime, folder) = recording(fixtures::streams(), |_| {}).await;
    for path in ["p5", "f3", "b2", "t1", "e0"] {
        let response = runtime.handle(request("GET", &format!("/run/m/{path}"), "")).await;
        let _ = response.into_body().collect().await;
    }
    let all = tapes(&runtime, folder.path()).await;
    assert_eq!(all.len(), 5);
    for tape in all {
        assert_eq!(verdict(&runtime, tape.clone()).await, Verdict::Same, "{tape:?}");
        assert_eq!(runtime.replay("m", tape.clone(), true).await.unwrap().verdict, Verdict::Same, "{tape:?}");
        // The same body in other pieces is the same to another build, and another byte is not.
        let mut joined = tape;
        let pieces = joined.events.iter_mut().filter_map(|event| match event {
            Event::Leave(response) => response.body.as_mut(),
            _ => None,
        });
        let mut pieces: Vec<_> = pieces.collect();
        if let [first, second, ..] = &mut pieces[..] {
            first.append(second);
            assert_eq!(runtime.replay("m", joined.clone(), true).await.unwrap().verdict, Verdict::Same);
            assert!(matches!(verdict(&runtime, joined.clone()).await, Verdict::Differs(_)));
            let bodies = joined.events.iter_mut().filter_map(|event| match event {
                Event::Leave(response) => response.body.as_mut(),
                _ => None,
            });
            bodies.into_iter().next().unwrap()[0] ^= 1;
            let changed = runtime.replay("m", joined, true).await.unwrap().verdict;
            assert!(matches!(changed, Verdict::Changed(_)), "{changed:?}");
        }
    }

    let limits = Limits { request_timeout_ms: 100, ..small() };
    let (runtime, folder) = recording(fixtures::spin(), |config| config.limits = limits).await;
    assert_eq!(get(&runtime, "/run/m/").await.status, 504);
    let tape = tapes(&runtime, folder.path()).await.pop().unwrap();
    assert!(tape.meta.is_cut && tape.meta.status == 504);
    assert_eq!(verdict(&runtime, tape.clone()).await, Verdict::Same);
    assert_eq!(runtime.replay("m", tape, true).await.unwrap().verdict, Verdict::Same);

    let (runtime, folder) = recording(fixtures::trap(), |config| {
        // Failures alone.
        let record = config.record.as_mut().unwrap();
        (record.share, record.failures) = (0.0, true);
    })
    .await;
    assert_eq!(get(&runtime, "/run/m/trap").await.status, 500);
    let tape = tapes(&runtime, folder.path()).await.pop().unwrap();
    assert_eq!((tape.meta.kept, tape.meta.status), (Kept::Failed, 500));
    assert_eq!(verdict(&runtime, tape).await, Verdict::Same);
}

#[tokio::test]
async fn a_recording_that_needs_more_memory_than_is_allowed_is_refused() {
    let grows = fixtures::handler(
        "(if (i32.eq (memory.grow (i32.const 40)) (i32.const -1)) (then unreachable))
         (i32.store16 (i32.const 16) (i32.const 204))
         (i32.store (i32.const 20) (i32.const 4))
         (i32.const 16)",
    );
    let with = |memory_limit_bytes| Limits { memory_limit_bytes, ..small() };
    let (runtime, folder) = recording(grows.clone(), |config| config.limits = with(4 << 20)).await;
    assert_eq!(get(&runtime, "/run/m/").await.status, 204);
    let tape = tapes(&runtime, folder.path()).await.pop().unwrap();
    assert_eq!(verdict(&runtime, tape.clone()).await, Verdict::Same);
    let (smaller, _folder) = recording(grows, |config| config.limits = with(1 << 20)).await;
    let refused = smaller.replay("m", tape, false).await.unwrap_err().to_string();
    let expected = "memory_limit_bytes = 1048576, which is the limit here: it was recorded with 4194304";
    assert!(refused.contains(expected), "{refused}");
}

#[tokio::test]
async fn only_what_is_asked_for_is_kept() {
    let (runtime, folder) = recording(fixtures::echo(200), |config| {
        let record = config.record.as_mut().unwrap();
        (record.share, record.failures, record.header) = (0.0, true, Some("x-record".parse().unwrap()));
        config.trusted_proxies = crate::config::TrustedProxies::parse(&["10.0.0.1"]).unwrap();
    })
    .await;
    get(&runtime, "/run/m/").await;
    let asking = || {
        let mut asking = request("GET", "/run/m/", "");
        asking.headers_mut().insert("x-record", "1".parse().unwrap());
        asking
    };
    // A client that is no trusted proxy.
    let peer = |address: &str| crate::request::origin::Peer { address: address.parse().unwrap(), secure: false };
    runtime.handle_from(peer("10.0.0.2"), asking()).await;
    assert_eq!(files(&runtime, folder.path()).await.len(), 0);
    runtime.handle_from(peer("10.0.0.1"), asking()).await;
    let all = tapes(&runtime, folder.path()).await;
    assert_eq!(all.iter().map(|tape| tape.meta.kept).collect::<Vec<_>>(), [Kept::Asked]);
}

/// No secret is in any file, in any form, and the replay is the same all the same.
#[tokio::test]
async fn nothing_secret_is_written() {
    const SECRETS: [&str; 5] = [
        "sk_live_CANARY1_4eC39Hq",
        "CANARY2-token-0123456789",
        "CANARY3-cookie-value-77",
        "4111 1111 1111 1111",
        "CANARY5 \"quoted\" text",
    ];
    let (runtime, folder, url, _peer) = calling(SECRETS[0]).await;
    drop(runtime);
    let (runtime, folder) = {
        drop(folder);
        recording(fixtures::calls::calls(), |config| {
            config.sidecars = vec![Sidecar::new("db", Address::parse(&url).unwrap()).unwrap()];
            config.environment = vec![("TENON_SECRET_KEY".to_string(), SECRETS[0].to_string())];
            config.record.as_mut().unwrap().mask = vec!["x-key".to_string(), "#/card/number".to_string()];
        })
        .await
    };
    // The guest tells its environment, and the peer retells a header.
    let mut script = Script::default();
    script.environment();
    let headers: &[(&str, &str)] = &[("authorization", SECRETS[1]), ("x-other", SECRETS[1])];
    script.start(&Call {
        method: "POST",
        headers,
        body: Some(SECRETS[1].as_bytes()),
        ..Call::get(&format!("{url}/echo"))
    });
    script.wait(NO_LIMIT).take().log(1, "CANARY2-token-0123456789\n");
    let mut sent = request("POST", "/run/m/?q=CANARY3-cookie-value-77", script.body());
    sent.headers_mut().insert("authorization", format!("Bearer {}", SECRETS[1]).parse().unwrap());
    sent.headers_mut().insert("cookie", format!("theme=dark; sid={}", SECRETS[2]).parse().unwrap());
    let answer = send(&runtime, sent).await;
    assert_eq!(answer.status, 200);
    assert!(memchr::memmem::find(&answer.body, SECRETS[0].as_bytes()).is_some(), "the guest has got the secret");
    let all = files(&runtime, folder.path()).await;
    assert_eq!(all.len(), 1);
    for secret in SECRETS {
        assert!(all.iter().all(|file| memchr::memmem::find(file, secret.as_bytes()).is_none()), "{secret}");
    }
    let tape = Tape::read(&all[0]).unwrap();
    assert!(
        ["TENON_SECRET_KEY", "authorization", "cookie"].iter().all(|name| tape
            .meta
            .masked
            .iter()
            .any(|own| own == name))
    );
    assert_eq!(verdict(&runtime, tape).await, Verdict::Same);

    // A member of a body.
    let (runtime, folder) = recording(fixtures::echo(200), |config| {
        config.record.as_mut().unwrap().mask = vec!["#/card/number".to_string(), "#/note".to_string()];
    })
    .await;
    let body = r#"{"card":{"number":"4111 1111 1111 1111"},"note":"CANARY5 \"quoted\" text","n":1}"#;
    assert_eq!(send(&runtime, request("POST", "/run/m/", body)).await.body, body);
    let all = files(&runtime, folder.path()).await;
    assert!(
        memchr::memmem::find(&all[0], b"4111 1111").is_none() && memchr::memmem::find(&all[0], b"CANARY5").is_none()
    );
    let tape = Tape::read(&all[0]).unwrap();
    let Some(Event::Leave(answer)) = tape.events.last() else { panic!("{tape:?}") };
    let masked: serde_json::Value = serde_json::from_slice(answer.body.as_ref().unwrap()).unwrap();
    assert_eq!((masked["n"].as_i64(), answer.body.as_ref().unwrap().len()), (Some(1), body.len()));
    assert_eq!(verdict(&runtime, tape).await, Verdict::Same);
    // One that says that it is JSON and is not cannot be masked, so it is not written.
    let mut broken = request("POST", "/run/m/", r#"{"card":{"number":"4111 1111 1111 1111""#);
    broken.headers_mut().insert("content-type", "application/json".parse().unwrap());
    send(&runtime, broken).await;
    assert_eq!(files(&runtime, folder.path()).await.len(), 1);
    assert_eq!(counted(&runtime).await, ["m\",reason=\"mask\"} 1", "m\"} 1"]);
    // So is one whose events are larger than a recording may be.
    send(&runtime, request("POST", "/run/m/", "x".repeat(5 << 20))).await;
    assert_eq!(files(&runtime, folder.path()).await.len(), 1);
    assert_eq!(counted(&runtime).await, ["m\",reason=\"mask\"} 1", "m\",reason=\"size\"} 1", "m\"} 1"]);
}

/// The counters of requests that are not recorded, and of recordings.
async fn counted(runtime: &Runtime) -> Vec<String> {
    let text = get(runtime, "/metrics").await.body;
    let text = String::from_utf8_lossy(text.as_ref()).into_owned();
    let of = |name: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix("_total{module=\""));
        let mut lines: Vec<_> = lines.map(str::to_string).collect();
        lines.sort();
        lines
    };
    [of("tenon_requests_not_recorded"), of("tenon_recordings")].concat()
}

/// A disk that is full, in a process of its own, whose files cannot grow beyond a limit.
#[test]
#[cfg(unix)]
fn a_full_disk_stops_recording_with_one_line() {
    let said = in_a_process_of_its_own(module_path!(), "full_disk", None);
    assert_eq!(said.matches("recording stops").count(), 1, "{said}");
}

#[tokio::test]
#[ignore = "the test above runs it in a process of its own"]
#[cfg(unix)]
async fn full_disk() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let (runtime, folder) = recording(fixtures::echo(200), |_| {}).await;
    assert_eq!(send(&runtime, request("POST", "/run/m/", "small")).await.status, 200);
    assert_eq!(tapes(&runtime, folder.path()).await.len(), 1);
    // SAFETY: the signal for a file that is too large is ignored, and the limit is one of this process, which ends with this test.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &libc::rlimit { rlim_cur: 4096, rlim_max: 4096 }), 0);
    }
    for _ in 0..10 {
        assert_eq!(send(&runtime, request("POST", "/run/m/", "large".repeat(10_000))).await.status, 200);
    }
    runtime.flush().await;
    assert_eq!(tapes(&runtime, folder.path()).await.len(), 1);
    assert_eq!(counted(&runtime).await, ["m\",reason=\"write\"} 10", "m\"} 1"]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_fails_no_request() {
    let (runtime, folder) = recording(fixtures::echo(200), |_| {}).await;
    get(&runtime, "/run/m/").await;
    assert_eq!(files(&runtime, folder.path()).await.len(), 1);
    std::fs::remove_dir_all(folder.path().join("tapes")).unwrap();
    for _ in 0..5 {
        assert_eq!(get(&runtime, "/run/m/").await.status, 200);
    }
    runtime.flush().await;
    assert!(!folder.path().join("tapes").exists());
}
