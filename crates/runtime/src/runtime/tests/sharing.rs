//! Modules that differ in their memory only, and so share their code.

use super::*;

/// A runtime of modules by name: the pages and the byte with which their memories start.
async fn snapshots(modules: &[(&str, u32, u8)], limits: Limits) -> Result<(Runtime, TempDir), RuntimeError> {
    let files: Vec<_> = modules.iter().map(|(name, _, _)| format!("{name}.wasm")).collect();
    let modules =
        files.iter().zip(modules).map(|(file, (_, pages, byte))| (&**file, fixtures::snapshot(*pages, *byte)));
    runtime(&modules.collect::<Vec<_>>(), limits).await
}

/// The addresses of the modules' code.
fn codes(runtime: &Runtime) -> Vec<usize> {
    let modules = runtime.shared.registry.ready();
    modules.iter().map(|module| module.entry.component().image_range().start.addr()).collect()
}

#[tokio::test]
async fn each_module_finds_its_own_memory_in_shared_code() {
    let (runtime, folder) = snapshots(&[("a", 2, 1)], small()).await.unwrap();
    for (name, pages, byte) in [("b", 4, 2), ("c", 9, 3)] {
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, fixtures::snapshot(pages, byte)).unwrap();
        runtime.reload(name, Some(path)).await.unwrap();
    }
    let codes = codes(&runtime);
    assert!(codes.iter().all(|code| *code == codes[0]), "{codes:?}");
    for _ in 0..4 {
        for (name, status) in [("a", 221), ("b", 242), ("c", 293), ("b", 242)] {
            assert_eq!(get(&runtime, &format!("/run/{name}/")).await.status, status, "{name}");
        }
    }
    // A module that goes leaves the others theirs.
    let b = ModuleSource::from_path(folder.path().join("b.wasm")).unwrap();
    runtime.shared.registry.update(vec![b]).await.unwrap();
    assert_eq!(get(&runtime, "/run/b/").await.status, 242);
    assert_eq!(get(&runtime, "/run/a/").await.status, 404);
}

#[tokio::test]
async fn a_module_that_idles_leaves_the_others_their_code() {
    let limits = Limits { idle_timeout_ms: 20, ..small() };
    let modules = [("a.wasm", fixtures::snapshot(2, 1)), ("b.wasm", fixtures::snapshot(4, 2))];
    let (first, folder) = runtime(&modules, limits.clone()).await.unwrap();
    drop(first);
    // Mapped from a file, so that it is released.
    let sources = ["a.wasm", "b.wasm"].map(|file| ModuleSource::from_path(folder.path().join(file)).unwrap());
    let config = RuntimeConfig {
        modules: sources.to_vec(),
        limits,
        cache: Some(folder.path().join("code")),
        ..RuntimeConfig::default()
    };
    let runtime = Runtime::new(config).await.unwrap();
    for _ in 0..10 {
        // `b` idles meanwhile.
        let called = tokio::time::Instant::now();
        while called.elapsed() < Duration::from_millis(50) {
            assert_eq!(get(&runtime, "/run/a/").await.status, 221);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(get(&runtime, "/run/b/").await.status, 242);
        // Both idle.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn memory_is_bounded_by_its_true_size() {
    // Two megabytes are 32 pages.
    let limits = Limits { memory_limit_bytes: 2 << 20, max_concurrent: 4, ..Limits::default() };
    let (runtime, folder) = snapshots(&[("small", 2, 1)], limits).await.unwrap();
    let load = async |name: &str, pages| {
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, fixtures::snapshot(pages, 1)).unwrap();
        runtime.reload(name, Some(path)).await
    };
    load("large", 30).await.unwrap();
    for (name, grown, status) in [("small", 30, 221), ("small", 31, 500), ("large", 2, 501), ("large", 3, 500)] {
        let answer = get(&runtime, &format!("/run/{name}/{}", "x".repeat(grown))).await;
        assert_eq!(answer.status, status, "{name} {grown}");
    }
    let beyond = load("beyond", 33).await.unwrap_err().to_string();
    assert!(beyond.contains("it needs 2162688 bytes of memory; 2097152 are allowed"), "{beyond}");
}
