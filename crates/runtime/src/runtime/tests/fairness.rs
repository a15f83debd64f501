//! Modules that hold permits for as long as they can, beside others. `admission/pool.rs` has the tests of clients.

use std::convert::Infallible;

use futures::stream;
use http_body::Frame;
use http_body_util::StreamBody;

use super::*;
use crate::config::{Allowance, ModuleBudget};

/// Permits of each runtime here. Two modules with equal weights have a share of two each.
const PERMITS: u64 = 8;

fn limits() -> Limits {
    Limits { max_concurrent: PERMITS, max_queued: 16, queue_timeout_ms: 200, ..Limits::default() }
}

/// Streams of a module that never end, until one is refused.
async fn streams(runtime: &Runtime, module: &str) -> Vec<Response<ResponseBody>> {
    let mut open = Vec::new();
    loop {
        // The head, one piece, and then nothing for ever.
        let response = runtime.handle(request("GET", &format!("/run/{module}/w1"), "")).await;
        match response.status().as_u16() {
            200 => open.push(response),
            status => {
                assert_eq!((status, response.headers()["retry-after"].to_str().unwrap()), (503, "1"), "{module}");
                return open;
            }
        }
    }
}

#[tokio::test]
async fn streams_of_one_module_leave_others_their_share() {
    let modules = [("a.wasm", fixtures::streams()), ("b.wasm", fixtures::streams())];
    for [greedy, other] in [["a", "b"], ["b", "a"]] {
        let (runtime, _folder) = runtime(&modules, limits()).await.unwrap();
        let held = streams(&runtime, greedy).await;
        assert_eq!(held.len(), 6, "those without the share of the other module");
        // More of its requests wait, and fill its part of the queue.
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                let (runtime, path) = (runtime.clone(), format!("/run/{greedy}/w1"));
                tokio::spawn(async move { runtime.handle(request("GET", &path, "")).await.status() })
            })
            .collect();
        for _ in 0..20 {
            let path = format!("/run/{other}/n");
            let answered = tokio::time::timeout(Duration::from_secs(10), get(&runtime, &path)).await;
            assert_eq!(answered.expect("it does not wait").status, 200);
        }
        let streamed = streams(&runtime, other).await;
        assert_eq!(streamed.len(), 2);
        // No stream was ended for it, and none of those that waited was served.
        assert_eq!(runtime.shared.admission.free(), 0);
        for each in waiting {
            assert_eq!(each.await.unwrap(), 503);
        }
        drop((held, streamed));
        until(|| runtime.shared.admission.free() == 8).await;
    }
}

#[tokio::test]
async fn shares_follow_weights() {
    let modules = [("a", 3), ("b", 1)].map(|(name, weight)| {
        let mut source = ModuleSource::of_bytes(name, fixtures::streams());
        source.policy.budget = Some(ModuleBudget { weight: Some(weight), ..ModuleBudget::default() });
        source
    });
    let config = RuntimeConfig { modules: modules.to_vec(), limits: limits(), ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    let light = streams(&runtime, "b").await;
    assert_eq!((light.len(), streams(&runtime, "a").await.len()), (5, 3));
}

#[tokio::test]
async fn bodies_that_arrive_for_one_module_leave_others_their_share() {
    let modules = [("a.wasm", fixtures::endless_upload()), ("b.wasm", fixtures::endless_upload())];
    let (runtime, _folder) = runtime(&modules, limits()).await.unwrap();
    let open = async |module: &str| {
        let body = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
        let request = Request::post(format!("/run/{module}/")).header("host", "example.test").body(body).unwrap();
        let response = runtime.handle(request).await;
        (response.status() == 200).then_some(response)
    };
    let mut held = Vec::new();
    while let Some(response) = open("a").await {
        held.push(response);
    }
    assert!(open("b").await.is_some(), "beside {}", held.len());
}

/// A module that goes on after its client has stopped sending has no instance without a permit, for which another module would wait.
#[tokio::test]
async fn an_upload_that_was_given_up_leaves_its_slot_with_its_permit() {
    let limits = Limits { body_timeout_ms: 300, ..limits() };
    let (runtime, _folder) = runtime(&[("a.wasm", fixtures::insatiable())], limits).await.unwrap();
    let body = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
    let request = Request::post("/run/a/").header("host", "example.test").body(body).unwrap();
    let upload = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.handle(request).await.status() }
    });
    until(|| runtime.shared.engine.slots.taken() == 1).await;
    while !upload.is_finished() {
        let has_permit = runtime.shared.admission.free() < PERMITS as usize;
        assert!(has_permit || runtime.shared.engine.slots.taken() == 0);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(upload.await.unwrap(), 408);
}

/// A module that could not be loaded has no share, until a build of it serves.
#[tokio::test]
async fn modules_that_do_not_serve_keep_no_permits() {
    let modules = [("a.wasm", fixtures::streams()), ("b.wasm", b"no component".to_vec())];
    let (runtime, folder) = runtime(&modules, limits()).await.unwrap();
    let open = async || {
        let count = streams(&runtime, "a").await.len();
        until(|| runtime.shared.admission.free() == 8).await;
        count
    };
    let update = || {
        let sources = ["a", "b"].map(|name| {
            let mut source = ModuleSource::new(name, folder.path().join(format!("{name}.wasm")));
            source.policy.budget = Some(ModuleBudget { weight: Some(2), ..ModuleBudget::default() });
            source
        });
        runtime.update(sources.to_vec())
    };
    assert_eq!(open().await, 8);
    update().await.unwrap();
    assert_eq!(open().await, 8, "with another policy as well");
    std::fs::write(folder.path().join("b.wasm"), fixtures::streams()).unwrap();
    update().await.unwrap();
    assert_eq!(open().await, 6);
}

/// Runtimes have permits of their own, such as the sandboxes of a process.
#[tokio::test]
async fn streams_of_one_runtime_take_no_permit_of_another() {
    let limits = Limits { max_concurrent: 5, queue_timeout_ms: 20, ..Limits::default() };
    let (greedy, _folder) = runtime(&[("s.wasm", fixtures::streams())], limits.clone()).await.unwrap();
    let (other, _other) = runtime(&[("s.wasm", fixtures::streams())], limits).await.unwrap();
    let held = streams(&greedy, "s").await;
    assert_eq!(held.len(), 5);
    let answered = tokio::time::timeout(Duration::from_secs(10), get(&other, "/run/s/n")).await;
    assert_eq!(answered.expect("it does not wait").status, 200);
}

/// The use of modules that compute without end, over a fixed amount of work in all. The meters say how much each has had.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processor_time_follows_weights() {
    const HOUR: Duration = Duration::from_secs(3_600);
    const BEGINNING: u64 = 200_000;
    const WORK: u64 = 1_500_000;
    let weights = [("a", 1), ("b", 2), ("c", 5)];
    let plenty = Allowance { amount: 1 << 40, period: HOUR };
    let modules = weights.map(|(name, weight)| {
        let mut source = ModuleSource::of_bytes(name, fixtures::spin());
        let budget = ModuleBudget { cpu: Some(plenty), weight: Some(weight), ..ModuleBudget::default() };
        source.policy.budget = Some(budget);
        source
    });
    let limits = Limits { max_concurrent: 64, request_timeout_ms: 600_000, ..Limits::default() };
    let config = RuntimeConfig { modules: modules.to_vec(), limits, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    // More loops than threads in each, and most of them in the module with the least weight.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut running = tokio::task::JoinSet::new();
    for (name, weight) in weights {
        for _ in 0..threads + 9 - weight as usize {
            let runtime = runtime.clone();
            running.spawn(async move { get(&runtime, &format!("/run/{name}/")).await.status });
        }
    }
    let used = || -> Vec<u64> {
        let budgets = runtime.budgets();
        budgets.iter().map(|(_, left)| plenty.amount - left.parts[0].remaining).collect()
    };
    // Guests get what others leave, so a busy machine may take minutes for it.
    let worked = async |work: u64| {
        while used().iter().sum::<u64>() < work {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    worked(BEGINNING).await;
    let before = used();
    worked(BEGINNING + WORK).await;
    let after = used();
    running.shutdown().await;
    let had: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    let (whole, all) = (had.iter().sum::<u64>(), weights.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>());
    for (had_one, (name, weight)) in had.iter().zip(weights) {
        let fair = whole * u64::from(weight) / all;
        assert!(had_one.abs_diff(fair) < whole / 20, "{name}: {had:?}");
    }
}
