use std::time::Duration;

use http::StatusCode;
use http_body_util::{BodyExt, Full};
use tempfile::TempDir;
use tenon_fixtures as fixtures;

use super::*;
use crate::config::ModuleSource;

/// A runtime of the given components; the folder holds their files.
async fn runtime(components: &[(&str, Vec<u8>)], limits: Limits) -> Result<(Runtime, TempDir), RuntimeError> {
    let folder = tempfile::tempdir().unwrap();
    let mut modules = Vec::new();
    for (file, bytes) in components {
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        modules.push(ModuleSource::from_path(path).unwrap());
    }
    let config = RuntimeConfig { modules, limits, ..RuntimeConfig::default() };
    Ok((Runtime::new(config).await?, folder))
}

/// Few places, so that the pool of each test is small; the same for all, so that they share one engine.
fn small() -> Limits {
    Limits { max_concurrent: 4, ..Limits::default() }
}

fn composed(handler: &[u8]) -> Vec<u8> {
    tenon_compose::compose(handler, tenon_compose::BRIDGE).unwrap()
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
}

async fn send(runtime: &Runtime, request: Request<Full<Bytes>>) -> Answer {
    let (parts, body) = runtime.handle(request).await.into_parts();
    Answer { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}

fn request(method: &str, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::builder().method(method).uri(path).header("host", "example.test").body(Full::new(body.into())).unwrap()
}

async fn get(runtime: &Runtime, path: &str) -> Answer {
    send(runtime, request("GET", path, "")).await
}

#[tokio::test]
async fn a_bare_and_a_composed_handler_answer_alike() {
    let echo = fixtures::echo(200);
    let (runtime, _folder) =
        runtime(&[("bare.wasm", echo.clone()), ("other-composed.wasm", composed(&echo))], small()).await.unwrap();
    assert_eq!(runtime.modules(), ["bare", "other"]);
    for size in [0, 1, 4095, 4096, 4097, 1 << 20, 10 << 20] {
        let body = Bytes::from_iter((0..size).map(|i: usize| (i * 31) as u8));
        for module in ["bare", "other"] {
            let answer = send(&runtime, request("POST", &format!("/run/{module}/x"), body.clone())).await;
            assert_eq!(answer.status, 200, "{module}, {size} bytes");
            assert!(answer.body == body, "{module}, {size} bytes: {} came back", answer.body.len());
            assert_eq!(answer.headers["content-length"], size.to_string().as_str());
        }
    }
}

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
async fn path_query_and_headers_arrive_untouched() {
    let reflect = fixtures::reflect();
    let (runtime, _folder) =
        runtime(&[("bare.wasm", reflect.clone()), ("full.wasm", composed(&reflect))], small()).await.unwrap();
    for path in ["/", "/a%2Fb%3Fc/+%C3%A9?x=%26+%3D&x=2", "//x/./../y?", "/?&&=%zz"] {
        // The fixture answers the headers it was given, among them `host`, which a response must not have.
        for module in ["bare", "full"] {
            let answer = get(&runtime, &format!("/run/{module}{path}")).await;
            assert_eq!(answer.status, 502, "{module}{path}");
            assert!(String::from_utf8_lossy(&answer.body).contains("header that is not allowed"));
        }
    }
}

#[tokio::test]
async fn a_trap_is_500_for_that_request_alone() {
    let trap = fixtures::trap();
    let (runtime, _folder) =
        runtime(&[("bare.wasm", trap.clone()), ("full.wasm", composed(&trap))], small()).await.unwrap();
    for module in ["bare", "full"] {
        for _ in 0..3 {
            assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, 204, "a fresh instance each time");
            let answer = get(&runtime, &format!("/run/{module}/trap")).await;
            assert_eq!(answer.status, 500);
            assert_eq!(answer.headers["content-type"], "application/problem+json");
            assert_eq!(
                answer.body,
                r#"{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"the module failed on this request"}"#
            );
        }
    }
}

#[tokio::test]
async fn a_status_that_http_does_not_have_is_502() {
    let (runtime, _folder) = runtime(
        &[
            ("low.wasm", fixtures::echo(42)),
            ("high.wasm", composed(&fixtures::echo(600))),
            ("one.wasm", fixtures::echo(101)),
        ],
        small(),
    )
    .await
    .unwrap();
    for module in ["low", "high", "one"] {
        let answer = get(&runtime, &format!("/run/{module}/")).await;
        assert_eq!(answer.status, 502, "{module}");
        assert_eq!(answer.headers["content-type"], "application/problem+json");
    }
}

#[tokio::test]
async fn a_guest_that_never_returns_is_504_and_leaves_its_place() {
    let limits = Limits { request_timeout: Duration::from_millis(100), ..small() };
    let spin = fixtures::spin();
    let (runtime, _folder) = runtime(
        &[("bare.wasm", spin.clone()), ("full.wasm", composed(&spin)), ("echo.wasm", fixtures::echo(200))],
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
    let all = tokio::time::timeout(Duration::from_secs(10), runtime.shared.places.acquire_many(4)).await;
    assert!(all.is_ok(), "{} of 4 places came back", runtime.shared.places.available_permits());
}

#[tokio::test]
async fn a_request_that_finds_no_place_is_503() {
    let limits = Limits { queue_timeout: Duration::from_millis(20), ..small() };
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], limits).await.unwrap();
    let taken = Arc::clone(&runtime.shared.places).acquire_many_owned(4).await.unwrap();
    let answer = get(&runtime, "/run/echo/").await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["retry-after"], "1");
    drop(taken);
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
}

#[tokio::test]
async fn the_runtimes_own_paths() {
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], small()).await.unwrap();
    let health = get(&runtime, "/health").await;
    assert_eq!(health.status, 200);
    assert_eq!(health.headers["content-type"], "application/json");
    let text = String::from_utf8(health.body.to_vec()).unwrap();
    assert!(text.starts_with(r#"{"status":"ok","version":"0.1.0","uptime_s":"#), "{text}");
    assert!(text.ends_with(r#","modules":{"echo":"ready"}}"#), "{text}");

    assert_eq!(send(&runtime, request("POST", "/health", "")).await.headers["allow"], "GET, HEAD");
    assert_eq!(get(&runtime, "/run/nobody/").await.status, 404);
    assert_eq!(get(&runtime, "/").await.status, 404);

    let mut nowhere = request("GET", "/run/echo/", "");
    nowhere.headers_mut().remove("host");
    assert_eq!(send(&runtime, nowhere).await.status, 400);
    let mut twice = request("GET", "/run/echo/", "");
    twice.headers_mut().append("host", "other.test".parse().unwrap());
    assert_eq!(send(&runtime, twice).await.status, 400);

    let mut named = request("GET", "/run/echo/", "");
    named.headers_mut().insert("x-request-id", "mine".parse().unwrap());
    assert_eq!(send(&runtime, named).await.headers["x-request-id"], "mine");
    assert_eq!(get(&runtime, "/run/echo/").await.headers["x-request-id"].len(), 32);
}

#[tokio::test]
async fn modules_that_cannot_be_served_are_named() {
    let error = |components: Vec<(&'static str, Vec<u8>)>| async move {
        runtime(&components, small()).await.map(drop).unwrap_err()
    };
    let unknown = error(vec![("shop.wasm", fixtures::stranger())]).await;
    assert_eq!(unknown.code(), "MODULE_LINK");
    assert_eq!(
        unknown.to_string(),
        "module shop: it exports neither sdk:core/handler nor wasi:http/incoming-handler, but acme:shop/basket@1.0.0"
    );
    let garbage = error(vec![("bad.wasm", b"not wasm".to_vec())]).await;
    assert_eq!(garbage.code(), "MODULE_COMPILE");
    let twice = error(vec![("a.wasm", fixtures::echo(200)), ("a-composed.wasm", fixtures::echo(200))]).await;
    assert_eq!(twice.to_string(), "two modules are called a; rename one of the files");
    let modules = vec![ModuleSource::from_path("nowhere/gone.wasm").unwrap()];
    let gone = Runtime::new(RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() }).await;
    assert_eq!(gone.map(drop).unwrap_err().code(), "MODULE_READ");
}
