//! Work of real sidecars on SQLite, done by a real runtime.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_runtime::{ModuleSource, Runtime, RuntimeConfig};
use tenon_services::{InProcessSidecar, SidecarSettings};
use tenon_transport::{Address, InProcess, Sidecar};

use crate::{Declaration, MigrateError, QueueOptions, Service, SidecarAddress, consume_cron, consume_queue, migrate};

const TIMEOUT: Duration = Duration::from_secs(10);

/// A sidecar of a kind on a file of SQLite.
async fn service(kind: &str, folder: &TempDir) -> Service {
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let settings = SidecarSettings::new(kind, &url);
    let limits = settings.limits();
    let sidecar = InProcessSidecar::open(settings.backend().unwrap(), limits).await.unwrap();
    let answer = InProcess::new(move |request| {
        let sidecar = sidecar.clone();
        async move { sidecar.answer(request).await.map(|body| body.map_err(Into::into).boxed_unsync()) }
    });
    let sidecar = Sidecar::new(kind, Address::InProcess(answer)).unwrap();
    Service::new(SidecarAddress { sidecar, token: None }, TIMEOUT).unwrap()
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

/// Waits until what a sidecar says fits.
async fn until(service: &Service, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    for _ in 0..200 {
        let answer = service.ask(Method::GET, path, None).await.unwrap();
        last = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        if fits(&last) {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{path} stays {last}");
}

fn mail() -> QueueOptions {
    let text = r#"{ "module": "app", "path": "/mail", "concurrency": 2, "maxAttempts": 1, "visibilityMs": 30000 }"#;
    serde_json::from_str(text).unwrap()
}

/// Sends a message to a route that answers `status`, and returns what the queue has afterwards, and its dead letters.
async fn delivered(status: u16) -> (Value, usize) {
    let folder = tempfile::tempdir().unwrap();
    let queue = Arc::new(service("queue", &folder).await);
    post(&queue, "/queue/mail", json!({ "messages": [{ "body": { "to": "a@example.test" } }] })).await;
    let runtime = runtime(&folder, status).await;
    let consumer = consume_queue("mail", mail(), Arc::clone(&queue), runtime.clone());
    for _ in 0..100 {
        if runtime.recent_requests().iter().any(|request| request.path.ends_with("/mail")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // It is settled when the consumer has ended.
    consumer.close().await;
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
async fn jobs_are_declared_and_a_run_that_was_asked_for_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let cron = Arc::new(service("cron", &folder).await);
    let job = json!({
        "name": "night", "schedule": "0 3 1 1 *", "timezone": "UTC", "module": "app", "path": "/night", "method": "GET",
        "catch_up": false, "max_attempts": 3,
    });
    let declaration = Declaration { owner: "shop".to_string(), jobs: vec![job] };
    let consumer = consume_cron(Some(declaration), Arc::clone(&cron), runtime(&folder, 204).await, TIMEOUT);
    until(&cron, "/cron", |jobs| jobs.to_string().contains("night")).await;
    post(&cron, "/cron/night/trigger", json!({})).await;
    until(&cron, "/cron/night/history", |runs| runs.to_string().contains(r#""state":"done""#)).await;
    consumer.close().await;
}

#[tokio::test]
async fn files_are_applied_once_and_one_that_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sql = service("sql", &folder).await;
    let files = folder.path().join("migrations");
    let missing = migrate(&sql, &files).await.unwrap_err();
    assert!(matches!(missing, MigrateError::None(..)), "{missing}");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("0001_a.sql"), "CREATE TABLE a (b TEXT); INSERT INTO a VALUES ('x;y');").unwrap();
    let done = migrate(&sql, &files).await.unwrap();
    assert_eq!((done.dialect, done.applied, done.before), ("sqlite", vec!["0001_a.sql".to_string()], vec![]));
    // A folder of the dialect wins.
    let own = files.join("sqlite");
    std::fs::create_dir(&own).unwrap();
    std::fs::copy(files.join("0001_a.sql"), own.join("0001_a.sql")).unwrap();
    std::fs::write(own.join("0002_b.sql"), "INSERT INTO a VALUES ('z'); INSERT INTO missing VALUES (1);").unwrap();
    let refused = migrate(&sql, &files).await.unwrap_err();
    assert!(matches!(&refused, MigrateError::Refused(name, _) if name == "0002_b.sql"), "{refused}");
    std::fs::write(own.join("0002_b.sql"), "INSERT INTO a VALUES ('z');").unwrap();
    let done = migrate(&sql, &files).await.unwrap();
    assert_eq!((done.applied, done.before), (vec!["0002_b.sql".to_string()], vec!["0001_a.sql".to_string()]));
    let rows = post(&sql, "/sql/query", json!({ "sql": "SELECT count(*) AS n FROM a" })).await;
    assert_eq!(rows["rows"], json!([{ "n": 2 }]), "the file that was refused has left nothing");
    std::fs::write(own.join("0001_a.sql"), "CREATE TABLE other (b TEXT);").unwrap();
    let changed = migrate(&sql, &files).await.unwrap_err();
    assert!(changed.to_string().contains("0001_a.sql has changed since it was applied"), "{changed}");
}

#[tokio::test]
async fn a_sidecar_is_found_by_its_name_with_its_token_and_a_refusal_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let queue = service("queue", &folder).await;
    let answer = queue.ask(Method::GET, "/no-such-place", None).await.unwrap();
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let sidecars = [Sidecar::new("Queue", Address::parse("unix:///nowhere.sock").unwrap()).unwrap()];
    let token = |value: &str| [("TENON_SECRET_SIDECAR_QUEUE_TOKEN".to_string(), value.to_string())];
    assert!(SidecarAddress::find("cron", &sidecars, &[]).is_none());
    let find = |value: &str| Service::new(SidecarAddress::find("queue", &sidecars, &token(value)).unwrap(), TIMEOUT);
    assert!(find("no\nline").is_err());
    let found = find("t0ken").unwrap();
    let error = found.ask(Method::GET, "/health", None).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached") && !error.to_string().contains("t0ken"), "{error}");
}
