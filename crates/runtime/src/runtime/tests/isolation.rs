//! Modules and requests share no state.

use super::*;
use crate::config::Isolation;
use crate::instance::caller::Caller;

#[tokio::test]
async fn no_byte_of_memory_outlives_its_request() {
    let scan = fixtures::scan(64);
    let modules = [
        ("bare.wasm", scan.clone()),
        ("full.wasm", bridged(&scan)),
        ("other.wasm", scan),
        // It stays as large as it is, so that its instances are restored.
        ("small.wasm", fixtures::scan(0)),
        ("echo.wasm", fixtures::echo(200)),
    ];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    // Slots of the pool circulate among modules: one would find another's leftovers.
    for round in 0..25 {
        for module in ["bare", "full", "other", "small"] {
            assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, 204, "{module}, round {round}");
        }
        assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![0xa5; 100_000])).await.status, 200);
    }
}

/// The scan finds existing content, which gives the test above its meaning.
#[tokio::test]
async fn a_shared_instance_keeps_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.wasm");
    std::fs::write(&path, fixtures::scan(64)).unwrap();
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let config = RuntimeConfig { modules, limits: small(), isolation: Isolation::Shared, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    assert_eq!(get(&runtime, "/run/scan/").await.status, 204);
    assert_eq!(get(&runtime, "/run/scan/").await.status, 409);
}

/// How many instances of a module were made.
pub(super) fn created(runtime: &Runtime, module: &str) -> usize {
    let metrics = runtime.metrics();
    let name = format!(r#"tenon_instances_created_total{{module="{module}"}} "#);
    let count = metrics.lines().find_map(|line| line.strip_prefix(&name));
    count.map_or(0, |count| count.parse().unwrap())
}

#[tokio::test]
async fn an_instance_that_is_restored_is_as_good_as_new() {
    let composed = tenon_compose::compose(&fixtures::tally(), tenon_compose::BRIDGE).unwrap();
    let modules = [
        ("memory.wasm", fixtures::count()),
        ("global.wasm", fixtures::tally()),
        ("both-composed.wasm", composed),
        ("scan.wasm", fixtures::scan(0)),
    ];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    for (module, status) in [("memory", 201), ("global", 201), ("both", 201), ("scan", 204)] {
        // Until one instance has served twenty: other tests take its place away at times.
        let mut before = None;
        while before != Some(created(&runtime, module)) {
            before = Some(created(&runtime, module));
            for _ in 0..20 {
                assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, status, "{module}");
                until(|| runtime.shared.admission.free() == 4).await;
            }
        }
    }
}

#[tokio::test]
async fn an_instance_that_cannot_be_restored_serves_one_request() {
    let other = bridged(&fixtures::tally());
    let modules = [
        // Its memory grows.
        ("grows.wasm", fixtures::scan(1)),
        // Its table may.
        ("table.wasm", fixtures::wide()),
        // It is called by another interface, through streams.
        ("streams.wasm", other),
        ("trap.wasm", fixtures::trap()),
    ];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    for (path, status) in [("grows/", 204), ("table/", 204), ("streams/", 201), ("trap/trap", 500)] {
        for _ in 0..3 {
            assert_eq!(get(&runtime, &format!("/run/{path}")).await.status, status, "{path}");
            until(|| runtime.shared.admission.free() == 4).await;
        }
        assert_eq!(created(&runtime, path.split('/').next().unwrap()), 3, "{path}");
    }
    assert!(runtime.metrics().contains("tenon_instances_idle 0"));
}

#[tokio::test]
async fn restored_instances_take_turns_when_there_are_many_and_are_dropped_when_they_idle() {
    let tally = fixtures::tally();
    let names: Vec<String> = (0..40).map(|i| format!("m{i:02}.wasm")).collect();
    let modules: Vec<_> = names.iter().map(|name| (name.as_str(), tally.clone())).collect();
    let limits = Limits { idle_timeout_ms: 500, ..small() };
    let (runtime, _folder) = runtime(&modules, limits).await.unwrap();
    for module in 0..40 {
        assert_eq!(get(&runtime, &format!("/run/m{module:02}/")).await.status, 201);
    }
    // Other tests have some at the same time.
    let idle = runtime.shared.registry.idle();
    assert!((1..=32).contains(&idle), "{idle} wait");
    until(|| runtime.metrics().contains("tenon_instances_idle 0")).await;
    assert_eq!(get(&runtime, "/run/m00/").await.status, 201);
}

/// Memories that are copies share no page with their image. They leave the process with their instances instead.
#[tokio::test]
#[ignore = "the test below runs it in a process of its own"]
async fn portable() {
    assert!(tenon_memory::is_portable());
    let (runtime, _folder) = runtime(&[("count.wasm", fixtures::count())], small()).await.unwrap();
    let module = runtime.shared.registry.ready().remove(0);
    let waiting = || module.reuse.waiting().unwrap().len();
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(runtime.instance(&module, Caller::host("test", &small())).await.unwrap());
    }
    assert!(runtime.metrics().contains("tenon_instances_memories 3"));
    for instance in made {
        module.take_back(instance).await;
    }
    assert_eq!(waiting(), 3);
    module.release();
    assert_eq!(waiting(), 1);
    assert!(runtime.metrics().contains("tenon_instances_memories 1"));
    for _ in 0..3 {
        assert_eq!(get(&runtime, "/run/count/").await.status, 201);
        until(|| waiting() == 1).await;
    }
    assert_eq!(created(&runtime, "count"), 3);
}

#[cfg(unix)]
#[test]
fn instances_with_copies_of_their_image_are_restored_and_few_outlive_a_pause() {
    in_a_process_of_its_own(module_path!(), "portable", Some(("TENON_PORTABLE", "1")));
}

#[tokio::test]
async fn a_hundred_modules_share_one_engine_and_its_pool() {
    let echo = fixtures::echo(200);
    let names: Vec<String> = (0..100).map(|i| format!("m{i:02}.wasm")).collect();
    let modules: Vec<_> = names.iter().map(|name| (name.as_str(), echo.clone())).collect();
    // An engine of its own: this counts on nobody else using the pool.
    let limits = Limits { max_concurrent: 5, queue_timeout_ms: 30_000, ..Limits::default() };
    let (runtime, _folder) = runtime(&modules, limits).await.unwrap();
    assert_eq!(runtime.modules().len(), 100);
    let all = (0..300).map(|n| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            let answer = send(&runtime, request("POST", &format!("/run/m{:02}/", n % 100), n.to_string())).await;
            (answer.status.as_u16(), answer.body == n.to_string())
        })
    });
    for each in all.collect::<Vec<_>>() {
        assert_eq!(each.await.unwrap(), (200, true));
    }
    until(|| runtime.metrics().contains("tenon_instances 0")).await;
}
