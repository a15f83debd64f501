//! Modules that take long to load, or are built to exhaust whatever loads them.

use super::*;

/// Writes components into a folder, and describes a runtime that keeps its code there.
fn config(folder: &TempDir, components: &[(&str, Vec<u8>)], limits: Limits) -> RuntimeConfig {
    let mut modules = Vec::new();
    for (file, bytes) in components {
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        modules.push(ModuleSource::from_path(path).unwrap());
    }
    RuntimeConfig { modules, limits, cache: Some(folder.path().join("code")), ..RuntimeConfig::default() }
}

async fn health(runtime: &Runtime) -> String {
    String::from_utf8(get(runtime, "/health").await.body.to_vec()).unwrap()
}

/// A program that reads nothing, answers nothing, and never ends by itself.
fn hanging() -> Vec<std::ffi::OsString> {
    ["tail", "-f", "/dev/null"].map(Into::into).to_vec()
}

#[tokio::test]
async fn a_file_of_thousands_of_nested_components_harms_no_other_module() {
    let (deep, deeper) = (fixtures::nested(20_000), fixtures::nested(100_000));
    assert!(deep.len() < 250_000);
    let modules = [("deep.wasm", deep), ("deeper.wasm", deeper.clone()), ("echo.wasm", fixtures::echo(200))];
    let (runtime, folder) = runtime(&modules, small()).await.unwrap();
    assert!(health(&runtime).await.ends_with(r#""modules":{"deep":"failed","deeper":"failed","echo":"ready"}}"#));

    std::fs::write(folder.path().join("echo.wasm"), deeper).unwrap();
    let refused = runtime.reload("echo", None).await.unwrap_err();
    assert_eq!(refused.code(), "MODULE_COMPILE");
    assert!(refused.to_string().contains("levels of nested components; at most 32 are allowed"), "{refused}");
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
}

#[tokio::test]
async fn a_module_that_takes_too_long_to_compile_has_failed_and_the_others_serve() {
    let folder = tempfile::tempdir().unwrap();
    let echo = [("echo.wasm", fixtures::echo(200))];
    drop(Runtime::new(config(&folder, &echo, small())).await.unwrap());

    // By a thread, which goes on, and by a process, which is killed.
    let both = [echo[0].clone(), ("slow.wasm", fixtures::laborious(20_000))];
    let limits = Limits { load_timeout_ms: 1, ..small() };
    for compiler in [Vec::new(), hanging()] {
        let runtime = Runtime::new(RuntimeConfig { compiler, ..config(&folder, &both, limits.clone()) }).await.unwrap();
        assert!(health(&runtime).await.ends_with(r#""modules":{"echo":"ready","slow":"failed"}}"#));
        assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
        assert_eq!(get(&runtime, "/run/slow/").await.status, 503);
    }
    let alone = RuntimeConfig { compiler: hanging(), ..config(&folder, &both[1..], limits) };
    let error = Runtime::new(alone).await.map(drop).unwrap_err();
    assert_eq!(error.code(), "MODULE_TIMEOUT");
    assert_eq!(error.to_string(), "module slow: compiling it takes longer than 1 ms, which is load_timeout_ms");
}

#[tokio::test]
async fn start_up_does_not_wait_for_the_slowest_module() {
    let folder = tempfile::tempdir().unwrap();
    let echo = [("echo.wasm", fixtures::echo(200))];
    drop(Runtime::new(config(&folder, &echo, small())).await.unwrap());

    let both = [echo[0].clone(), ("slow.wasm", fixtures::echo(201))];
    let limits = Limits { startup_timeout_ms: 0, load_timeout_ms: 5_000, ..small() };
    let starting = RuntimeConfig { compiler: hanging(), ..config(&folder, &both, limits) };
    let runtime = tokio::time::timeout(Duration::from_secs(60), Runtime::new(starting)).await;
    let runtime = runtime.expect("the start does not wait").unwrap();
    assert!(health(&runtime).await.contains(r#""status":"degraded""#));
    assert!(health(&runtime).await.ends_with(r#""modules":{"echo":"ready","slow":"loading"}}"#));
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    let slow = get(&runtime, "/run/slow/").await;
    assert_eq!((slow.status.as_u16(), &slow.headers["retry-after"]), (503, &HeaderValue::from_static("1")));

    // A module that loads late takes the place that was announced for it.
    let limits = Limits { startup_timeout_ms: 0, ..small() };
    let late = [echo[0].clone(), ("late.wasm", fixtures::laborious(2_000))];
    let runtime = Runtime::new(config(&folder, &late, limits)).await.unwrap();
    until(|| runtime.shared.registry.ready().len() == 2).await;
    assert_eq!(get(&runtime, "/run/late/").await.status, 500, "the fixture traps");
}

#[tokio::test]
async fn a_module_that_was_reloaded_meanwhile_is_not_replaced_by_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let (echo, other) = (fixtures::echo(200), folder.path().join("other.wasm"));
    std::fs::write(&other, &echo).unwrap();
    let first = [("echo.wasm", echo)];
    drop(Runtime::new(config(&folder, &first, small())).await.unwrap());

    let both = [first[0].clone(), ("slow.wasm", fixtures::echo(201))];
    let limits = Limits { startup_timeout_ms: 0, load_timeout_ms: 500, ..small() };
    let starting = RuntimeConfig { compiler: hanging(), ..config(&folder, &both, limits) };
    let runtime = Runtime::new(starting).await.unwrap();
    runtime.reload("slow", Some(other)).await.unwrap();
    // The first load fails after its time, and nobody sees it.
    let failed = runtime.reload("slow", Some(folder.path().join("slow.wasm"))).await.unwrap_err();
    assert_eq!(failed.code(), "MODULE_TIMEOUT");
    assert_eq!(get(&runtime, "/run/slow/").await.status, 200);
}

/// A pipe has no end that a reader could wait for.
#[tokio::test]
async fn a_module_that_is_no_regular_file_is_refused() {
    let modules = vec![ModuleSource::new("null", "/dev/zero")];
    let error = Runtime::new(RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() }).await;
    let error = error.map(drop).unwrap_err();
    assert_eq!(error.code(), "MODULE_READ");
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
