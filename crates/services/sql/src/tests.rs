//! The routes of SQL, on SQLite.

use serde_json::json;
use tenon_service::Limits;
use tenon_service::testing::{NONE, Tested};

use crate::KIND;

#[tokio::test]
async fn a_transaction_begins_without_a_body() {
    let sql = Tested::open(&KIND).await;
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
    let sql = Tested::open(&KIND).await;
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
async fn rows_are_arrays_on_request() {
    let sql = Tested::open(&KIND).await;
    let ask = async |rows: serde_json::Value| {
        let statement = "SELECT 'a' AS slug, 0, 1 AS id, 2 AS id";
        let body = json!({ "sql": statement, "rows": rows }).to_string();
        sql.ask("POST /sql/query", &NONE, &body).await
    };
    assert_eq!(ask("arrays".into()).await.body, r#"{"columns":["slug","0","id","id"],"rows":[["a",0,1,2]]}"#);
    let objects = r#"{"columns":["slug","0","id"],"rows":[{"slug":"a","0":0,"id":2}]}"#;
    assert_eq!(ask(serde_json::Value::Null).await.body, objects);
    for wrong in ["objects".into(), "".into(), "Arrays".into(), true.into(), 1.into(), json!(["arrays"])] {
        let refused = ask(wrong).await;
        assert_eq!(refused.status, 400);
        assert!(refused.body.contains("`rows` must be"), "{}", refused.body);
    }
    let few = sql.reopen(&KIND, json!({}), Limits { max_rows: 1, max_result_bytes: 60, ..Limits::default() }).await;
    for (statement, part) in
        [("SELECT 1 UNION ALL SELECT 2", "more than 1 rows"), ("SELECT hex(randomblob(30))", "larger than 60 bytes")]
    {
        let body = json!({ "sql": statement, "rows": "arrays" }).to_string();
        let refused = few.ask("POST /sql/query", &NONE, &body).await;
        assert_eq!(refused.status, 400);
        assert!(refused.body.contains(part), "{}", refused.body);
    }
}

#[tokio::test]
async fn vacuum_runs_and_reaches_no_other_file() {
    let sql = Tested::open(&KIND).await;
    let run = async |statement: &str| {
        let body = json!({ "sql": statement }).to_string();
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
    for access in [json!({ "readOnly": true }), json!({ "tables": ["t"] })] {
        let sql = Tested::open_with(&KIND, access.clone()).await;
        for statement in ["VACUUM", "VACUUM INTO ''"] {
            let refused = sql.ask("POST /sql/execute", &NONE, &format!("{{\"sql\":\"{statement}\"}}")).await;
            assert_eq!(refused.status, 403, "{access}: {}", refused.body);
            assert!(refused.body.contains("only statements that read"), "{}", refused.body);
        }
    }
}

fn body(sql: &str) -> String {
    json!({ "sql": sql }).to_string()
}

#[tokio::test]
async fn a_statement_of_the_sidecar_allows_no_callers_one() {
    let sql = Tested::open(&KIND).await;
    // The sidecar itself runs these words, on the same connection.
    assert_eq!(sql.ask("POST /sql/execute", &NONE, &body("CREATE TABLE t (a)")).await.status, 200);
    assert_eq!(sql.ask("POST /sql/execute", &NONE, &body("INSERT INTO t VALUES (1, 2)")).await.status, 400);
    let batch = "{\"statements\":[{\"sql\":\"INSERT INTO t VALUES (1)\"},{\"sql\":\"SELECT\"}]}";
    assert_eq!(sql.ask("POST /sql/batch", &NONE, batch).await.status, 400);
    for statement in ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "PRAGMA journal_mode = WAL", "PRAGMA foreign_keys = ON"]
    {
        for _ in 0..2 {
            assert_eq!(sql.ask("POST /sql/query", &NONE, &body(statement)).await.status, 403, "{statement}");
        }
    }
}

#[tokio::test]
async fn a_request_reads_no_state_of_another_one() {
    let sql = Tested::open(&KIND).await;
    let ask = async |statement: &str| sql.ask("POST /sql/query", &NONE, &body(statement)).await.body;
    let read = [
        "SELECT last_insert_rowid() AS a, changes() AS b, total_changes() AS c",
        "WITH w AS (SELECT last_insert_rowid() AS a, changes() AS b, total_changes() AS c) SELECT * FROM w",
        "SELECT * FROM v",
    ];
    ask("CREATE TABLE t (a INTEGER PRIMARY KEY)").await;
    ask("CREATE VIEW v AS SELECT last_insert_rowid() AS a, changes() AS b, total_changes() AS c").await;
    for _ in 0..3 {
        for statement in read {
            let found = ask(statement).await;
            assert!(found.contains("\"rows\":[{\"a\":0,\"b\":0,\"c\":0}]"), "{statement}: {found}");
            ask("INSERT INTO t SELECT coalesce(max(a), 40) + 2 FROM t").await;
        }
    }
    let both = batch_of(&["INSERT INTO t VALUES (7)", read[0], read[1]], true);
    let own = sql.ask("POST /sql/batch", &NONE, &both).await.body;
    assert_eq!(own.matches("{\"a\":7,\"b\":1,\"c\":1}").count(), 2, "{own}");
}

#[tokio::test]
async fn two_requests_do_not_end_the_server() {
    let sql = Tested::open(&KIND).await;
    assert_eq!(sql.ask("POST /sql/execute", &NONE, &body("CREATE TABLE t (bio TEXT)")).await.status, 200);
    let ask = async |route, statement, value: String| {
        let body = json!({ "sql": statement, "params": [value] }).to_string();
        sql.ask(route, &NONE, &body).await
    };
    let stored = ask("POST /sql/execute", "INSERT INTO t VALUES (?)", "a".repeat(24_900)).await;
    assert_eq!(stored.status, 200);
    let searched = ask("POST /sql/query", "SELECT bio FROM t WHERE bio LIKE ?", "%a".repeat(24_900)).await;
    assert_eq!(searched.status, 400);
    assert!(searched.body.contains("pattern too complex"), "{}", searched.body);
    let blob = "{\"sql\":\"SELECT fts3_tokenizer('x', ?1)\",\"params\":[{\"base64\":\"QUFBQUFBQUE=\"}]}";
    assert_eq!(sql.ask("POST /sql/query", &NONE, blob).await.status, 400);
}

#[tokio::test]
async fn functions_are_an_allow_list() {
    let sql = Tested::open(&KIND).await;
    let every = "SELECT DISTINCT lower(name) AS name FROM pragma_function_list ORDER BY 1";
    let names = sql.ask("POST /sql/query", &NONE, &body(every)).await.body;
    let names: serde_json::Value = serde_json::from_str(&names).unwrap();
    let names: Vec<&str> = names["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let refused: Vec<&str> = names.into_iter().filter(|name| !super::sqlite::functions::is_allowed(name)).collect();
    assert_eq!(
        refused,
        [
            "fts5",
            "fts5_insttoken",
            "fts5_source_id",
            "rtreecheck",
            "rtreedepth",
            "rtreenode",
            "sqlite_compileoption_get",
            "sqlite_compileoption_used",
            "sqlite_log",
            "subtype",
        ]
    );
    for statement in ["SELECT sqlite_log(1, 'x')", "SELECT rtreecheck('t')", "SELECT hex(fts5(NULL))"] {
        let answer = sql.ask("POST /sql/query", &NONE, &body(statement)).await;
        assert_eq!(answer.status, 403, "{}", answer.body);
        assert!(answer.body.contains("a function is not among those that are allowed"), "{}", answer.body);
    }
}

#[tokio::test]
async fn search_trees_and_texts_work() {
    let sql = Tested::open(&KIND).await;
    for statement in [
        "CREATE VIRTUAL TABLE places USING rtree(id, west, east, south, north)",
        "INSERT INTO places VALUES (1, 0, 1, 0, 1), (2, 5, 6, 5, 6)",
        "CREATE VIRTUAL TABLE docs USING fts5(text)",
        "INSERT INTO docs VALUES ('a red house'), ('a blue house')",
        "CREATE TABLE t (a, b)",
        "INSERT INTO t VALUES (1, 'x')",
        "ALTER TABLE t RENAME COLUMN b TO c",
        "ALTER TABLE t ADD COLUMN d",
        "ALTER TABLE t DROP COLUMN a",
        "ALTER TABLE t RENAME TO u",
        "CREATE INDEX u_c ON u (lower(c))",
        "ANALYZE",
        "REINDEX",
    ] {
        let answer = sql.ask("POST /sql/execute", &NONE, &body(statement)).await;
        assert_eq!(answer.status, 200, "{statement}: {}", answer.body);
    }
    for (statement, part) in [
        ("SELECT id FROM places WHERE west >= 4 AND north <= 7", "[{\"id\":2}]"),
        (
            "SELECT snippet(docs, 0, '[', ']', '', 3) AS s, bm25(docs) < 0 AS b FROM docs WHERE docs MATCH 'red'",
            "a [red] house",
        ),
        ("SELECT c, d FROM u", "{\"c\":\"x\",\"d\":null}"),
    ] {
        let answer = sql.ask("POST /sql/query", &NONE, &body(statement)).await;
        assert!(answer.body.contains(part), "{statement}: {}", answer.body);
    }
    // A virtual table that is listed keeps its data in others, which a caller may read and not write.
    let listed = sql.reopen(&KIND, json!({ "tables": ["docs", "places"] }), Limits::default()).await;
    for (statement, status) in [
        ("SELECT text FROM docs WHERE docs MATCH 'red'", 200),
        ("INSERT INTO docs VALUES ('a green house')", 200),
        ("SELECT id FROM places WHERE west >= 4", 200),
        ("INSERT INTO places VALUES (3, 0, 1, 0, 1)", 200),
        ("SELECT * FROM u", 403),
        ("DELETE FROM docs_content", 400),
        ("DROP TABLE docs", 403),
    ] {
        let answer = listed.ask("POST /sql/execute", &NONE, &body(statement)).await;
        assert_eq!(answer.status, status, "{statement}: {}", answer.body);
    }
}

#[tokio::test]
async fn lists_hold_for_natural_joins_views_and_tables_of_the_same_prefix() {
    let sql = Tested::open(&KIND).await;
    for statement in [
        "CREATE TABLE open (x INTEGER)",
        "CREATE TABLE secrets (x INTEGER)",
        "CREATE TABLE open_data (x INTEGER)",
        "CREATE VIEW joined AS SELECT open.x FROM open NATURAL JOIN secrets",
        "CREATE TABLE json_each (value)",
        "CREATE TABLE guess (seq INTEGER)",
        "CREATE TABLE counted (x INTEGER PRIMARY KEY AUTOINCREMENT, y)",
        "CREATE TABLE owner (x INTEGER PRIMARY KEY)",
        "CREATE TABLE owned (x INTEGER REFERENCES owner ON DELETE CASCADE)",
        "INSERT INTO open VALUES (123456), (1)",
        "INSERT INTO secrets VALUES (123456)",
    ] {
        assert_eq!(sql.ask("POST /sql/execute", &NONE, &body(statement)).await.status, 200, "{statement}");
    }
    let access = json!({ "tables": ["open", "joined", "owner", "counted", "guess"] });
    let sql = sql.reopen(&KIND, access, Limits::default()).await;
    for statement in [
        "SELECT open.x FROM open NATURAL JOIN secrets",
        "SELECT count(*) FROM open JOIN secrets USING (x)",
        "SELECT open.x FROM open NATURAL LEFT JOIN secrets",
        "SELECT open.x FROM open NATURAL FULL JOIN secrets",
        "SELECT 1 FROM secrets NATURAL JOIN (SELECT x FROM open)",
        "WITH RECURSIVE open(x) AS (SELECT 123456) SELECT open.x FROM open NATURAL JOIN secrets",
        "SELECT (SELECT count(*) FROM open NATURAL JOIN secrets)",
        "DELETE FROM open WHERE x IN (SELECT open.x FROM open NATURAL JOIN secrets)",
        "SELECT * FROM joined",
        "SELECT x FROM open_data",
        "INSERT INTO open_data VALUES (1)",
        "DELETE FROM owner",
        "EXPLAIN SELECT open.x FROM open NATURAL JOIN secrets",
        "SELECT 1 FROM json_each NATURAL JOIN open",
        "SELECT 1 FROM open NATURAL JOIN sqlite_sequence",
        "SELECT guess.seq FROM guess NATURAL JOIN sqlite_sequence",
        "SELECT guess.seq FROM guess NATURAL JOIN main.[SQLite_Sequence]",
        "INSERT INTO counted (y) SELECT 1 FROM open NATURAL JOIN \"SQLITE_SEQUENCE\"",
        "SELECT name FROM sqlite_schema",
        "SELECT * FROM pragma_table_info('secrets')",
    ] {
        let answer = sql.ask("POST /sql/query", &NONE, &body(statement)).await;
        assert_eq!(answer.status, 403, "{statement}: {}", answer.body);
        assert!(!answer.body.contains("secrets"), "{statement}: {}", answer.body);
    }
    assert_eq!(
        sql.ask("POST /sql/query", &NONE, &body("SELECT a.x FROM open a NATURAL JOIN open b")).await.status,
        200
    );
}
const PARENT: &str = "CREATE TABLE parent (id INTEGER PRIMARY KEY)";
const CHILD: &str =
    "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) ON DELETE CASCADE)";
const ROWS: [&str; 2] = ["INSERT INTO parent VALUES (1)", "INSERT INTO child VALUES (1, 1), (2, 1)"];
const REBUILD: [&str; 4] = [
    "CREATE TABLE other (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO other (id) SELECT id FROM parent",
    "DROP TABLE parent",
    "ALTER TABLE other RENAME TO parent",
];

fn batch_of(statements: &[&str], foreign_keys: bool) -> String {
    let statements: Vec<_> = statements.iter().map(|sql| json!({ "sql": sql })).collect();
    json!({ "statements": statements, "foreign_keys": foreign_keys }).to_string()
}

#[tokio::test]
async fn a_table_is_rebuilt_without_foreign_keys_and_only_then() {
    for in_transaction in [false, true] {
        let sql = Tested::open(&KIND).await;
        let count = async || sql.ask("POST /sql/query", &NONE, "{\"sql\":\"SELECT count(*) FROM child\"}").await.body;
        let send = async |statements: &[&str], foreign_keys: bool| {
            if !in_transaction {
                return sql.ask("POST /sql/batch", &NONE, &batch_of(statements, foreign_keys)).await;
            }
            let body = json!({ "foreign_keys": foreign_keys }).to_string();
            let begun = sql.ask("POST /sql/transaction", &NONE, &body).await;
            let named = [("tenon-transaction", begun.header("tenon-transaction"))];
            let ran = sql.ask("POST /sql/batch", &named, &batch_of(statements, true)).await;
            if ran.status == 200 { sql.ask("POST /sql/transaction/commit", &named, "").await } else { ran }
        };
        assert!(send(&[PARENT, CHILD, ROWS[0], ROWS[1]], true).await.status < 300);
        let rebuilt = send(&REBUILD, false).await;
        assert!(rebuilt.status < 300, "{}", rebuilt.body);
        assert!(count().await.contains(":2}"), "{}", count().await);
        // The next requests have foreign keys, on each connection of the pool.
        for _ in 0..3 {
            let refused = send(&["INSERT INTO child VALUES (3, 9)"], true).await;
            assert!(refused.body.contains("FOREIGN KEY constraint failed"), "{}", refused.body);
        }
        let refused = send(&["INSERT INTO child VALUES (3, 9)"], false).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.body.contains("row 3 of child refers to a missing row of parent"), "{}", refused.body);
        assert!(count().await.contains(":2}"));
        // Views that name the table are left alone on demand, and other pragmas are not changed.
        assert!(send(&["CREATE VIEW v AS SELECT id FROM parent"], true).await.status < 300);
        let broken = send(&REBUILD, false).await;
        assert_eq!(broken.status, 400, "{}", broken.body);
        assert!(broken.body.contains("error in view v"), "{}", broken.body);
        let legacy = ["PRAGMA legacy_alter_table = ON", REBUILD[0], REBUILD[1], REBUILD[2], REBUILD[3]];
        let rebuilt = send(&legacy, false).await;
        assert!(rebuilt.status < 300, "{}", rebuilt.body);
        assert_eq!(send(&["PRAGMA legacy_alter_table = ON"], true).await.status, 403);
        assert_eq!(send(&["PRAGMA recursive_triggers = ON"], false).await.status, 403);
        assert!(send(&ROWS, true).await.status >= 400);
        // A row that had no parent before may stay so.
        assert!(send(&["DELETE FROM parent", "INSERT INTO parent (id) VALUES (1)"], true).await.status < 300);
        assert!(count().await.contains(":0}"), "deleting cascades with foreign keys");
    }
}

#[tokio::test]
async fn foreign_keys_stay_where_a_sidecar_limits_statements() {
    for access in [json!({ "tables": ["child"] }), json!({ "readOnly": true })] {
        let sql = Tested::open_with(&KIND, access).await;
        for (route, body) in
            [("batch", batch_of(&["SELECT 1"], false)), ("transaction", "{\"foreign_keys\":false}".into())]
        {
            assert_eq!(sql.ask(&format!("POST /sql/{route}"), &NONE, &body).await.status, 403, "{route}");
        }
    }
    let sql = Tested::open(&KIND).await;
    for body in ["{\"foreign_keys\":0}", "{\"foreign_keys\":\"off\"}"] {
        assert_eq!(sql.ask("POST /sql/transaction", &NONE, body).await.status, 400, "{body}");
    }
}
