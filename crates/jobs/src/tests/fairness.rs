//! Queues and jobs of one module that never end, beside others and beside requests.

use tenon_runtime::{Allowance, Limits, ModuleBudget};

use super::*;

/// Routes of two modules. Those of `greedy` never answer.
#[derive(Clone, Default)]
struct Endless {
    called: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Endless {
    fn count(&self, module: &str) -> usize {
        self.called.lock().unwrap().get(module).copied().unwrap_or(0)
    }
}

impl Routes for Endless {
    fn ready_modules(&self) -> Vec<String> {
        vec!["greedy".to_string(), "other".to_string()]
    }

    async fn call(&self, call: RouteCall) -> Result<StatusCode, CallError> {
        *self.called.lock().unwrap().entry(call.module.clone()).or_default() += 1;
        if call.module == "greedy" {
            std::future::pending::<()>().await;
        }
        Ok(StatusCode::NO_CONTENT)
    }
}

#[tokio::test]
async fn jobs_of_one_module_that_never_end_keep_no_others_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let cron = service(sidecar("cron", &folder).await);
    let routes = Endless::default();
    let mut jobs: Vec<_> = (0..130).map(|number| job(&format!("greedy{number}"), "0 3 1 1 *", "greedy")).collect();
    jobs.push(job("other", "0 3 1 1 *", "other"));
    let declaration = Declaration { owner: "shop".to_string(), jobs };
    let runs = Cron::new(Some(declaration), Arc::clone(&cron), routes.clone(), TIMEOUT);
    let _consumer = Consumer::start(runs, Lines::default().report());
    until(&cron, "/cron", |jobs| jobs.to_string().contains("other")).await;
    for number in 0..130 {
        post(&cron, &format!("/cron/greedy{number}/trigger"), json!({})).await;
    }
    // Its share of 25 slots, and all of the spare ones.
    when(|| routes.count("greedy") == 75).await;
    for round in 1..4 {
        post(&cron, "/cron/other/trigger", json!({})).await;
        when(|| routes.count("other") == round).await;
        until(&cron, "/cron/other/history", |runs| !runs.to_string().contains(r#""state":"running""#)).await;
    }
    assert_eq!(routes.count("greedy"), 75);
}

/// The use of modules that compute without end: one in requests, one in messages, and one in jobs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processor_time_of_messages_and_jobs_follows_weights() {
    const HOUR: Duration = Duration::from_secs(3_600);
    const BEGINNING: u64 = 200_000;
    const WORK: u64 = 1_500_000;
    let weights = [("jobs", 1), ("messages", 2), ("requests", 5)];
    let plenty = Allowance { amount: 1 << 40, period: HOUR };
    let modules = weights.map(|(name, weight)| {
        let mut source = ModuleSource::of_bytes(name, tenon_fixtures::spin());
        let budget = ModuleBudget { cpu: Some(plenty), weight: Some(weight), ..ModuleBudget::default() };
        source.policy.budget = Some(budget);
        source
    });
    let limits = Limits { max_concurrent: 64, request_timeout_ms: 600_000, ..Limits::default() };
    let config = RuntimeConfig { modules: modules.to_vec(), limits, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let [queue_folder, cron_folder] = ["queue", "cron"].map(|name| {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        tempfile::tempdir_in(folder.path().join(name)).unwrap()
    });
    let sidecars = [sidecar("queue", &queue_folder).await, sidecar("cron", &cron_folder).await];
    let loops = std::thread::available_parallelism().map_or(1, usize::from) + 8;
    let jobs: Vec<_> = (0..loops).map(|number| job(&format!("loop{number}"), "0 3 1 1 *", "jobs")).collect();
    let messages: Vec<_> = (0..loops).map(|body| json!({ "body": body })).collect();
    post(&service(sidecars[0].clone()), "/queue/mail", json!({ "messages": messages })).await;
    let tasks = Tasks {
        queues: BTreeMap::from([("mail".to_string(), options("messages", 100, 3))]),
        cron: Some(Declaration { owner: "shop".to_string(), jobs }),
    };
    let consumers = Consumers::start(work(tasks, &sidecars), runtime.clone(), Lines::default().report());
    let cron = service(sidecars[1].clone());
    until(&cron, "/cron", |jobs| jobs.to_string().contains("loop0")).await;
    for number in 0..loops {
        post(&cron, &format!("/cron/loop{number}/trigger"), json!({})).await;
    }
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..loops {
        let runtime = runtime.clone();
        let call = RouteCall {
            module: "requests".to_string(),
            method: "GET".to_string(),
            path: "/".to_string(),
            headers: Vec::new(),
            body: Bytes::new(),
        };
        running.spawn(async move { Routes::call(&runtime, call).await.map(|_| ()) });
    }

    let used =
        || -> Vec<u64> { runtime.budgets().iter().map(|(_, left)| plenty.amount - left.parts[0].remaining).collect() };
    let worked = async |work: u64| {
        while used().iter().sum::<u64>() < work {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    when(|| used().iter().all(|used| *used > 0)).await;
    worked(used().iter().sum::<u64>() + BEGINNING).await;
    let before = used();
    worked(before.iter().sum::<u64>() + WORK).await;
    let had: Vec<u64> = used().iter().zip(before).map(|(after, before)| after - before).collect();
    running.shutdown().await;
    drop(consumers);
    let (whole, all) = (had.iter().sum::<u64>(), weights.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>());
    for (had_one, (name, weight)) in had.iter().zip(weights) {
        let fair = whole * u64::from(weight) / all;
        assert!(had_one.abs_diff(fair) < whole / 20, "{name}: {had:?}");
    }
}
