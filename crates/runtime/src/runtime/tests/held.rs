//! The bytes that the host holds for one request have one sum. Each guest here stays inside every limit of a single thing,
//! and holds as many things as it can.

use std::sync::atomic::Ordering;

use tenon_fixtures::random::Numbers;

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
    let recorded = runtime.recent_requests().last().and_then(|last| runtime.recorded_request(last.recording?));
    recorded.unwrap_or_default()
}

#[tokio::test]
async fn a_guest_that_hoards_inside_every_single_limit_runs_into_the_sum() {
    let append = |value: u32| {
        format!(
            "(call $append (local.get $made) (global.get $text) (i32.const 9) (global.get $text) (i32.const {value}) \
             (global.get $out))"
        )
    };
    let fields = "(local.set $made (call $fields))";
    let request = "(local.set $made (call $request (call $fields)))";
    let write = "(call $stream (call $handle-of) (global.get $out))
         (call $write (call $handle-of) (global.get $text) (i32.const 60000) (global.get $out))";
    let hoards = [
        ("empty fields", "(drop (call $fields))".to_string()),
        ("fields of one header", format!("{fields} {}", append(9))),
        ("fields of a large header", format!("{fields} {}", append(60_000))),
        (
            "headers without a value",
            format!(
                "(if (i32.eqz (local.get $made)) (then {fields}))
             (local.set $other (i32.add (local.get $other) (i32.const 1)))
             (if (i32.gt_u (local.get $other) (i32.const 1000)) (then {fields} (local.set $other (i32.const 0)))) {}",
                append(0)
            ),
        ),
        (
            "copies",
            format!(
                "(if (i32.eqz (local.get $made)) (then {fields} {})) (drop (call $clone (local.get $made)))",
                append(9).repeat(20)
            ),
        ),
        ("lists", "(call $from-list (global.get $text) (i32.const 0) (global.get $out))".to_string()),
        ("bodies of requests", format!("{request} (call $request-body (local.get $made) (global.get $out)) {write}")),
        (
            "bodies of responses",
            format!("(call $response-body (call $response (call $fields)) (global.get $out)) {write}"),
        ),
        (
            "paths",
            format!(
                "{request} (drop (call $set-path (local.get $made) (i32.const 1) (global.get $path) (i32.const 60000)))"
            ),
        ),
        (
            "methods",
            format!(
                "{request} (drop (call $set-method (local.get $made) (i32.const 9) (global.get $text) (i32.const 60000)))"
            ),
        ),
        (
            "authorities",
            format!(
                "{request} (drop (call $set-authority (local.get $made) (i32.const 1) (global.get $text) (i32.const 200)))"
            ),
        ),
    ];
    for (what, lines) in hoards {
        let hoard = fixtures::wasi_http::hoard(&lines);
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

#[tokio::test]
async fn a_service_of_wasi_0_3_has_the_same_sum() {
    for what in ["fields", "headers", "copies", "paths", "streams", "timers"] {
        let (runtime, _folder) = runtime(&[("s.wasm", fixtures::service())], tight()).await.unwrap();
        assert_eq!(get(&runtime, &format!("/run/s/hoard/{what}")).await.status, 500, "{what}");
        let peak = peak(&runtime, "s");
        assert!((MIB..=4 * MIB).contains(&peak), "{what}: {peak}");
    }
}

/// Guests at random: each repeats a few lines of a menu, with sizes that every single limit allows.
#[tokio::test]
async fn guests_at_random_hold_no_more_than_the_sum() {
    let mut numbers = Numbers::new(39);
    for round in 0..40 {
        let lines: Vec<_> = (0..1 + numbers.below(5)).map(|_| line(&mut numbers)).collect();
        let text = format!(
            "(local.set $other (i32.add (local.get $other) (i32.const 1)))
             (if (i32.gt_u (local.get $other) (i32.const {})) (then
               (drop (call $answer-with (local.get $place) (i32.const 204))) (return)))
             {}",
            1 + numbers.below(400),
            lines.join("\n")
        );
        let guest = fixtures::wasi_http::hoard(&format!(
            "(if (i32.eqz (local.get $made)) (then (local.set $made (call $fields)))) {text}"
        ));
        let (runtime, _folder) = runtime(&[("guest.wasm", guest)], tight()).await.unwrap();
        let status = get(&runtime, "/run/guest/").await.status.as_u16();
        assert!([204, 500].contains(&status), "round {round}: {status}");
        assert!(peak(&runtime, "guest") <= 4 * MIB, "round {round}: {text}");
    }
}

/// A line of the menu. `$made` is a resource of headers before and after it.
fn line(numbers: &mut Numbers) -> String {
    let mut size = |most: u64| [0, 1, 9, most / 100, most][usize::try_from(numbers.below(5)).unwrap()];
    let (name, value, path) = (1 + size(1_000), size(60_000), size(60_000));
    let append = format!(
        "(call $append (local.get $made) (global.get $text) (i32.const {name}) (global.get $text) (i32.const {value}) \
         (global.get $out))"
    );
    let menu = [
        "(local.set $made (call $fields))".to_string(),
        append.clone(),
        "(local.set $made (call $clone (local.get $made)))".to_string(),
        format!("(call $drop-fields (local.get $made)) (local.set $made (call $fields)) {append}"),
        format!(
            "(drop (call $set-path (call $request (call $clone (local.get $made))) (i32.const 1) (global.get $path) \
             (i32.const {path})))"
        ),
        "(call $request-body (call $request (call $fields)) (global.get $out))
         (call $stream (call $handle-of) (global.get $out))
         (call $write (call $handle-of) (global.get $text) (i32.const 60000) (global.get $out))"
            .to_string(),
        "(call $send (call $request (call $clone (local.get $made))) (i32.const 0) (i32.const 0) (global.get $out))"
            .to_string(),
    ];
    menu[usize::try_from(numbers.below(menu.len() as u64)).unwrap()].clone()
}
