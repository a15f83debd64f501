//! Random statements against a sidecar of SQLite: its functions, operators, limits and sizes. The sidecar never ends, stays
//! within its memory, and answers soon after the time limit.
//!
//! `TENON_ATTACK_STATEMENTS=2000000` sends so many. `TENON_ATTACK_SEED` repeats a run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the seed and the figures of a run")]

mod statements;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tenon_services::{InProcessSidecar, Limits, SidecarSettings};

use statements::Statements;

const MIB: usize = 1 << 20;

/// Callers at once.
const CALLERS: usize = 4;

/// Time after which an answer will not come.
const STUCK: Duration = Duration::from_secs(20);

/// The statements that a run sends unless it is told otherwise.
const SENT: usize = 2000;

fn limits() -> Limits {
    Limits {
        statement_timeout: Duration::from_millis(200),
        pool_size: 4,
        queue_timeout: Duration::from_secs(30),
        max_sqlite_memory: 96 * MIB,
        max_sqlite_memory_total: 192 * MIB,
        max_sqlite_temporary: 32 * MIB,
        max_body_bytes: 2 * MIB,
        max_result_bytes: 2 * MIB,
        ..Limits::default()
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("it must be a number"))
}

async fn ask(sidecar: &InProcessSidecar, route: &str, body: &Value) -> (u16, String) {
    let request = Request::post(route).body(Body::from(body.to_string())).unwrap();
    let (head, body) = sidecar.clone().answer(request).await.into_parts();
    (head.status.as_u16(), String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

async fn open(folder: &std::path::Path, access: Value) -> InProcessSidecar {
    let mut settings = SidecarSettings::new("sql", &format!("sqlite:{}", folder.join("test.db").display()));
    settings.options = access.as_object().unwrap().clone();
    InProcessSidecar::open(settings.backend().unwrap(), limits()).await.unwrap()
}

/// The largest resident memory of this process so far, in MiB; none where the system does not report it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? / 1024)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_sidecar_withstands_every_statement() {
    let seed = number("TENON_ATTACK_SEED").unwrap_or_else(|| {
        u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap() % 1_000_000_007
    });
    let count = number("TENON_ATTACK_STATEMENTS").map_or(SENT, |count| usize::try_from(count).unwrap());
    println!("{count} statements, TENON_ATTACK_SEED={seed}");
    let folder = tempfile::tempdir().unwrap();
    let owner = open(folder.path(), json!({})).await;
    for sql in statements::SCHEMA {
        let (status, body) = ask(&owner, "/sql/execute", &json!({ "sql": sql })).await;
        assert_eq!(status, 200, "{sql}: {body}");
    }
    drop(owner);
    let before = peak();
    let [sent, refused, slowest] = [(); 3].map(|()| Arc::<AtomicUsize>::default());
    let listed = json!({ "tables": ["t", "u", "docs", "places"] });
    let rights = [json!({}), listed, json!({ "readOnly": true })];
    for (round, access) in rights.into_iter().enumerate() {
        let sidecar = open(folder.path(), access).await;
        let callers = (0..CALLERS).map(|caller| {
            let sidecar = sidecar.clone();
            let [sent, refused, slowest] = [&sent, &refused, &slowest].map(Arc::clone);
            let mut statements = Statements::new(seed + (round * CALLERS + caller) as u64);
            tokio::spawn(async move {
                for _ in 0..count / 3 / CALLERS {
                    let (sql, params) = statements.next();
                    let begun = Instant::now();
                    let route = if statements.one_in(2) { "/sql/query" } else { "/sql/execute" };
                    let (status, body) = ask(&sidecar, route, &json!({ "sql": sql, "params": params })).await;
                    let shown: String = sql.chars().take(300).collect();
                    assert!([200, 400, 403, 413, 503, 504].contains(&status), "{status} {body}: {shown}");
                    assert!(!body.contains("canary"), "{shown}: {body}");
                    // The run's last line has the slowest answer. A machine with other work may take longer than the limit.
                    assert!(begun.elapsed() < STUCK, "{:?}: {shown}", begun.elapsed());
                    slowest.fetch_max(begun.elapsed().as_millis().try_into().unwrap(), Ordering::Relaxed);
                    sent.fetch_add(1, Ordering::Relaxed);
                    refused.fetch_add(usize::from(status != 200), Ordering::Relaxed);
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
        let (status, body) = ask(&sidecar, "/sql/query", &json!({ "sql": "SELECT 1 AS alive" })).await;
        assert_eq!((status, body.as_str()), (200, "{\"columns\":[\"alive\"],\"rows\":[{\"alive\":1}]}"));
    }
    let (sent, refused) = (sent.load(Ordering::Relaxed), refused.load(Ordering::Relaxed));
    let slowest = slowest.load(Ordering::Relaxed);
    println!("{sent} sent, {refused} refused, the slowest took {slowest} ms of {:?}", limits().statement_timeout);
    println!("resident memory before and at most: {before:?} and {:?} MiB", peak());
    // A generator that only makes errors attacks nothing.
    assert!(refused < sent * 9 / 10, "{refused} of {sent}");
    if let (Some(before), Some(peak)) = (before, peak()) {
        // The instances, and a body, a statement, its parameters and an answer for each caller.
        let most = limits().max_sqlite_memory_total / MIB + CALLERS * 24;
        assert!(peak - before <= most, "{} MiB more", peak - before);
    }
}
