//! The bytes that one request causes in the log.

use tenon_fixtures::calls::{Call, NO_LIMIT, Script};

use super::*;
use crate::crossing::tests::{keep_log, log};

const MOST: usize = 4_096;

/// Each line has a time, a level, a module and a request besides, and counts 64 bytes at least.
const WRITTEN: usize = 5 * MOST;

fn few() -> Limits {
    Limits { max_log_bytes: MOST as u64, ..small() }
}

/// The lines about a request that a module answered with this status.
async fn lines(runtime: &Runtime, mut sent: Request<Full<Bytes>>, id: &str, status: u16) -> Vec<String> {
    keep_log();
    sent.headers_mut().insert("x-request-id", id.parse().unwrap());
    let answer = send(runtime, sent).await;
    assert_eq!(answer.status.as_u16(), status, "{:?}", answer.body);
    log().lines().filter(|line| line.contains(id)).map(ToString::to_string).collect()
}

fn written(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

#[tokio::test]
async fn calls_that_are_refused_log_within_the_sum() {
    let refused = fixtures::wasi_http::hoard(
        "(local.set $other (i32.add (local.get $other) (i32.const 1)))
         (if (i32.gt_u (local.get $other) (i32.const 2000)) (then
           (drop (call $answer-with (local.get $place) (i32.const 204))) (return)))
         (local.set $made (call $request (call $fields)))
         (drop (call $set-authority (local.get $made) (i32.const 1) (global.get $text) (i32.const 200)))
         (drop (call $set-path (local.get $made) (i32.const 1) (global.get $path) (i32.const 1)))
         (call $send (local.get $made) (i32.const 0) (i32.const 0) (global.get $out))",
    );
    let modules = [("refused.wasm", refused), ("calls.wasm", fixtures::calls::calls())];
    let (runtime, _folder) = runtime(&modules, few()).await.unwrap();
    let found = lines(&runtime, request("GET", "/run/refused/", ""), "refused-by-http", 204).await;
    assert!(found.iter().any(|line| line.contains("outbound request failed")), "{found:?}");
    assert_eq!(found.iter().filter(|line| line.contains("max_log_bytes")).count(), 1, "{found:?}");
    assert!(written(&found) <= WRITTEN, "{} bytes", written(&found));

    let mut script = Script::default();
    let url = format!("https://{}.example/", "x".repeat(60));
    for _ in 0..150 {
        script.start(&Call::get(&url));
    }
    script.wait(NO_LIMIT);
    let found = lines(&runtime, request("POST", "/run/calls/", script.body()), "refused-by-calls", 200).await;
    assert!(found.len() > 10 && written(&found) <= WRITTEN, "{} bytes", written(&found));
}

#[tokio::test]
async fn short_lines_and_a_reason_count_as_well() {
    let modules = [("calls.wasm", fixtures::calls::calls()), ("s.wasm", fixtures::service())];
    let (runtime, _folder) = runtime(&modules, few()).await.unwrap();
    let mut script = Script::default();
    script.log(0, &"\n".repeat(20_000));
    let found = lines(&runtime, request("POST", "/run/calls/", script.body()), "short-lines", 200).await;
    assert!(found.len() > 10 && found.len() <= MOST / 64 + 2, "{} lines", found.len());

    // The reason of a failure is logged in any case, but not as long as a module would have it.
    let mut script = Script::default();
    script.log(0, &"x".repeat(20_000)).trap();
    let found = lines(&runtime, request("POST", "/run/calls/", script.body()), "long-line", 500).await;
    assert!(found.iter().any(|line| line.contains("the module failed")), "{found:?}");
    let long = request("GET", &format!("/run/s/error/{}", "y".repeat(8_000)), "");
    let found = lines(&runtime, long, "long-reason", 500).await;
    assert!(found.iter().any(|line| line.contains("yyyy")), "{found:?}");
    assert!(written(&found) <= 2 * MOST, "{} bytes", written(&found));
}
