//! The routes of SQL, on SQLite.

use super::SqlAccess;
use crate::BackendOptions;
use crate::testing::{NONE, Tested};

#[tokio::test]
async fn a_transaction_begins_without_a_body() {
    let sql = Tested::open("sql").await;
    let begun = sql.ask("POST /sql/transaction", &NONE, "").await;
    assert_eq!(begun.status, 201, "{}", begun.body);
    let named = [("tenon-transaction", begun.header("tenon-transaction"))];
    assert_eq!(sql.ask("DELETE /sql/transaction", &named, "").await.status, 204);
    for (body, status) in [("{\"isolation\":\"none\"}", 400), (" ", 400)] {
        assert_eq!(sql.ask("POST /sql/transaction", &NONE, body).await.status, status, "{body:?}");
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_even_without_statements() {
    let sql = Tested::open("sql").await;
    let (first, empty) = ("{\"statements\":[{\"sql\":\"SELECT 1\"}]}", "{\"statements\":[]}");
    let keyed = async |key, body| sql.ask("POST /sql/batch", &[("idempotency-key", key)], body).await;
    assert_eq!(keyed("a", first).await.status, 200);
    assert_eq!(keyed("b", empty).await.body, "{\"results\":[]}");
    assert_eq!(keyed("b", empty).await.header("idempotent-replayed"), "true");
    for (key, body) in [("a", empty), ("b", first)] {
        let refused = keyed(key, body).await;
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("\"detail\":\"this Idempotency-Key"), "{}", refused.body);
    }
    assert_eq!(sql.ask("POST /sql/batch", &NONE, empty).await.body, "{\"results\":[]}");
}

#[tokio::test]
async fn vacuum_runs_and_reaches_no_other_file() {
    let sql = Tested::open("sql").await;
    let run = async |statement: &str| {
        let body = serde_json::json!({ "sql": statement }).to_string();
        sql.ask("POST /sql/execute", &NONE, &body).await
    };
    for statement in [
        "CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT DEFAULT (upper('x')))",
        "CREATE INDEX t_b ON t (b)",
        "CREATE VIEW v AS SELECT b FROM t",
        "CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO t (b) VALUES ('y'); END",
        "INSERT INTO t (b) VALUES (hex(randomblob(100000)))",
        "UPDATE t SET b = 'small'",
    ] {
        assert_eq!(run(statement).await.status, 200, "{statement}");
    }
    for statement in ["VACUUM", " /* c */ -- d\n vacuum main", "VACUUM"] {
        let answer = run(statement).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "{\"rows_affected\":0}"), "{statement}");
    }
    assert!(sql.ask("POST /sql/query", &NONE, "{\"sql\":\"SELECT * FROM v\"}").await.body.contains("small"));
    let copy = sql.folder.path().join("copy.db");
    for statement in [format!("VACUUM INTO '{}'", copy.display()), "ATTACH '' AS x".into(), "/* VACUUM */ BEGIN".into()]
    {
        let refused = run(&statement).await;
        assert_eq!(refused.status, 403, "{statement}");
        assert!(!refused.body.contains("authoriz"), "{}", refused.body);
    }
    assert!(!copy.exists());
    let batch = "{\"statements\":[{\"sql\":\"VACUUM\"}]}";
    assert_eq!(sql.ask("POST /sql/batch", &NONE, batch).await.status, 400);
}

#[tokio::test]
async fn vacuum_is_refused_where_rights_are_bounded() {
    let read_only = SqlAccess { read_only: true, ..SqlAccess::default() };
    let listed = SqlAccess { tables: Some(["t".to_owned()].into()), ..SqlAccess::default() };
    for access in [read_only, listed] {
        let sql =
            Tested::open_with("sql", BackendOptions { access: access.clone(), ..BackendOptions::default() }).await;
        for statement in ["VACUUM", "VACUUM INTO ''"] {
            let refused = sql.ask("POST /sql/execute", &NONE, &format!("{{\"sql\":\"{statement}\"}}")).await;
            assert_eq!(refused.status, 403, "{access:?}: {}", refused.body);
            assert!(refused.body.contains("only statements that read"), "{}", refused.body);
        }
    }
}
