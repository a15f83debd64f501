//! The routes of cron, on SQLite.

use tenon_service::testing::{NONE, Tested};

use crate::KIND;

/// Numbers that a JSON reader writes in another way.
const NUMBERS: &str = "[0.36788125622167067,44991844480302180000,12345678901234567890123,1.50,-0]";

fn job(name: &str, more: &str) -> String {
    format!("{{\"name\":\"{name}\",\"schedule\":\"@daily\",\"module\":\"m\",\"method\":\"POST\"{more}}}")
}

#[tokio::test]
async fn bodies_keep_their_numbers() {
    let cron = Tested::open(&KIND).await;
    let body = format!("\"body\":{NUMBERS}");
    let (added, declared) = (job("a", &format!(",{body}")), job("b", &format!(",{body}")));
    assert!(cron.ask("POST /cron", &NONE, &added).await.body.contains(&body));
    let declared = format!("{{\"owner\":\"shop\",\"jobs\":[{declared}]}}");
    assert_eq!(cron.ask("PUT /cron-jobs", &NONE, &declared).await.body.matches(&body).count(), 2);
    assert_eq!(cron.ask("GET /cron", &NONE, "").await.body.matches(&body).count(), 2);
    assert!(cron.ask("PATCH /cron/a", &NONE, "{\"path\":\"/x\"}").await.body.contains(&body));
    assert_eq!(cron.ask("POST /cron/a/trigger", &NONE, "").await.status, 202);
    let leased = cron.ask("POST /cron-runs/lease", &NONE, "{\"modules\":[\"m\"]}").await.body;
    assert!(leased.contains(&format!("\"body\":\"{NUMBERS}\"")), "{leased}");
    assert!(!cron.ask("PATCH /cron/a", &NONE, "{\"body\":null}").await.body.contains("\"body\""));
}

#[tokio::test]
async fn no_concurrent_change_is_lost() {
    let cron = Tested::open(&KIND).await;
    assert_eq!(cron.ask("POST /cron", &NONE, &job("a", "")).await.status, 201);
    for round in 0..40 {
        let (path, module) = (format!("{{\"path\":\"/{round}\"}}"), format!("{{\"module\":\"m{round}\"}}"));
        let patches = (cron.ask("PATCH /cron/a", &NONE, &path), cron.ask("PATCH /cron/a", &NONE, &module));
        let (first, second) = tokio::join!(patches.0, patches.1);
        assert_eq!((first.status, second.status), (200, 200));
        let both = cron.ask("GET /cron/a", &NONE, "").await.body;
        assert!(both.contains(&path[1..path.len() - 1]) && both.contains(&module[1..module.len() - 1]), "{both}");
    }
    assert_eq!(cron.ask("PATCH /cron/a", &NONE, "{\"path\":\"x\"}").await.status, 400);
    assert_eq!(cron.ask("PATCH /cron/none", &NONE, "{}").await.status, 404);
}

#[tokio::test]
async fn a_deleted_job_does_not_come_back() {
    let cron = Tested::open(&KIND).await;
    for _ in 0..40 {
        assert_eq!(cron.ask("POST /cron", &NONE, &job("a", "")).await.status, 201);
        let patch = cron.ask("PATCH /cron/a", &NONE, "{\"path\":\"/x\"}");
        let (_, deleted) = tokio::join!(patch, cron.ask("DELETE /cron/a", &NONE, ""));
        assert_eq!((deleted.status, cron.ask("GET /cron/a", &NONE, "").await.status), (204, 404));
    }
}

#[tokio::test]
async fn a_path_that_is_no_text_is_a_problem() {
    let cron = Tested::open(&KIND).await;
    for target in ["GET /cron/%FF", "PATCH /cron/%FF", "GET /cron/%FF/history"] {
        let answer = cron.ask(target, &NONE, "{}").await;
        assert_eq!((answer.status, answer.header("content-type")), (400, "application/problem+json"), "{target}");
    }
}
