//! Compiling in a process of its own, by the program that embedders in Rust get.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use tempfile::TempDir;
use tenon_fixtures as fixtures;
use tenon_runtime::{Limits, ModuleSource, Runtime, RuntimeConfig, RuntimeError};

async fn runtime(folder: &TempDir, component: &[u8], limits: Limits) -> Result<Runtime, RuntimeError> {
    let path = folder.path().join("module.wasm");
    std::fs::write(&path, component).unwrap();
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let compiler = vec![OsString::from(env!("CARGO_BIN_EXE_tenon-compile"))];
    let cache = Some(folder.path().join("code"));
    Runtime::new(RuntimeConfig { modules, limits, compiler, cache, ..RuntimeConfig::default() }).await
}

async fn status(runtime: &Runtime) -> StatusCode {
    let request = Request::get("/run/module/").header("host", "x").body(Full::new(Bytes::new())).unwrap();
    runtime.handle(request).await.status()
}

async fn failure(component: &[u8], limits: Limits) -> String {
    let folder = tempfile::tempdir().unwrap();
    runtime(&folder, component, limits).await.map(drop).unwrap_err().to_string()
}

#[tokio::test]
async fn a_component_is_compiled_elsewhere_and_served_here() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { max_concurrent: 4, ..Limits::default() };
    // Code that takes a state, code that does not, and code for the engine of services, from the compiler and from the cache.
    let bridged = fixtures::bridged(&fixtures::echo(201));
    for (component, expected) in [(fixtures::echo(201), 201), (bridged, 201), (fixtures::service(), 200)] {
        for _ in 0..2 {
            let runtime = runtime(&folder, &component, limits.clone()).await.unwrap();
            assert_eq!(status(&runtime).await, expected);
        }
    }
}

#[tokio::test]
async fn an_invalid_component_is_refused_with_the_compilers_words() {
    let module = "(component (core module (func (global.set 7 (i32.const 1)))))";
    let said = failure(module.as_bytes(), Limits::default()).await;
    assert!(said.contains("it is not WebAssembly"), "{said}");
    let bytes = b"\0asm\x0d\0\x01\0\x07\x02\x01\x72";
    let said = failure(bytes, Limits::default()).await;
    assert!(said.contains("offset 0x"), "{said}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn compiling_stays_within_its_memory() {
    let limits = Limits { compile_memory_bytes: 64 << 20, ..Limits::default() };
    let said = failure(&fixtures::laborious(60_000), limits).await;
    assert!(said.ends_with("takes more than 67108864 bytes of memory, which is compile_memory_bytes"), "{said}");
}

#[tokio::test]
async fn compiling_stays_within_its_time() {
    let limits = Limits { load_timeout_ms: 50, ..Limits::default() };
    let said = failure(&fixtures::laborious(60_000), limits).await;
    assert_eq!(said, "module module: compiling it takes longer than 50 ms, which is load_timeout_ms");
}

#[tokio::test]
async fn a_program_that_is_no_compiler_is_named_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo.wasm");
    std::fs::write(&path, fixtures::echo(200)).unwrap();
    for (program, expected) in [("/nowhere/compiler", "cannot be started"), ("true", "ended without code")] {
        let modules = vec![ModuleSource::from_path(&path).unwrap()];
        let config = RuntimeConfig { modules, compiler: vec![program.into()], ..RuntimeConfig::default() };
        let said = Runtime::new(config).await.map(drop).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
}
