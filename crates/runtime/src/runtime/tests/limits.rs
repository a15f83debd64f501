//! Requests that exceed a limit.

use super::*;

#[tokio::test]
async fn a_body_beyond_the_limit_is_413() {
    let limits = Limits { max_body_bytes: 1000, ..small() };
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], limits).await.unwrap();
    assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![1; 1000])).await.status, 200);
    let answer = send(&runtime, request("POST", "/run/echo/", vec![1; 1001])).await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.headers["content-type"], "application/problem+json");

    let mut declared = request("POST", "/run/echo/", "");
    declared.headers_mut().insert("content-length", "99999999999999".parse().unwrap());
    assert_eq!(send(&runtime, declared).await.status, 413);
}

#[tokio::test]
async fn a_guest_that_never_returns_is_504_and_leaves_its_place() {
    let limits = Limits { request_timeout_ms: 250, ..small() };
    let spin = fixtures::spin();
    let (runtime, _folder) = runtime(
        &[("bare.wasm", spin.clone()), ("full.wasm", bridged(&spin)), ("echo.wasm", fixtures::echo(200))],
        limits,
    )
    .await
    .unwrap();
    for _ in 0..6 {
        for module in ["bare", "full"] {
            assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, 504, "{module}");
        }
    }
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    // A guest behind streams is ended by another task, so its place comes back a moment later.
    until(|| runtime.shared.admission.free() == 4).await;
}

#[tokio::test]
async fn a_request_that_finds_no_place_is_503() {
    let limits = Limits { queue_timeout_ms: 20, ..small() };
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], limits).await.unwrap();
    let taken = runtime.shared.admission.occupy(4);
    let answer = get(&runtime, "/run/echo/").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    drop(taken);
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
}

#[tokio::test]
async fn heads_beyond_the_limits_are_414_and_431() {
    let limits = Limits { max_url_bytes: 32, max_headers: 3, max_header_bytes: 256, ..small() };
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], limits).await.unwrap();
    assert_eq!(get(&runtime, &format!("/run/echo/{}", "x".repeat(22))).await.status, 200);
    assert_eq!(get(&runtime, &format!("/run/echo/{}", "x".repeat(23))).await.status, 414);
    let with = |names: &[&'static str], value: &str| {
        let mut request = request("GET", "/run/echo/", "");
        for name in names {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        request
    };
    assert_eq!(send(&runtime, with(&["a", "b"], "1")).await.status, 200);
    assert_eq!(send(&runtime, with(&["a", "b", "b"], "1")).await.status, 431);
    assert_eq!(send(&runtime, with(&["a"], &"1".repeat(300))).await.status, 431);
}

#[tokio::test]
async fn a_busy_module_keeps_no_other_out() {
    let limits = Limits { max_concurrent_per_module: 2, queue_timeout_ms: 50, request_timeout_ms: 5_000, ..small() };
    let modules = [("spin.wasm", fixtures::spin()), ("echo.wasm", fixtures::echo(200))];
    let (runtime, _folder) = runtime(&modules, limits).await.unwrap();
    let busy: Vec<_> = (0..2)
        .map(|_| {
            let runtime = runtime.clone();
            tokio::spawn(async move { get(&runtime, "/run/spin/").await.status })
        })
        .collect();
    until(|| runtime.shared.admission.free() == 2).await;
    assert_eq!(get(&runtime, "/run/spin/").await.status, 503);
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    for each in busy {
        each.abort();
    }
    until(|| runtime.shared.admission.free() == 4).await;
}

#[tokio::test]
async fn a_full_queue_is_503_at_once() {
    let limits = Limits { max_queued: 0, queue_timeout_ms: 60_000, ..small() };
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], limits).await.unwrap();
    let taken = runtime.shared.admission.occupy(4);
    let answer = get(&runtime, "/run/echo/").await;
    assert_eq!((answer.status.as_u16(), answer.headers["retry-after"].to_str().unwrap()), (503, "1"));
    drop(taken);
}

#[tokio::test]
async fn memory_and_tables_are_bounded() {
    let limits = Limits { memory_limit_bytes: 2 << 20, max_table_elements: 100, ..small() };
    let modules =
        [("hungry.wasm", fixtures::hungry()), ("wide.wasm", fixtures::wide()), ("echo.wasm", fixtures::echo(200))];
    let (runtime, _folder) = runtime(&modules, limits).await.unwrap();
    for _ in 0..5 {
        assert_eq!(get(&runtime, "/run/hungry/").await.status, 500);
        assert_eq!(get(&runtime, "/run/wide/").await.status, 500);
        assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    }
    // A body that does not fit the instance is the instance's end, and no other's.
    assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![1; 4 << 20])).await.status, 500);
}

#[tokio::test]
async fn a_response_beyond_the_limit_is_502_or_breaks_off() {
    let limits = Limits { max_response_bytes: 1000, ..small() };
    let echo = fixtures::echo(200);
    let (runtime, _folder) =
        runtime(&[("bare.wasm", echo.clone()), ("full.wasm", bridged(&echo))], limits).await.unwrap();
    for module in ["bare", "full"] {
        assert_eq!(send(&runtime, request("POST", &format!("/run/{module}/"), vec![1; 1000])).await.status, 200);
    }
    assert_eq!(send(&runtime, request("POST", "/run/bare/", vec![1; 1001])).await.status, 502);
    let streamed = runtime.handle(request("POST", "/run/full/", vec![1; 1001])).await;
    assert!(streamed.into_body().collect().await.is_err());
}

#[tokio::test]
async fn what_a_guest_hands_to_the_host_is_bounded() {
    let limits = Limits { max_hostcall_bytes: 64 * 1024, ..small() };
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], limits).await.unwrap();
    assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![1; 1000])).await.status, 200);
    assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![1; 100_000])).await.status, 500);
}
