//! Exceptions are objects of the collector: its heap counts as memory of the instance, and no request finds another's objects.

use tenon_fixtures::exceptions;

use super::isolation::created;
use super::*;

const MIB: u64 = 1024 * 1024;

async fn serving(component: Vec<u8>, limits: Limits, isolation: Isolation) -> (Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throws.wasm");
    std::fs::write(&path, component).unwrap();
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let config = RuntimeConfig { modules, limits, isolation, ..RuntimeConfig::default() };
    (Runtime::new(config).await.unwrap(), folder)
}

async fn throw(runtime: &Runtime, count: u32) -> u16 {
    let status = get(runtime, &format!("/run/throws/{count}")).await.status.as_u16();
    until(|| runtime.shared.admission.free() == 4).await;
    status
}

#[tokio::test]
async fn an_instance_that_can_throw_serves_one_request() {
    for component in [exceptions::throwing(), exceptions::keeping()] {
        let (runtime, _folder) = serving(component, small(), Isolation::Request).await;
        for request in 1..=20 {
            // One that throws nothing is new as well.
            assert_eq!(throw(&runtime, request % 3 * 1_000).await, 200);
            assert_eq!(created(&runtime, "throws"), request as usize);
        }
    }
}

/// An exception of 24 bytes: 200,000 of them are more than two megabytes, of which the memory has 128 KiB.
#[tokio::test]
async fn exceptions_beyond_the_memory_limit_end_their_request_alone() {
    let limits = Limits { memory_limit_bytes: 2 * MIB, ..small() };
    for isolation in [Isolation::Request, Isolation::Shared] {
        let (runtime, _folder) = serving(exceptions::throwing(), limits.clone(), isolation).await;
        for _ in 0..3 {
            assert_eq!(throw(&runtime, 200_000).await, 500);
            assert_eq!(throw(&runtime, 10_000).await, 200);
        }
    }
}

/// The collector never frees: an instance beyond `max_reuse_memory_bytes` makes room for a new one, and no request fails.
#[tokio::test]
async fn the_collector_of_a_shared_instance_has_a_bound() {
    let limits = Limits { memory_limit_bytes: 8 * MIB, max_reuse_memory_bytes: MIB, ..small() };
    let (runtime, _folder) = serving(exceptions::keeping(), limits, Isolation::Shared).await;
    let mut statuses = [0; 2];
    for _ in 0..100 {
        statuses[match throw(&runtime, 10_000).await {
            200 => 0,
            409 => 1,
            other => panic!("{other}"),
        }] += 1;
    }
    // Some find the exception of the request before, and some are the first in their instance.
    let [first, later] = statuses;
    assert!(first >= 10 && later >= 10, "{first} and {later}");
    assert!((first..=first + 1).contains(&created(&runtime, "throws")), "{first}");
}

#[tokio::test]
async fn an_exception_that_is_not_caught_ends_its_request() {
    let (runtime, _folder) = runtime(&[("x.wasm", exceptions::uncaught())], small()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(get(&runtime, "/run/x/").await.status, 500);
    }
}

/// A guest's language is not what the cargo features of wasmtime bring.
#[tokio::test]
async fn a_component_in_another_language_is_not_loaded() {
    for (text, expected) in
        [("(type (struct))", "gc"), ("(memory 1 1 shared)", "threads"), ("(memory i64 1)", "memory64")]
    {
        let refused = runtime(&[("b.wasm", fixtures::with_module(text))], small()).await.err();
        let Some(error @ RuntimeError::Compile { .. }) = refused else { panic!("{text}: {refused:?}") };
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// A hundred requests with ten thousand exceptions each, in a process without other tests. One instance for all of them would
/// keep 24 MB of objects.
#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_the_process_does_not_grow_with_exceptions() {
    in_a_process_of_its_own(module_path!(), "growth", None);
}

#[tokio::test]
#[ignore = "the test above runs it in a process of its own"]
#[cfg(target_os = "linux")]
async fn growth() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    };
    let (runtime, _folder) = serving(exceptions::throwing(), small(), Isolation::Request).await;
    for _ in 0..20 {
        assert_eq!(throw(&runtime, 10_000).await, 200);
    }
    let before = resident();
    for _ in 0..100 {
        assert_eq!(throw(&runtime, 10_000).await, 200);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 8 * MIB, "{grown} bytes");
    assert_eq!(created(&runtime, "throws"), 120);
}
