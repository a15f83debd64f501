use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderValue;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tempfile::TempDir;
use tenon_fixtures::{self as fixtures, bridged};

use super::*;
use crate::config::{Isolation, Limits, ModulePolicy, ModuleSource, RuntimeConfig};
use crate::instance::call::EntryPoint;
use crate::module::registry::State;
use crate::request::pages::Page;
use crate::response::ResponseBody;

mod budgets;
#[cfg(unix)]
mod calls;
mod deadlines;
mod exceptions;
mod fairness;
#[cfg(unix)]
mod held;
mod isolation;
mod limits;
mod loading;
#[cfg(unix)]
mod log;
#[cfg(unix)]
mod modules;
#[cfg(unix)]
mod services;
mod shared;
mod sharing;
mod streams;
#[cfg(unix)]
mod tapes;

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

struct Received {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
}

async fn send(runtime: &Runtime, request: Request<Full<Bytes>>) -> Received {
    let (parts, body) = runtime.handle(request).await.into_parts();
    Received { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}

fn request(method: &str, path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::builder().method(method).uri(path).header("host", "example.test").body(Full::new(body.into())).unwrap()
}

/// Waits for a condition that other tasks bring about.
async fn until(condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("the condition comes true");
}

/// Runs an ignored test of a module alone, with one more variable in its environment, and returns what it prints.
#[cfg(unix)]
fn in_a_process_of_its_own(module: &str, test: &str, variable: Option<(&str, &str)>) -> String {
    let name = format!("{}::{test}", module.split_once("::").unwrap().1);
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--ignored", "--nocapture"])
        .envs(variable)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    said.into_owned()
}

async fn get(runtime: &Runtime, path: &str) -> Received {
    send(runtime, request("GET", path, "")).await
}

#[tokio::test]
async fn a_handler_answers_alike_by_every_interface() {
    let echo = fixtures::echo(200);
    let composed = tenon_compose::compose(&echo, tenon_compose::BRIDGE).unwrap();
    let modules = [("bare.wasm", echo.clone()), ("full.wasm", composed), ("other-composed.wasm", bridged(&echo))];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    let direct = |name: &str| {
        let slot = runtime.shared.registry.get(name).unwrap();
        matches!(&slot.state, State::Ready(module) if matches!(module.entry, EntryPoint::Direct(_)))
    };
    assert_eq!(["bare", "full", "other"].map(direct), [true, true, false]);
    assert_eq!(runtime.modules(), ["bare", "full", "other"]);
    for size in [0, 1, 4095, 4096, 4097, 1 << 20, 10 << 20] {
        let body = Bytes::from_iter((0..size).map(|i: usize| (i * 31) as u8));
        for module in ["bare", "full", "other"] {
            let answer = send(&runtime, request("POST", &format!("/run/{module}/x"), body.clone())).await;
            assert_eq!(answer.status, 200, "{module}, {size} bytes");
            assert!(answer.body == body, "{module}, {size} bytes: {} came back", answer.body.len());
            assert_eq!(answer.headers["content-length"], size.to_string().as_str());
        }
    }
}

#[tokio::test]
async fn path_query_and_headers_arrive_untouched() {
    let reflect = fixtures::reflect();
    let (runtime, _folder) =
        runtime(&[("bare.wasm", reflect.clone()), ("full.wasm", bridged(&reflect))], small()).await.unwrap();
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
async fn a_length_that_is_none_or_not_the_bodys_is_refused() {
    let echo = fixtures::echo(200);
    let modules = [("bare.wasm", echo.clone()), ("full.wasm", bridged(&echo))];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    let lengths: [(&[&'static str], u16); 8] = [
        (&["4"], 200),
        (&["4", "4"], 200),
        (&["5"], 400),
        (&["3"], 400),
        (&["4", "5"], 400),
        (&["four"], 400),
        (&[""], 400),
        (&["99999999999999999999"], 413),
    ];
    for (lengths, status) in lengths {
        for module in ["bare", "full"] {
            let mut request = request("POST", &format!("/run/{module}/"), "body");
            for length in lengths {
                request.headers_mut().append("content-length", HeaderValue::from_static(length));
            }
            assert_eq!(send(&runtime, request).await.status.as_u16(), status, "{module}, {lengths:?}");
        }
    }
}

#[tokio::test]
async fn a_trap_is_500_for_that_request_alone() {
    let trap = fixtures::trap();
    let (runtime, _folder) =
        runtime(&[("bare.wasm", trap.clone()), ("full.wasm", bridged(&trap))], small()).await.unwrap();
    for module in ["bare", "full"] {
        for _ in 0..3 {
            assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, 204, "a fresh instance each time");
            let mut named = request("GET", &format!("/run/{module}/trap"), "");
            named.headers_mut().insert("x-request-id", "r".parse().unwrap());
            let answer = send(&runtime, named).await;
            assert_eq!(answer.status, 500);
            assert_eq!(answer.headers["content-type"], "application/problem+json");
            assert_eq!(
                answer.body,
                r#"{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"the module failed on this request","request_id":"r"}"#
            );
        }
    }
}

#[tokio::test]
async fn a_status_that_http_does_not_have_is_502() {
    let (runtime, _folder) = runtime(
        &[
            ("low.wasm", fixtures::echo(42)),
            ("high.wasm", bridged(&fixtures::echo(600))),
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
        "module shop: it exports none of sdk:core/handler, wasi:http/incoming-handler@0.2 and wasi:http/handler@0.3, but acme:shop/basket@1.0.0"
    );
    let garbage = error(vec![("bad.wasm", b"not wasm".to_vec())]).await;
    assert_eq!(garbage.code(), "MODULE_COMPILE");
    assert!(garbage.to_string().contains("it is not WebAssembly"), "{garbage}");
    let twice = error(vec![("a.wasm", fixtures::echo(200)), ("a-composed.wasm", fixtures::echo(200))]).await;
    let twice = twice.to_string();
    assert!(twice.starts_with("two modules are called a; rename one of the files "), "{twice}");
    assert!(twice.contains("a.wasm and ") && twice.ends_with("a-composed.wasm"), "{twice}");
    let unnamed = error(vec![("my mod.wasm", fixtures::echo(200))]).await.to_string();
    assert!(unnamed.starts_with("\"my mod\" cannot be the name of a module") && unnamed.ends_with("my mod.wasm"));
    let vast = error(vec![("vast.wasm", fixtures::vast(65_536))]).await.to_string();
    assert!(vast.ends_with("it needs 4294967296 bytes of memory; 268435456 are allowed"), "{vast}");
    for name in [".", ".."] {
        let modules = vec![ModuleSource::new(name, "echo.wasm")];
        let dots = Runtime::new(RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() }).await;
        assert!(dots.map(drop).unwrap_err().to_string().contains("cannot be the name of a module"));
    }
    let modules = vec![ModuleSource::from_path("nowhere/gone.wasm").unwrap()];
    let gone = Runtime::new(RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() }).await;
    assert_eq!(gone.map(drop).unwrap_err().code(), "MODULE_READ");
}

#[tokio::test]
async fn a_module_that_cannot_be_loaded_harms_no_other() {
    let modules = [("bad.wasm", b"not wasm".to_vec()), ("echo.wasm", fixtures::echo(200))];
    let (runtime, folder) = runtime(&modules, small()).await.unwrap();
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    let bad = get(&runtime, "/run/bad/").await;
    assert_eq!(bad.status, 503);
    assert!(!String::from_utf8_lossy(&bad.body).contains("not a component"), "the reason is for the log");
    let health = String::from_utf8(get(&runtime, "/health").await.body.to_vec()).unwrap();
    assert!(health.contains(r#""status":"degraded""#), "{health}");
    assert!(health.ends_with(r#""modules":{"bad":"failed","echo":"ready"}}"#), "{health}");

    std::fs::write(folder.path().join("bad.wasm"), fixtures::echo(201)).unwrap();
    runtime.reload("bad", None).await.unwrap();
    assert_eq!(get(&runtime, "/run/bad/").await.status, 201);
}

#[tokio::test]
async fn a_module_is_replaced_while_it_serves() {
    let limits = Limits { request_timeout_ms: 300, ..small() };
    let (runtime, folder) = runtime(&[("app.wasm", fixtures::spin())], limits).await.unwrap();
    let path = folder.path().join("app.wasm");
    let old = tokio::spawn({
        let runtime = runtime.clone();
        async move { get(&runtime, "/run/app/").await.status }
    });
    until(|| runtime.shared.admission.free() == 3).await;
    std::fs::write(&path, fixtures::echo(202)).unwrap();
    runtime.reload("app", None).await.unwrap();
    assert_eq!(get(&runtime, "/run/app/").await.status, 202);
    assert_eq!(old.await.unwrap(), 504, "a request that runs finishes in the old one");

    std::fs::write(&path, "broken").unwrap();
    assert_eq!(runtime.reload("app", None).await.unwrap_err().code(), "MODULE_COMPILE");
    assert_eq!(get(&runtime, "/run/app/").await.status, 202, "the last good one goes on");

    assert_eq!(runtime.reload("new", None).await.unwrap_err().code(), "CONFIG");
    assert_eq!(runtime.reload("a/b", Some(path.clone())).await.unwrap_err().code(), "CONFIG");
    std::fs::write(&path, fixtures::echo(203)).unwrap();
    runtime.reload("new", Some(path)).await.unwrap();
    assert_eq!(runtime.modules(), ["app", "new"]);
    assert_eq!(get(&runtime, "/run/new/").await.status, 203);
}

/// Whatever its instances share: the new version has served nothing yet, and its first instance waits for a request.
#[tokio::test]
async fn a_version_that_replaces_another_is_started_before_it_takes_over() {
    for isolation in [Isolation::Request, Isolation::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.wasm");
        std::fs::write(&path, fixtures::echo(200)).unwrap();
        let modules = vec![ModuleSource::from_path(&path).unwrap()];
        // Without a free slot, no instance is made before the first request.
        let limits = Limits { max_concurrent: 31, ..small() };
        let config = RuntimeConfig { modules, isolation, limits, ..RuntimeConfig::default() };
        let runtime = Runtime::new(config).await.unwrap();
        std::fs::write(&path, fixtures::failing_start()).unwrap();
        let failed = runtime.reload("app", None).await.unwrap_err();
        assert!(failed.to_string().contains("it fails while it starts"), "{failed}");
        assert_eq!(get(&runtime, "/run/app/").await.status, 200, "the old one goes on serving");
        let made = |runtime: &Runtime| {
            let text = runtime.metrics();
            let line =
                text.lines().find_map(|line| line.strip_prefix(r#"tenon_instances_created_total{module="app"} "#));
            line.map(|count| count.parse::<u32>().unwrap()).unwrap_or_default()
        };
        let before = made(&runtime);
        std::fs::write(&path, fixtures::echo(201)).unwrap();
        runtime.reload("app", None).await.unwrap();
        assert_eq!(made(&runtime), before + 1);
        assert_eq!(get(&runtime, "/run/app/").await.status, 201);
    }
}

#[tokio::test]
async fn pages_and_build_errors_come_first() {
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], small()).await.unwrap();
    let page = Page {
        status: StatusCode::OK,
        content_type: HeaderValue::from_static("text/css"),
        body: Bytes::from_static(b"a{}"),
        unlisted: true,
    };
    runtime.set_page("/run/echo/style.css", Some(page));
    let answer = get(&runtime, "/run/echo/style.css?v=1").await;
    assert_eq!((answer.status, &answer.body[..]), (StatusCode::OK, &b"a{}"[..]));
    assert_eq!(answer.headers["content-type"], "text/css");
    assert!(runtime.recent_requests().is_empty());
    runtime.set_page("/run/echo/style.css", None);
    assert!(get(&runtime, "/run/echo/style.css").await.body.is_empty());

    let html = |path: &str| {
        let mut request = request("GET", path, "");
        request.headers_mut().insert("accept", "text/html,*/*;q=0.8".parse().unwrap());
        request
    };
    for module in ["echo", "unborn"] {
        runtime.set_build_error(module, Some(Bytes::from_static(b"<p>line 3</p>")));
        let shown = send(&runtime, html(&format!("/run/{module}/"))).await;
        assert_eq!((shown.status.as_u16(), &shown.body[..]), (500, &b"<p>line 3</p>"[..]));
    }
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200, "others get the last good module");
    let unborn = get(&runtime, "/run/unborn/").await;
    assert_eq!(unborn.status, 503);
    assert_eq!(unborn.headers["content-type"], "application/problem+json");
    runtime.set_build_error("echo", None);
    assert_eq!(send(&runtime, html("/run/echo/")).await.status, 200);
}

#[tokio::test]
async fn requests_are_counted_and_remembered() {
    let modules = [("echo.wasm", fixtures::echo(200)), ("trap.wasm", fixtures::trap())];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    for path in ["/run/echo/a?token=secret", "/run/trap/trap", "/run/nobody/", "/health"] {
        get(&runtime, path).await;
    }
    until(|| runtime.shared.admission.free() == 4).await;
    let recent = runtime.recent_requests();
    let seen: Vec<_> = recent
        .iter()
        .map(|each| (each.module.as_deref().unwrap_or("-"), each.path.as_str(), each.status.as_u16()))
        .collect();
    let expected = [
        ("echo", "/run/echo/a", 200),
        ("trap", "/run/trap/trap", 500),
        ("-", "/run/nobody/", 404),
        ("-", "/health", 200),
    ];
    assert_eq!(seen, expected);
    assert_eq!(recent[0].id.len(), 32);
    for _ in 0..300 {
        get(&runtime, "/health").await;
    }
    assert_eq!(runtime.recent_requests().len(), 200);

    let answer = get(&runtime, "/metrics").await;
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    let mut asked = request("GET", "/metrics", "");
    asked.headers_mut().insert("accept", "application/openmetrics-text".parse().unwrap());
    let open_metrics = send(&runtime, asked).await;
    assert!(open_metrics.headers["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    assert!(open_metrics.body.ends_with(b"# EOF\n"));
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    for line in [
        r#"tenon_requests_total{module="echo",method="GET",status="200"} 1"#,
        r#"tenon_requests_total{module="trap",method="GET",status="500"} 1"#,
        r#"tenon_traps_total{module="trap"} 1"#,
        r#"tenon_instances_created_total{module="echo"} 1"#,
        r#"tenon_request_duration_seconds_count{module="echo"} 1"#,
        "tenon_requests_running 0",
        "# TYPE tenon_instances gauge",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn a_request_that_is_given_up_is_noted_and_leaves_its_place() {
    let (runtime, _folder) = runtime(&[("spin.wasm", fixtures::spin())], small()).await.unwrap();
    let call = get(&runtime, "/run/spin/");
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    assert_eq!(runtime.recent_requests()[0].status.as_u16(), 499);
    // The guest runs until it yields.
    until(|| runtime.shared.admission.free() == 4).await;
}
