//! Fuzz target for files that are loaded as components.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use tempfile::TempDir;
use tenon_runtime::{ModuleSource, Runtime, RuntimeConfig};
use wasmparser::{Parser, Payload};
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

use crate::{small, tokio};

/// Loads bytes as a component and calls it three times: compiled without a cache, compiled into a cache, and loaded
/// from it. The outcome must be the same each time, and only the module may fail. Served bytes must have passed the
/// screen, and be in the language of guests.
pub fn loading(bytes: &[u8]) {
    let screened = tenon_screen::screen(bytes);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder for files: {error}"));
    let path = folder.path().join("any.wasm");
    std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("no file can be written: {error}"));
    let source = ModuleSource::new("any", path);
    let fresh = tokio().block_on(served(&source, None));
    for _ in 0..2 {
        let cached = tokio().block_on(served(&source, Some(&folder)));
        assert_eq!(fresh, cached, "code of the cache answers otherwise");
    }
    if fresh.is_some() {
        assert!(screened.is_ok(), "served in spite of {:?}", screened.err());
        assert!(is_valid(bytes), "what is served is not in the language of guests");
    }
}

/// Returns whether a component, or one directly inside it, is in the language of guests. Only the handler of a composed component is
/// served.
fn is_valid(bytes: &[u8]) -> bool {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        let mut config = Config::new();
        tenon_language::configure(&mut config, true);
        Engine::new(&config).unwrap_or_else(|error| panic!("no engine: {error}"))
    });
    let accepts = |bytes: &[u8]| Component::new(&ENGINE, bytes).is_ok();
    let inside = || Parser::new(0).parse_all(bytes).map_while(Result::ok);
    accepts(bytes)
        || inside().any(|payload| match payload {
            Payload::ComponentSection { unchecked_range, .. } => bytes.get(unchecked_range).is_some_and(accepts),
            _ => false,
        })
}

/// Returns the module's answer; None when it cannot be loaded. Later requests must get the same answer, in new and in
/// restored instances.
async fn served(source: &ModuleSource, cache: Option<&TempDir>) -> Option<(StatusCode, Bytes)> {
    let cache = cache.map(|folder| folder.path().join("code"));
    let config = RuntimeConfig { modules: vec![source.clone()], limits: small(), cache, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.ok()?;
    let first = answer(&runtime).await;
    // A failed instance is gone, and one that spins takes long.
    let again = if first.0.is_server_error() { 0 } else { 3 };
    for _ in 0..again {
        // Work after an answer is done now, because there is one thread.
        tokio::task::yield_now().await;
        assert_eq!(first, answer(&runtime).await, "one request left something for the next");
    }
    Some(first)
}

async fn answer(runtime: &Runtime) -> (StatusCode, Bytes) {
    let request = Request::post("/run/any/x?y=z").header("host", "x").body(Full::new(Bytes::from_static(b"body")));
    let response = runtime.handle(request.unwrap_or_default()).await;
    let status = response.status();
    // A streamed body may break off with its guest. The body of a failure has a unique request id.
    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    (status, if status.is_server_error() { Bytes::new() } else { body })
}
