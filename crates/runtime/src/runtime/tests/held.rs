//! The bytes that the host holds for one request have one sum. Each guest here stays inside every limit of a single thing,
//! and holds as many things as it can.

use std::sync::atomic::Ordering;

use tenon_fixtures::random::Numbers;
use tenon_transport::{Address, Sidecar};

use super::calls::peer::Peer;
use super::*;

const MIB: u64 = 1024 * 1024;

/// A sum that is far below the product of the other limits.
fn tight() -> Limits {
    Limits { max_held_bytes: 4 * MIB, request_timeout_ms: 60_000, ..small() }
}

/// The most bytes that the host has held for a request of a module.
fn peak(runtime: &Runtime, name: &str) -> u64 {
    let slot = runtime.shared.registry.get(name).unwrap();
    let State::Ready(module) = &slot.state else { panic!("{name} is not ready") };
    module.shared_state.peak.load(Ordering::Relaxed).try_into().unwrap()
}

/// The reason that the log has for the last request.
fn reason(runtime: &Runtime) -> String {
    let recorded = runtime.recent_requests().last().and_then(|last| runtime.transcript(last.transcript?));
    recorded.unwrap_or_default()
}

#[tokio::test]
async fn a_guest_that_hoards_inside_every_single_limit_runs_into_the_sum() {
    for (what, hoard) in fixtures::wasi_http::hoards() {
        let (runtime, _folder) = runtime(&[("hoard.wasm", hoard)], tight()).await.unwrap();
        runtime.record_requests();
        assert_eq!(get(&runtime, "/run/hoard/").await.status, 500, "{what}");
        assert!(reason(&runtime).contains("max_held_bytes"), "{what}: {}", reason(&runtime));
        let peak = peak(&runtime, "hoard");
        assert!((3 * MIB..=4 * MIB).contains(&peak), "{what}: {peak}");
    }
}

#[tokio::test]
async fn bytes_that_a_guest_lets_go_are_its_again() {
    // A hundred thousand times what the sum allows, one after another.
    let lines = "(local.set $other (i32.add (local.get $other) (i32.const 1)))
         (if (i32.gt_u (local.get $other) (i32.const 20000)) (then
           (drop (call $answer-with (local.get $place) (i32.const 204))) (return)))
         (local.set $made (call $fields))
         (call $append (local.get $made) (global.get $text) (i32.const 9) (global.get $text) (i32.const 20000)
           (global.get $out))
         (call $drop-fields (local.get $made))";
    let churn = fixtures::wasi_http::hoard(lines);
    let (runtime, _folder) = runtime(&[("churn.wasm", churn)], tight()).await.unwrap();
    assert_eq!(get(&runtime, "/run/churn/").await.status, 204);
    assert!(peak(&runtime, "churn") <= 4 * MIB);
}

/// A request is no resource any more once it is sent.
#[tokio::test]
async fn calls_that_are_under_way_count_and_fail_beyond_the_sum() {
    let peer = Peer::new();
    let url = peer.listen().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hang.wasm");
    std::fs::write(&path, fixtures::wasi_http::hanging_calls(url.trim_start_matches("http://"), 60)).unwrap();
    let sidecars = vec![Sidecar::new("db", Address::parse(&url).unwrap()).unwrap()];
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let config = RuntimeConfig { modules, limits: tight(), sidecars, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    runtime.record_requests();
    assert_eq!(get(&runtime, "/run/hang/").await.status, 204, "the calls fail in the guest");
    assert!(reason(&runtime).contains("max_held_bytes"), "{}", reason(&runtime));
    let peak = peak(&runtime, "hang");
    assert!((3 * MIB..=4 * MIB).contains(&peak), "{peak}");
}

#[tokio::test]
async fn a_service_of_wasi_0_3_has_the_same_sum() {
    for what in ["fields", "headers", "copies", "paths", "streams", "timers"] {
        let (runtime, _folder) = runtime(&[("s.wasm", fixtures::service())], tight()).await.unwrap();
        assert_eq!(get(&runtime, &format!("/run/s/hoard/{what}")).await.status, 500, "{what}");
        // Tasks and streams have a quarter, which is charged from the start.
        let least = if ["streams", "timers"].contains(&what) { MIB } else { 3 * MIB };
        let peak = peak(&runtime, "s");
        assert!((least..=4 * MIB).contains(&peak), "{what}: {peak}");
    }
}

/// Guests at random: each repeats a few lines of a menu, with sizes that every single limit allows.
#[tokio::test]
async fn guests_at_random_hold_no_more_than_the_sum() {
    let mut numbers = Numbers::new(39);
    for round in 0..40 {
        let guest = fixtures::wasi_http::at_random(&mut numbers);
        let (runtime, _folder) = runtime(&[("guest.wasm", guest)], tight()).await.unwrap();
        let status = get(&runtime, "/run/guest/").await.status.as_u16();
        assert!([204, 500].contains(&status), "round {round}: {status}");
        assert!(peak(&runtime, "guest") <= 4 * MIB, "round {round}");
    }
}
