//! Work of real sidecars on SQLite, done by a real runtime, or by routes that record their calls.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_runtime::{ModuleSource, Runtime, RuntimeConfig};
use tenon_services::{InProcessSidecar, SidecarSettings};
use tenon_transport::{Address, InProcess, Sidecar};

use crate::consumer::{Consumer, LeasedWork, Report};
use crate::cron::Cron;
use crate::queue::Queue;
use crate::route::{CallError, RouteCall, Routes};
use crate::{
    Consumers, Declaration, GrammarFile, MigrateError, QueueOptions, Service, SidecarAddress, Tasks, Work, WorkError,
    migrate,
};

mod development;
mod fairness;
mod migrations;
mod reports;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A sidecar of a kind on a file of SQLite.
async fn sidecar(kind: &str, folder: &TempDir) -> Sidecar {
    refusing_sidecar(kind, folder, |_| None).await
}

/// The same, but the paths for which `refuse` gives a status do not reach it.
async fn refusing_sidecar(
    kind: &str,
    folder: &TempDir,
    refuse: impl Fn(&str) -> Option<StatusCode> + Send + Sync + 'static,
) -> Sidecar {
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let settings = SidecarSettings::new(kind, &url);
    let limits = settings.limits();
    let sidecar = InProcessSidecar::open(settings.backend().unwrap(), limits).await.unwrap();
    let answer = InProcess::new(move |request| {
        let (sidecar, refused) = (sidecar.clone(), refuse(request.uri().path()));
        async move {
            if let Some(status) = refused {
                let empty = Empty::new().map_err(|never| match never {}).boxed_unsync();
                return Response::builder().status(status).body(empty).unwrap();
            }
            sidecar.answer(request).await.map(|body| body.map_err(Into::into).boxed_unsync())
        }
    });
    Sidecar::new(kind, Address::InProcess(answer)).unwrap()
}

fn service(sidecar: Sidecar) -> Arc<Service> {
    Arc::new(Service::new(SidecarAddress::new(sidecar, None).unwrap(), TIMEOUT))
}

/// A sidecar that does not answer.
fn nowhere(name: &str) -> Sidecar {
    Sidecar::new(name, Address::parse("unix:///nowhere.sock").unwrap()).unwrap()
}

/// A runtime with the module `app`, which answers each request with `status`.
async fn runtime(folder: &TempDir, status: u16) -> Runtime {
    let file = folder.path().join("app.wasm");
    std::fs::write(&file, tenon_fixtures::echo(status)).unwrap();
    let modules = vec![ModuleSource::new("app", file)];
    Runtime::new(RuntimeConfig { modules, ..RuntimeConfig::default() }).await.unwrap()
}

async fn post(service: &Service, path: &str, json: Value) -> Value {
    let answer = service.ask(Method::POST, path, Some(&json)).await.unwrap();
    assert!(answer.status.is_success(), "{path}: {}", answer.detail());
    serde_json::from_slice(&answer.body).unwrap_or(Value::Null)
}

/// Waits until the answer of a sidecar fits.
async fn until(service: &Service, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    for _ in 0..400 {
        let answer = service.ask(Method::GET, path, None).await.unwrap();
        last = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        if fits(&last) {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{path} stays {last}");
}

/// Waits until something is so.
async fn when(is_so: impl Fn() -> bool) {
    for _ in 0..400 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it does not become so");
}

#[tokio::test]
async fn a_stream_ends_unread_and_an_impossible_request_has_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.wasm");
    std::fs::write(&file, tenon_fixtures::streams()).unwrap();
    let modules = vec![ModuleSource::new("app", file)];
    let runtime = Runtime::new(RuntimeConfig { modules, ..RuntimeConfig::default() }).await.unwrap();
    let call = |path: &str| {
        let (module, method, path) = ("app".to_string(), "GET".to_string(), path.to_string());
        let call = RouteCall { module, method, path, headers: Vec::new(), body: Bytes::new() };
        tokio::time::timeout(TIMEOUT, Routes::call(&runtime, call))
    };
    // After three pieces it has nothing, for ever.
    assert_eq!(call("/w3").await.unwrap().unwrap(), StatusCode::OK);
    assert_eq!(call("/c").await.unwrap().unwrap(), StatusCode::OK);
    assert!(call("/a b").await.unwrap().unwrap_err().to_string().contains("invalid uri character"));
}

/// The lines of a log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn report(&self) -> Report {
        let lines = Arc::clone(&self.0);
        Arc::new(move |step, line| lines.lock().unwrap().push(format!("{step}: {line}")))
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

type Answer = fn(&RouteCall, usize) -> Result<StatusCode, CallError>;

/// Routes that record their calls.
#[derive(Clone)]
struct Recorded(Arc<Recording>);

struct Recording {
    answer: Answer,
    module: &'static str,
    is_ready: AtomicBool,
    running: AtomicUsize,
    most: AtomicUsize,
    calls: Mutex<Vec<RouteCall>>,
}

impl Recorded {
    /// Routes of a module, which does not serve yet. `answer` gets the number of the call, from 1 on.
    fn new(module: &'static str, answer: Answer) -> Self {
        Self(Arc::new(Recording {
            answer,
            module,
            is_ready: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            calls: Mutex::default(),
        }))
    }

    fn become_ready(&self) {
        self.0.is_ready.store(true, Ordering::Relaxed);
    }

    fn count(&self) -> usize {
        self.0.calls.lock().unwrap().len()
    }
}

impl Routes for Recorded {
    fn ready_modules(&self) -> Vec<String> {
        if self.0.is_ready.load(Ordering::Relaxed) { vec![self.0.module.to_string()] } else { Vec::new() }
    }

    async fn call(&self, call: RouteCall) -> Result<StatusCode, CallError> {
        let running = self.0.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.most.fetch_max(running, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.0.running.fetch_sub(1, Ordering::Relaxed);
        let mut calls = self.0.calls.lock().unwrap();
        let answer = (self.0.answer)(&call, calls.len() + 1);
        calls.push(call);
        answer
    }
}

fn options(module: &str, concurrency: u32, max_attempts: u32) -> QueueOptions {
    let (module, path) = (module.to_string(), "/mail".to_string());
    QueueOptions { module, path, concurrency, max_attempts, visibility_ms: 30_000 }
}

fn mail(max_attempts: u32) -> Tasks {
    Tasks { queues: BTreeMap::from([("mail".to_string(), options("app", 2, max_attempts))]), cron: None }
}

fn job(name: &str, schedule: &str, module: &str) -> Value {
    json!({
        "name": name, "schedule": schedule, "timezone": "UTC", "module": module, "path": "/night", "method": "GET",
        "catch_up": false, "max_attempts": 3,
    })
}

fn work(tasks: Tasks, sidecars: &[Sidecar]) -> Work {
    Work::new(tasks, sidecars, &[], TIMEOUT).unwrap()
}

fn has_called(runtime: &Runtime, path: &str) -> bool {
    runtime.recent_requests().iter().any(|request| request.path.ends_with(path))
}

/// Sends a message to a route that answers `status`, and returns what the queue has afterwards, and its dead letters.
async fn delivered(status: u16) -> (Value, usize) {
    let folder = tempfile::tempdir().unwrap();
    let sidecar = sidecar("queue", &folder).await;
    let queue = service(sidecar.clone());
    post(&queue, "/queue/mail", json!({ "messages": [{ "body": { "to": "a@example.test" } }] })).await;
    let runtime = runtime(&folder, status).await;
    let lines = Lines::default();
    let consumers = Consumers::start(work(mail(1), &[sidecar]), runtime.clone(), lines.report());
    when(|| has_called(&runtime, "/mail")).await;
    // It is settled when the consumers have ended.
    consumers.close().await;
    assert_eq!(lines.all(), [""; 0]);
    let left = post(&queue, "/queue/mail/lease", json!({ "max": 10, "visibility_ms": 1000, "max_attempts": 1 })).await;
    let dead =
        post(&queue, "/queue/mail.dead/lease", json!({ "max": 10, "visibility_ms": 1000, "max_attempts": 1 })).await;
    (left["messages"].clone(), dead["messages"].as_array().map_or(0, Vec::len))
}

#[tokio::test]
async fn a_message_that_was_handled_is_gone_and_one_that_was_not_is_laid_aside() {
    assert_eq!(delivered(200).await, (json!([]), 0));
    assert_eq!(delivered(500).await, (json!([]), 1));
}

#[tokio::test]
async fn the_route_gets_each_message_some_at_a_time_and_again_when_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    let queue = service(sidecar("queue", &folder).await);
    let routes = Recorded::new("shop", |call, _| {
        let message: Value = serde_json::from_slice(&call.body).unwrap();
        match (message["body"].as_str(), message["attempts"].as_u64()) {
            (Some("broken"), _) => Err(CallError::Cut("no answer".to_string())),
            (Some("later"), Some(1)) => Ok(StatusCode::SERVICE_UNAVAILABLE),
            _ => Ok(StatusCode::NO_CONTENT),
        }
    });
    let lines = Lines::default();
    let messages = Queue {
        name: "mail".to_string(),
        options: options("shop", 3, 2),
        service: Arc::clone(&queue),
        routes: routes.clone(),
    };
    let consumer = Consumer::start(messages, lines.report());
    post(&queue, "/queue/mail", json!({ "messages": [{ "body": "later", "key": "k" }, { "body": "broken" }] })).await;
    let numbers: Vec<_> = (0..20).map(|body| json!({ "body": body })).collect();
    post(&queue, "/queue/mail", json!({ "messages": numbers })).await;
    assert_eq!(routes.count(), 0);
    routes.become_ready();
    let dead = json!([{ "name": "mail.dead", "ready": 1, "delayed": 0, "leased": 0 }]);
    until(&queue, "/queue", |all| all["queues"] == dead).await;
    consumer.close().await;
    let calls = routes.0.calls.lock().unwrap();
    let messages: Vec<Value> = calls.iter().map(|call| serde_json::from_slice(&call.body).unwrap()).collect();
    assert_eq!(messages.iter().filter(|message| message["body"].is_number()).count(), 20);
    assert_eq!((routes.0.most.load(Ordering::Relaxed), lines.all()), (3, vec![]));
    let later = calls.iter().zip(&messages).filter(|(_, message)| message["body"] == "later");
    let later: Vec<_> = later
        .map(|(call, message)| {
            (call.module.as_str(), &*call.method, call.path.as_str(), &message["key"], &message["attempts"])
        })
        .collect();
    assert_eq!(
        later,
        [("shop", "POST", "/mail", &json!("k"), &json!(1)), ("shop", "POST", "/mail", &json!("k"), &json!(2))]
    );
    let keys: Vec<_> = messages[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        BTreeMap::from_iter(keys.iter().map(|key| (*key, ()))).into_keys().collect::<Vec<_>>(),
        ["attempts", "body", "id", "key", "sent_at"]
    );
    assert_eq!(calls[0].headers, [("content-type".to_string(), "application/json".to_string())]);
}

#[tokio::test]
async fn jobs_are_declared_and_a_run_that_was_asked_for_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let sidecar = sidecar("cron", &folder).await;
    let cron = service(sidecar.clone());
    let jobs = vec![job("night", "0 3 1 1 *", "app")];
    let tasks = Tasks { cron: Some(Declaration { owner: "shop".to_string(), jobs }), ..Tasks::default() };
    let runtime = runtime(&folder, 204).await;
    let consumers = Consumers::start(work(tasks, &[sidecar]), runtime, Lines::default().report());
    until(&cron, "/cron", |jobs| jobs.to_string().contains("night")).await;
    post(&cron, "/cron/night/trigger", json!({})).await;
    until(&cron, "/cron/night/history", |runs| runs.to_string().contains(r#""state":"done""#)).await;
    consumers.close().await;
}

#[tokio::test]
async fn a_run_without_an_answer_gets_its_next_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let cron = service(sidecar("cron", &folder).await);
    let routes = Recorded::new("shop", |_, number| match number {
        1 => Err(CallError::NoModule("app".to_string())),
        _ => Ok(StatusCode::NO_CONTENT),
    });
    let jobs = vec![job("tick", "* * * * * *", "shop")];
    let declaration = Declaration { owner: "shop".to_string(), jobs };
    let lines = Lines::default();
    let runs = Cron::new(Some(declaration), Arc::clone(&cron), routes.clone(), TIMEOUT);
    let consumer = Consumer::start(runs, lines.report());
    until(&cron, "/cron", |jobs| jobs.to_string().contains("tick")).await;
    assert_eq!(routes.count(), 0);
    routes.become_ready();
    when(|| routes.count() > 3).await;
    consumer.close().await;
    let header = |call: usize, name: &str| {
        let calls = routes.0.calls.lock().unwrap();
        calls[call].headers.iter().find(|(each, _)| each == name).unwrap().1.clone()
    };
    assert_eq!(header(1, "x-tenon-cron-run"), header(0, "x-tenon-cron-run"));
    assert_eq!((header(1, "x-tenon-cron-attempt"), lines.all()), ("2".to_string(), vec![]));
    let history = until(&cron, "/cron/tick/history", |_| true).await;
    let states = history["runs"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap());
    let ended: Vec<_> = states.filter(|state| *state != "skipped").collect();
    assert!(ended.len() > 2 && ended.iter().all(|state| *state == "done"), "{history}");
}

#[tokio::test]
async fn a_sidecar_that_does_not_answer_is_reported_once() {
    let lines = Lines::default();
    let routes = Recorded::new("app", |_, _| Ok(StatusCode::NO_CONTENT));
    routes.become_ready();
    let messages = Queue {
        name: "none".to_string(),
        options: options("app", 1, 1),
        service: service(nowhere("queue")),
        routes: routes.clone(),
    };
    let queue = Consumer::start(messages, lines.report());
    when(|| !lines.all().is_empty()).await;
    let cron = Consumer::start(Cron::new(None, service(nowhere("cron")), routes, TIMEOUT), lines.report());
    when(|| lines.all().len() > 1).await;
    // Longer than the pause after a failure.
    tokio::time::sleep(Duration::from_millis(3500)).await;
    queue.close().await;
    cron.close().await;
    let lines = lines.all();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("Queue: the queue none cannot be read: queue cannot be reached: No such file"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("Cron: jobs cannot be read: cron cannot be reached: No such file"), "{lines:?}");
}

#[tokio::test]
async fn other_work_takes_the_place_of_the_former_one_and_the_same_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let sidecars = [sidecar("queue", &folder).await];
    let queue = service(sidecars[0].clone());
    let runtime = runtime(&folder, 200).await;
    let lines = Lines::default();
    let consumers = Consumers::start(work(Tasks::default(), &sidecars), runtime.clone(), lines.report());
    let mut other = mail(1);
    other.queues.insert("lost".to_string(), options("gone", 1, 1));
    consumers.change(work(other.clone(), &sidecars)).await;
    consumers.change(work(other, &sidecars)).await;
    assert_eq!(lines.all(), ["Queue: the queue lost calls gone, which is not served here"]);
    let send = || post(&queue, "/queue/mail", json!({ "messages": [{ "body": 1 }] }));
    send().await;
    until(&queue, "/queue", |all| all["queues"] == json!([])).await;
    consumers.close().await;
    consumers.change(work(mail(1), &sidecars)).await;
    consumers.close().await;
    send().await;
    let waiting = json!([{ "name": "mail", "ready": 1, "delayed": 0, "leased": 0 }]);
    until(&queue, "/queue", |all| all["queues"] == waiting).await;
}

#[tokio::test]
async fn a_module_that_is_not_served_is_reported_unless_modules_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let sidecars = [nowhere("queue"), nowhere("cron")];
    let jobs = vec![job("night", "0 3 1 1 *", "app"), job("noon", "@daily", "elsewhere")];
    let mut tasks = mail(1);
    tasks.queues.insert("lost".to_string(), options("gone", 1, 1));
    tasks.cron = Some(Declaration { owner: "shop".to_string(), jobs });
    let runtime = runtime(&folder, 200).await;
    let said = |work: Work| {
        let lines = Lines::default();
        let consumers = Consumers::start(work, runtime.clone(), lines.report());
        async move {
            let all = lines.all();
            consumers.close().await;
            all
        }
    };
    let work = work(tasks, &sidecars);
    let unserved = [
        "Queue: the queue lost calls gone, which is not served here",
        "Cron: the job noon calls elsewhere, which is not served here",
    ];
    assert_eq!(said(work.clone()).await, unserved);
    assert_eq!(said(work.with_later_modules()).await, [""; 0]);
}

#[tokio::test]
async fn work_needs_its_sidecars_and_their_tokens() {
    let missing = |tasks: Tasks| Work::new(tasks, &[], &[], TIMEOUT).map(|_| ()).unwrap_err();
    let no_queue = missing(mail(1));
    assert!(matches!(no_queue, WorkError::NoSidecar { section: "queues", sidecar: "queue" }), "{no_queue}");
    let of = |jobs| Tasks { cron: Some(Declaration { owner: "a".to_string(), jobs }), ..Tasks::default() };
    let no_cron = missing(of(vec![job("night", "@daily", "app")]));
    assert!(matches!(no_cron, WorkError::NoSidecar { section: "cron", sidecar: "cron" }), "{no_cron}");
    assert!(Work::new(of(vec![]), &[], &[], TIMEOUT).is_ok());

    let sidecars = [Sidecar::new("Queue", Address::parse("unix:///nowhere.sock").unwrap()).unwrap()];
    let token = |value: &str| [("TENON_SECRET_SIDECAR_QUEUE_TOKEN".to_string(), value.to_string())];
    assert!(SidecarAddress::find("cron", &sidecars, &[]).unwrap().is_none());
    let wrong = Work::new(mail(1), &sidecars, &token("no\nline"), TIMEOUT).map(|_| ()).unwrap_err();
    assert_eq!(wrong.to_string(), "the token of the sidecar `Queue` has characters that a header cannot have");
    let found = SidecarAddress::find("queue", &sidecars, &token("t0ken")).unwrap().unwrap();
    let error = Service::new(found, TIMEOUT).ask(Method::GET, "/health", None).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached") && !error.to_string().contains("t0ken"), "{error}");
}

#[test]
fn tasks_are_read_as_the_server_reads_them() {
    let tasks = Tasks::parse(
        r#"{ "queues": { "mail": { "module": "app", "path": "/mail", "concurrency": 2, "maxAttempts": 1, "visibilityMs": 30000 } } }"#,
    );
    assert_eq!(tasks.unwrap(), mail(1));
    let wrong = Tasks::parse(r#"{ "queue": {} }"#).unwrap_err();
    assert!(wrong.to_string().contains("unknown field `queue`"), "{wrong}");
}

#[tokio::test]
async fn a_refusal_of_a_sidecar_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let answer = service(sidecar("queue", &folder).await).ask(Method::GET, "/no-such-place", None).await.unwrap();
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}
