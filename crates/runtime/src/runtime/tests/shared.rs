//! Instances that serve one request after another.

use super::*;
use crate::config::Isolation;
use crate::instance::caller::Caller;

/// A runtime whose requests share instances.
async fn shared(components: &[(&str, Vec<u8>)], limits: Limits) -> (Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut modules = Vec::new();
    for (file, bytes) in components {
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).unwrap();
        modules.push(ModuleSource::from_path(path).unwrap());
    }
    let config = RuntimeConfig { modules, limits, isolation: Isolation::Shared, ..RuntimeConfig::default() };
    (Runtime::new(config).await.unwrap(), folder)
}

/// How often the instance that answers was called: the fixture's status is 200 and that.
async fn count(runtime: &Runtime, module: &str) -> u16 {
    get(runtime, &format!("/run/{module}/")).await.status.as_u16() - 200
}

#[tokio::test]
async fn instances_are_shared_one_request_after_another_and_replaced_in_time() {
    let limits = Limits { max_reuse: 3, ..small() };
    let counter = fixtures::count();
    let modules = [("bare.wasm", counter.clone()), ("full.wasm", bridged(&counter))];
    let (runtime, _folder) = shared(&modules, limits).await;
    assert!(runtime.metrics().contains("tenon_instances_idle 2"), "one of each is ready before the first request");
    for expected in [1, 2, 3, 1, 2, 3, 1] {
        for module in ["bare", "full"] {
            until(|| runtime.shared.admission.free() == 4).await;
            assert_eq!(count(&runtime, module).await, expected, "{module}");
        }
    }
}

#[tokio::test]
async fn an_instance_is_dropped_after_a_trap() {
    let (runtime, _folder) = shared(&[("trap.wasm", fixtures::trap())], small()).await;
    for _ in 0..3 {
        assert_eq!(get(&runtime, "/run/trap/").await.status, 204);
        assert_eq!(get(&runtime, "/run/trap/").await.status, 500, "the fixture traps on a second call");
    }
}

#[tokio::test]
async fn an_instance_that_has_grown_or_idles_is_dropped() {
    let limits = Limits { max_reuse_memory_bytes: 1 << 20, ..small() };
    let (runtime, _folder) = shared(&[("echo.wasm", fixtures::echo(200))], limits).await;
    assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![1; 2 << 20])).await.status, 200);
    assert!(runtime.metrics().contains("tenon_instances_idle 0"));

    let limits = Limits { idle_timeout_ms: 1_000, warm_instances: 0, ..small() };
    let (runtime, _folder) = shared(&[("echo.wasm", fixtures::echo(200))], limits).await;
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    assert!(runtime.metrics().contains("tenon_instances_idle 1"));
    until(|| runtime.metrics().contains("tenon_instances_idle 0")).await;
}

#[tokio::test]
async fn idle_instances_give_way_to_modules_that_need_their_slot() {
    // A unique number, so that no other test uses its slots.
    let limits = Limits { max_concurrent: 3, ..Limits::default() };
    let counter = fixtures::count();
    let names: Vec<String> = (0..8).map(|i| format!("m{i}.wasm")).collect();
    let modules: Vec<_> = names.iter().map(|name| (name.as_str(), counter.clone())).collect();
    let (runtime, _folder) = shared(&modules, limits).await;
    for round in 0..3 {
        for module in 0..8 {
            let answered = count(&runtime, &format!("m{module}")).await;
            assert!((1..=round + 2).contains(&answered));
        }
    }
    let text = runtime.metrics();
    assert!(text.contains("tenon_instances 3"), "{text}");
}

/// An endless start function delays the start by no more than a request may take, and no other module.
#[tokio::test]
async fn a_module_that_never_starts_keeps_no_other_waiting() {
    // Runtimes of one limit share their slots: of this one no other test is.
    let limits = Limits { request_timeout_ms: 200, warm_instances: 3, max_concurrent: 7, ..small() };
    let modules = [("endless.wasm", fixtures::endless_start()), ("echo.wasm", fixtures::echo(200))];
    let started = tokio::time::timeout(Duration::from_secs(60), shared(&modules, limits)).await;
    let (runtime, folder) = started.expect("the start ends");
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    assert_eq!(get(&runtime, "/run/endless/").await.status, 504);

    std::fs::write(folder.path().join("endless.wasm"), fixtures::endless_start()).unwrap();
    let reloaded = tokio::time::timeout(Duration::from_secs(60), runtime.reload("endless", None)).await;
    reloaded.expect("reloading ends").unwrap();
}

#[tokio::test]
async fn surplus_instances_are_dropped_oldest_first_before_they_idle_for_long() {
    let limits = Limits { warm_instances: 2, ..small() };
    let (runtime, _folder) = shared(&[("count.wasm", fixtures::count())], limits).await;
    let module = runtime.shared.registry.ready().remove(0);
    let caller = || Caller::host("test", &module.shared_state.limits);
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(runtime.instance(&module, caller()).await.unwrap());
    }
    for instance in made {
        module.take_back(instance).await;
    }
    assert_eq!(count(&runtime, "count").await, 1, "the newest one answers");
    let warm = module.reuse.waiting().unwrap();
    until(|| warm.len() == 4).await;
    warm.keep_few();
    assert_eq!(warm.len(), 2);
    assert_eq!(count(&runtime, "count").await, 2, "the newest one is kept");
}
