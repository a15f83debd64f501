//! Metering and budgets.

use std::sync::Mutex;

use super::*;
use crate::config::{Allowance, ModuleBudget, WhenSpent};
use crate::metering::RequestUsage;

type Told = Arc<Mutex<Vec<RequestUsage>>>;

fn listen(runtime: &Runtime) -> Told {
    let told = Told::default();
    let tell = Arc::clone(&told);
    runtime.on_usage(Some(Arc::new(move |usage| tell.lock().unwrap().push(usage))));
    told
}

/// The next record, which may come after the answer.
async fn next(told: &Told) -> RequestUsage {
    until(|| !told.lock().unwrap().is_empty()).await;
    told.lock().unwrap().remove(0)
}

fn hourly(amount: u64) -> Option<Allowance> {
    Some(Allowance { amount, period: Duration::from_secs(3600) })
}

/// A runtime of one component under several names, all with a budget.
async fn with_budget(component: &[u8], names: &[&str], budget: ModuleBudget, limits: Limits) -> Runtime {
    let modules = names.iter().map(|name| {
        let bytes = if name.starts_with("full") { bridged(component) } else { component.to_vec() };
        let mut source = ModuleSource::of_bytes(*name, bytes);
        source.policy.budget = Some(budget);
        source
    });
    let config = RuntimeConfig { modules: modules.collect(), limits, ..RuntimeConfig::default() };
    Runtime::new(config).await.unwrap()
}

#[tokio::test]
async fn each_request_is_told_with_its_use_while_somebody_listens() {
    let echo = fixtures::echo(200);
    let (runtime, _folder) =
        runtime(&[("bare.wasm", echo.clone()), ("full.wasm", bridged(&echo))], small()).await.unwrap();
    for module in ["bare", "full"] {
        let path = format!("/run/{module}/");
        send(&runtime, request("POST", &path, "before")).await;
        let told = listen(&runtime);
        let mut named = request("POST", &path, vec![1; 70_000]);
        named.headers_mut().insert("x-request-id", "r".parse().unwrap());
        assert_eq!(send(&runtime, named).await.status, 200);
        let RequestUsage { module: name, request_id, usage } = next(&told).await;
        assert_eq!((&*name, &*request_id), (module, "r"));
        assert_eq!((usage.bytes_in, usage.bytes_out, usage.calls), (70_000, 70_000, 0), "{module}");
        assert!(usage.cpu > Duration::ZERO && usage.peak_memory >= 65_536, "{usage:?}");
        let sums = [("out_bytes", 70_000), ("in_bytes", 70_000), ("peak_memory_bytes", usage.peak_memory)];
        for (name, sum) in sums {
            let line = format!("tenon_metered_{name}_total{{module=\"{module}\"}} {sum}\n");
            assert!(runtime.metrics().contains(&line), "{line}");
        }
        runtime.on_usage(None);
        send(&runtime, request("POST", &path, "after")).await;
        until(|| runtime.shared.admission.idle().is_some()).await;
        assert!(told.lock().unwrap().is_empty());
        assert!(runtime.metrics().contains(&format!("tenon_metered_requests_total{{module=\"{module}\"}} 1\n")));
    }
    // Nothing that the runtime answers itself is a module's.
    let told = listen(&runtime);
    get(&runtime, "/health").await;
    get(&runtime, "/run/nobody/").await;
    assert!(told.lock().unwrap().is_empty());
}

/// The record comes at the end of the stream, with all of its pieces.
#[tokio::test]
async fn a_streamed_answer_is_told_at_its_end() {
    let streams = fixtures::streams();
    let (runtime, _folder) = runtime(&[("s.wasm", streams)], small()).await.unwrap();
    let told = listen(&runtime);
    let answer = runtime.handle(request("GET", "/run/s/f3", "")).await;
    assert!(answer.body().is_streamed());
    assert!(told.lock().unwrap().is_empty());
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let RequestUsage { usage, .. } = next(&told).await;
    assert_eq!(usage.bytes_out, body.len() as u64);
    assert!(usage.cpu > Duration::ZERO);
    // One that nobody reads to its end is told when its guest was cancelled.
    drop(runtime.handle(request("GET", "/run/s/w3", "")).await);
    assert_eq!(&*next(&told).await.module, "s");
}

/// A failure is logged and counted as without a meter, and its time is told.
#[tokio::test]
async fn a_request_that_fails_is_told_as_well() {
    let limits = Limits { request_timeout_ms: 200, ..small() };
    let spin = fixtures::spin();
    let (runtime, _folder) =
        runtime(&[("bare.wasm", spin.clone()), ("full.wasm", bridged(&spin))], limits).await.unwrap();
    let told = listen(&runtime);
    for module in ["bare", "full"] {
        assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, 504);
        let RequestUsage { usage, .. } = next(&told).await;
        // On a busy machine, the thread may get only a part of the time.
        assert!(usage.cpu > Duration::from_millis(1) && usage.cpu < Duration::from_millis(400), "{module} {usage:?}");
        let timeout = format!("tenon_timeouts_total{{module=\"{module}\"}} 1\n");
        until(|| runtime.metrics().contains(&timeout)).await;
    }
}

#[tokio::test]
async fn a_spent_budget_refuses_and_leaves_other_modules_alone() {
    let budget = ModuleBudget { bytes_out: hourly(250), ..ModuleBudget::default() };
    let runtime = with_budget(&fixtures::echo(200), &["bare", "full", "third"], budget, small()).await;
    for module in ["bare", "full"] {
        let post = || request("POST", &format!("/run/{module}/"), vec![1; 100]);
        for _ in 0..3 {
            assert_eq!(send(&runtime, post()).await.status, 200, "{module}");
            until(|| runtime.shared.admission.idle().is_some()).await;
        }
        let refused = send(&runtime, post()).await;
        assert_eq!(refused.status, 429);
        assert_eq!(refused.headers["content-type"], "application/problem+json");
        // The 50 bytes of debt leave room in the next window.
        let after: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((3500..=3601).contains(&after), "{after}");
        assert!(String::from_utf8_lossy(&refused.body).contains("spent its budget"));
        assert!(runtime.metrics().contains(&format!("tenon_budget_refusals_total{{module=\"{module}\"}} 1\n")));
    }
    assert_eq!(send(&runtime, request("POST", "/run/third/", "x")).await.status, 200);
    let left: Vec<_> = runtime.budgets().into_iter().map(|(name, left)| (name, left.parts[0].remaining)).collect();
    assert_eq!(left, [("bare".to_string(), 0), ("full".to_string(), 0), ("third".to_string(), 249)]);
    // A new version of the module has the same budget; one with a larger budget serves.
    runtime
        .load(ModuleSource {
            policy: ModulePolicy { budget: Some(budget), ..ModulePolicy::default() },
            ..ModuleSource::of_bytes("bare", fixtures::echo(201))
        })
        .await
        .unwrap();
    assert_eq!(get(&runtime, "/run/bare/").await.status, 429);
    runtime.load(ModuleSource::of_bytes("bare", fixtures::echo(201))).await.unwrap();
    assert_eq!(get(&runtime, "/run/bare/").await.status, 201);
    assert_eq!(runtime.budgets().len(), 2);
}

/// The request that spends the budget goes on to its own limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_request_is_charged_while_it_runs() {
    let limits = Limits { request_timeout_ms: 3_000, ..small() };
    let cpu = ModuleBudget { cpu: hourly(50_000), when_spent: WhenSpent::Unavailable, ..ModuleBudget::default() };
    let memory = ModuleBudget { memory: hourly(2_000), ..ModuleBudget::default() };
    for (budget, status) in [(cpu, 503), (memory, 429)] {
        let runtime = with_budget(&fixtures::spin(), &["bare", "full"], budget, limits.clone()).await;
        for module in ["bare", "full"] {
            let (long, path) = (runtime.clone(), format!("/run/{module}/"));
            let its_path = path.clone();
            let running = tokio::spawn(async move { get(&long, &its_path).await.status });
            let is_spent =
                || runtime.budgets().iter().any(|(name, left)| name == module && left.parts[0].remaining == 0);
            until(is_spent).await;
            assert!(!running.is_finished(), "{module} {budget:?}");
            assert_eq!(get(&runtime, &path).await.status, status);
            assert_eq!(running.await.unwrap(), 504);
        }
    }
}

/// Without loading the module again.
#[tokio::test]
async fn a_module_has_the_weight_of_its_policy() {
    let weighing = |weight: Option<u32>| {
        let mut source = ModuleSource::of_bytes("echo", fixtures::echo(200));
        source.policy.budget = weight.map(|weight| ModuleBudget { weight: Some(weight), ..ModuleBudget::default() });
        vec![source]
    };
    let config = RuntimeConfig { modules: weighing(Some(2)), limits: small(), ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    let [first] = &runtime.shared.registry.ready()[..] else { panic!("one module") };
    assert_eq!((first.compute.weight(), runtime.budgets()), (2, Vec::new()));
    for (given, weight) in [(Some(3), 3), (None, 1)] {
        runtime.update(weighing(given)).await.unwrap();
        assert_eq!(first.compute.weight(), weight);
        assert!(Arc::ptr_eq(first, &runtime.shared.registry.ready()[0]));
    }
}
