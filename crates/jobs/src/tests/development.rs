//! Cron of the development services, whose runs a consumer of the attached runtime does.

use tenon_services::{DevOptions, DevServices, Host, Limits, NotSent, RecentRequest, SendingAgain};

use super::*;

/// A runtime as the development services see it.
struct Attached(Runtime);

impl Host for Attached {
    fn url(&self) -> String {
        String::new()
    }

    fn modules(&self) -> Vec<String> {
        self.0.modules()
    }

    fn recent_requests(&self) -> Vec<RecentRequest> {
        Vec::new()
    }

    fn transcript(&self, _: u64) -> Option<String> {
        None
    }

    fn send_again(&self, _: u64) -> SendingAgain {
        Box::pin(async { Err(NotSent("it is not recorded")) })
    }
}

async fn services(folder: &TempDir) -> (DevServices, Sidecar) {
    let options = DevOptions {
        folder: folder.path().join("services"),
        host: [127, 0, 0, 1].into(),
        port: 0,
        fresh: false,
        cache: None,
        limits: Limits::default(),
    };
    let services = DevServices::start(options).await.unwrap();
    let address = Address::parse(&services.url()).unwrap();
    (services, Sidecar::new("cron", address).unwrap())
}

#[tokio::test]
async fn a_trigger_answers_with_the_run_that_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime(&folder, 204).await;
    let (services, sidecar) = services(&folder).await;
    let cron = service(sidecar.clone());
    let triggered = async |name: &str| post(&cron, &format!("/cron/{name}/trigger"), Value::Null).await;
    for (name, module) in [("tick", "app"), ("typo", "appp")] {
        post(&cron, "/cron", json!({ "name": name, "schedule": "@daily", "module": module })).await;
    }
    let run = triggered("tick").await;
    assert_eq!((&run["state"], &run["error"]), (&json!("failed"), &json!("no runtime is attached")));

    services.attach(Some(Arc::new(Attached(runtime.clone()))));
    let work = Work::new(Tasks::default(), &[sidecar], &[], TIMEOUT).unwrap().with_later_modules();
    let lines = Lines::default();
    let consumers = Consumers::start(work, runtime, lines.report());
    let run = triggered("tick").await;
    assert_eq!((&run["cause"], &run["state"], &run["status"]), (&json!("manual"), &json!("done"), &json!(204)));
    let run = triggered("typo").await;
    assert_eq!((&run["state"], &run["error"]), (&json!("failed"), &json!("no module is called appp")));

    // A job of a client shows its wrong module in the history; one of a project waits for the module's build.
    let every_second = json!({ "schedule": "* * * * * *" });
    let answer = cron.ask(Method::PATCH, "/cron/typo", Some(&every_second)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    let job = json!({ "name": "early", "schedule": "* * * * * *", "module": "later" });
    let declared = cron.ask(Method::PUT, "/cron-jobs", Some(&json!({ "owner": "shop", "jobs": [job] }))).await.unwrap();
    assert_eq!(declared.status, StatusCode::OK);
    let wrong = |runs: &Value| {
        let runs = runs["runs"].as_array().unwrap();
        runs.iter().any(|run| run["cause"] == "schedule" && run["error"] == "no module is called appp")
    };
    until(&cron, "/cron/typo/history", wrong).await;
    let early = cron.ask(Method::GET, "/cron/early/history", None).await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&early.body).unwrap(), json!({ "runs": [] }));
    consumers.close().await;
    services.close().await;
    assert!(lines.all().is_empty(), "{:?}", lines.all());
}
