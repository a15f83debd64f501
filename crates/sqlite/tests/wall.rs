//! SQLite inside its wall: what works there, and what the wall stops.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tenon_sqlite::{Action, Budget, Connection, Ended, Error, Library, Options, Prepared, Rules, Value};

const MIB: usize = 1 << 20;

/// Allows everything.
struct Everything;

impl Rules for Everything {
    fn allow(&mut self, _: Action<'_>, _: Option<&str>, _: Option<&str>) -> bool {
        true
    }
}

fn budget() -> Budget {
    Budget::new(512 * MIB, 256 * MIB, 256 * MIB)
}

fn open_with(path: Option<&Path>, budget: Budget) -> Connection {
    let mut connection = connect(path, budget);
    connection.query("PRAGMA journal_mode = WAL", &[]).unwrap();
    connection
}

fn connect(path: Option<&Path>, budget: Budget) -> Connection {
    let library = Library::load(None).unwrap();
    let options = Options {
        path: path.map(Path::to_path_buf),
        wait: Duration::from_secs(5),
        max_value_bytes: 20 * MIB,
        budget,
        rules: Box::new(Everything),
    };
    Connection::open(&library, options).unwrap()
}

fn open(path: &Path) -> Connection {
    open_with(Some(path), budget())
}

fn memory() -> Connection {
    open_with(None, budget())
}

fn number(connection: &mut Connection, sql: &str) -> i64 {
    match connection.query(sql, &[]).unwrap()[0][0] {
        Value::Integer(number) => number,
        ref other => panic!("{other:?}"),
    }
}

fn code(error: Error) -> i32 {
    match error {
        Error::Sqlite { code, .. } => code & 0xff,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_come_back_as_they_were_bound() {
    let mut connection = memory();
    let values = [
        Value::Null,
        Value::Integer(i64::MIN),
        Value::Real(-0.1),
        Value::Text(String::new()),
        Value::Text("ä\u{1f600}".repeat(10_000)),
        Value::Blob(vec![]),
        Value::Blob((0..=255).collect()),
    ];
    let sql = "SELECT ?, ?, ?, ?, ?, ?, ?";
    for _ in 0..3 {
        assert_eq!(connection.query(sql, &values).unwrap(), [values.to_vec()]);
    }
    let prepared = connection.prepare("SELECT 1 AS a, ?2, :b").unwrap();
    assert_eq!(connection.parameters(prepared).unwrap(), [None, Some("?2".into()), Some(":b".into())]);
    assert_eq!(connection.columns(prepared).unwrap()[0].name, "a");
}

#[test]
fn a_text_has_one_statement() {
    let mut connection = memory();
    for (sql, kind) in
        [("SELECT 1; SELECT 2", "Several"), (" -- c\n;", "Nothing"), ("SELECT '\0'", "Zero"), ("", "Nothing")]
    {
        let error = connection.prepare(sql).unwrap_err();
        assert!(format!("{error:?}").starts_with(kind), "{sql:?}: {error:?}");
    }
    connection.prepare("SELECT 1 ; -- c\n /* d */ ;").unwrap();
    assert_eq!(code(connection.prepare("SELECT 1; SELEC").unwrap_err()), 1);
    assert_eq!(code(connection.prepare("SELEC").unwrap_err()), 1);
    assert!(connection.ended().is_none());
}

#[test]
fn connections_and_other_programs_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut first = open(&path);
    first.query("CREATE TABLE t (a INTEGER)", &[]).unwrap();
    let mut second = open(&path);
    // Another library, with locks of its own kind, sees the same.
    let native = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(native.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0)).unwrap(), "wal");
    for connection in [&mut first, &mut second] {
        connection.query("INSERT INTO t VALUES (1)", &[]).unwrap();
    }
    native.execute("INSERT INTO t VALUES (2)", []).unwrap();
    for connection in [&mut first, &mut second] {
        assert_eq!(number(connection, "SELECT sum(a) FROM t"), 4);
    }
    // A writer excludes writers, and no readers.
    first.query("BEGIN IMMEDIATE", &[]).unwrap();
    first.query("INSERT INTO t VALUES (100)", &[]).unwrap();
    second.watch(Some(Instant::now() + Duration::from_millis(50)), None);
    assert!(second.query("INSERT INTO t VALUES (1000)", &[]).is_err());
    second.watch(None, None);
    native.busy_timeout(Duration::ZERO).unwrap();
    assert!(native.execute("INSERT INTO t VALUES (1000)", []).is_err());
    assert_eq!(number(&mut second, "SELECT sum(a) FROM t"), 4);
    // The end of a connection rolls its transaction back.
    drop(first);
    assert_eq!(number(&mut second, "SELECT sum(a) FROM t"), 4);
    native.execute("INSERT INTO t VALUES (5)", []).unwrap();
    assert_eq!(number(&mut second, "SELECT sum(a) FROM t"), 9);
    assert_eq!(second.query("PRAGMA integrity_check", &[]).unwrap(), [[Value::from("ok")]]);
}

#[test]
fn many_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    open(&path).query("CREATE TABLE t (a INTEGER)", &[]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut connection = open(&path);
                for _ in 0..50 {
                    connection.query("BEGIN IMMEDIATE", &[]).unwrap();
                    connection.query("INSERT INTO t SELECT count(*) FROM t", &[]).unwrap();
                    connection.query("COMMIT", &[]).unwrap();
                }
            });
        }
        scope.spawn(|| {
            let native = rusqlite::Connection::open(&path).unwrap();
            native.busy_timeout(Duration::from_secs(60)).unwrap();
            for _ in 0..50 {
                native.execute_batch("BEGIN IMMEDIATE; INSERT INTO t SELECT count(*) FROM t; COMMIT").unwrap();
            }
        });
    });
    let mut connection = open(&path);
    assert_eq!(number(&mut connection, "SELECT count(DISTINCT a) FROM t"), 250);
    assert_eq!(number(&mut connection, "SELECT max(a) FROM t"), 249);
}

#[test]
fn a_log_of_many_chunks_is_read_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut writer = open(&path);
    let mut reader = open(&path);
    writer.query("PRAGMA wal_autocheckpoint = 0", &[]).unwrap();
    writer.query("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)", &[]).unwrap();
    // 4,096 pages fill a region of the index, and two regions a chunk.
    writer.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) INSERT INTO t SELECT i, hex(zeroblob(2000)) FROM n", &[]).unwrap();
    assert_eq!(number(&mut reader, "SELECT count(*) FROM t"), 12_000);
    writer.query("UPDATE t SET b = 'x' WHERE a = 12000", &[]).unwrap();
    assert_eq!(number(&mut reader, "SELECT sum(length(b)) FROM t"), 11_999 * 4000 + 1);
    writer.query("PRAGMA wal_checkpoint(TRUNCATE)", &[]).unwrap();
    assert_eq!(number(&mut reader, "SELECT sum(length(b)) FROM t"), 11_999 * 4000 + 1);
    drop((writer, reader));
    assert!(folder.path().join("a.db").metadata().unwrap().len() > 40_000_000);
}

#[test]
fn a_journal_of_a_dead_writer_is_played_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut connection = open(&path);
    connection.query("PRAGMA journal_mode = DELETE", &[]).unwrap();
    connection.query("CREATE TABLE t (a TEXT)", &[]).unwrap();
    connection.query("INSERT INTO t VALUES ('before')", &[]).unwrap();
    connection.query("PRAGMA cache_size = 1", &[]).unwrap();
    connection.query("BEGIN", &[]).unwrap();
    connection.query("UPDATE t SET a = hex(zeroblob(1000000))", &[]).unwrap();
    drop(connection);
    assert!(folder.path().join("a.db-journal").exists());
    assert_eq!(open(&path).query("SELECT a FROM t", &[]).unwrap(), [[Value::from("before")]]);
}

#[test]
fn statements_end_in_time_wherever_they_are() {
    // Each takes minutes: in SQLite's machine, in one call of a function, and while it is compiled.
    let text = "x'61'||zeroblob(1)";
    for sql in [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n".to_owned(),
        "SELECT replace(hex(zeroblob(5000000)), hex(zeroblob(2400000)) || '1', 'x')".to_owned(),
        "SELECT hex(zeroblob(9000000)) LIKE '%' || hex(zeroblob(2400)) || '1'".to_owned(),
        "SELECT trim(hex(zeroblob(4000000)), replace(hex(zeroblob(900000)), '0', 'y') || '0')".to_owned(),
        format!("SELECT instr({text}||zeroblob(9000000), zeroblob(4000000)||x'02')"),
    ] {
        // A busy machine delays some run, but not each.
        let took = || {
            let mut connection = memory();
            let begun = Instant::now();
            connection.watch(Some(begun + Duration::from_millis(300)), None);
            let error = connection.query(&sql, &[]).expect_err(&sql);
            assert!(matches!(error, Error::Ended(Ended::Time) | Error::Sqlite { code: 9, .. }), "{sql}: {error:?}");
            begun.elapsed()
        };
        assert!((0..5).any(|_| took() < Duration::from_millis(1300)), "{sql}");
    }
}

#[test]
fn a_statement_ends_when_its_client_leaves() {
    let left = Arc::<AtomicBool>::default();
    let mut connection = memory();
    connection.watch(None, Some(Arc::clone(&left)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            left.store(true, Ordering::Relaxed);
        });
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
        assert_eq!(code(connection.query(sql, &[]).unwrap_err()), 9);
    });
    connection.watch(None, None);
    assert_eq!(number(&mut connection, "SELECT 7"), 7);
}

#[test]
fn memory_has_a_sum() {
    let budget = Budget::new(160 * MIB, 100 * MIB, MIB);
    let mut first = open_with(None, budget.clone());
    let wide = |columns: usize| vec!["hex(zeroblob(7500000))"; columns].join(", ");
    assert_eq!(code(first.query(&format!("SELECT {}", wide(80)), &[]).unwrap_err()), 7);
    assert_eq!(number(&mut first, "SELECT length(hex(zeroblob(7500000)))"), 15_000_000);
    assert!(budget.memory() <= 160 * MIB && first.memory() > 15_000_000, "{}", budget.memory());
    let mut second = open_with(None, budget.clone());
    // The second one may have as much, but not while the first one holds it.
    let failed = second.query(&format!("SELECT {}", wide(4)), &[]);
    assert!(matches!(failed, Err(Error::Crowded)), "{failed:?}, {} of the budget", budget.memory());
    drop(first);
    assert!(second.query(&format!("SELECT {}", wide(2)), &[]).is_ok());
    drop(second);
    assert_eq!(budget.memory(), 0);
}

#[test]
fn a_parameter_that_others_leave_no_memory_for_says_so() {
    let budget = Budget::new(30 * MIB, 28 * MIB, MIB);
    let (mut first, mut second) = (open_with(None, budget.clone()), open_with(None, budget));
    let blob = [Value::Blob(vec![0; 15 * MIB])];
    assert_eq!(first.query("SELECT length(?)", &blob).unwrap(), [[Value::Integer(15 << 20)]]);
    assert!(matches!(second.query("SELECT length(?)", &blob), Err(Error::Crowded)));
    drop(first);
    assert!(second.query("SELECT length(?)", &blob).is_ok());
    let larger = [Value::Blob(vec![0; 29 * MIB])];
    assert_eq!(code(second.query("SELECT length(?)", &larger).unwrap_err()), 7);
}

#[test]
fn temporary_files_have_a_sum() {
    let budget = Budget::new(512 * MIB, 64 * MIB, 4 * MIB);
    let mut connection = open_with(None, budget.clone());
    let sort = |rows| {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
             SELECT count(*) FROM (SELECT i, hex(randomblob(500)) AS b FROM n ORDER BY b LIMIT 1000000)"
        )
    };
    assert_eq!(code(connection.query(&sort(100_000), &[]).unwrap_err()), 13);
    assert_eq!(budget.files(), 0);
    assert_eq!(number(&mut connection, &sort(1000)), 1000);
    assert_eq!(budget.files(), 0);
}

#[test]
fn deep_statements_are_errors() {
    for sql in [
        format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("SELECT {}1", "-".repeat(900_000).replace("--", "- ")),
        format!("SELECT {} 1", "NOT ".repeat(200_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(501)),
        format!("SELECT json('{}')", "[".repeat(500_000)),
        format!("SELECT 'a' LIKE '{}'", "%a".repeat(24_900)),
        format!("SELECT {}1{}", "(SELECT ".repeat(5000), ")".repeat(5000)),
        "x".repeat(1_000_001),
    ] {
        let mut connection = memory();
        let error = connection.query(&sql, &[]).expect_err(&sql[..80]);
        assert!(matches!(error, Error::Sqlite { .. } | Error::Ended(Ended::Depth)), "{}: {error:?}", &sql[..80]);
    }
}

#[test]
fn no_limit_is_the_librarys_own() {
    // The number of limits in `sqlite3.h` is that of the table and `SQLITE_LIMIT_LENGTH`.
    let mut connection = memory();
    assert_eq!(tenon_sqlite::LIMITS.map(|(limit, ..)| limit), std::array::from_fn(|at| at as i32 + 1));
    let pattern = |bytes: usize| [Value::Text("%a".repeat(bytes / 2))];
    assert_eq!(connection.query("SELECT 'b' LIKE ?", &pattern(5000)).unwrap(), [[Value::Integer(0)]]);
    let error = connection.query("SELECT 'b' LIKE ?", &pattern(5002)).unwrap_err().to_string();
    assert_eq!(error, "LIKE or GLOB pattern too complex");
}

fn opened(connection: &mut Connection, sql: &str) -> Vec<String> {
    let prepared: Prepared = connection.prepare(sql).unwrap();
    let mut tables: Vec<String> = connection.opened(prepared).unwrap().into_iter().map(|(_, table)| table).collect();
    tables.sort();
    tables.dedup();
    tables
}

#[test]
fn every_table_that_is_opened_is_reported() {
    let mut connection = memory();
    for sql in [
        "CREATE TABLE a (id INTEGER PRIMARY KEY, x)",
        "CREATE TABLE b (id INTEGER PRIMARY KEY, x)",
        "CREATE TABLE c (id INTEGER PRIMARY KEY REFERENCES a ON DELETE CASCADE, x)",
        "CREATE INDEX b_x ON b (x)",
        "CREATE TABLE h (seq)",
        "CREATE TABLE k (id INTEGER PRIMARY KEY AUTOINCREMENT, x)",
        "CREATE TABLE w (k PRIMARY KEY) WITHOUT ROWID",
        "CREATE VIEW v AS SELECT * FROM a NATURAL JOIN b",
        "CREATE TRIGGER r AFTER INSERT ON w BEGIN UPDATE b SET x = 1; END",
        "CREATE VIRTUAL TABLE f USING fts5(t)",
        "CREATE VIRTUAL TABLE g USING rtree(id, x1, x2)",
    ] {
        connection.query(sql, &[]).unwrap();
    }
    for (sql, tables) in [
        ("SELECT 1", vec![]),
        ("SELECT a.x FROM a NATURAL JOIN b", vec!["a", "b"]),
        ("SELECT 1 FROM a JOIN b USING (id, x)", vec!["a", "b"]),
        ("SELECT x FROM b WHERE x = 1", vec!["b"]),
        ("SELECT * FROM v", vec!["a", "b"]),
        ("SELECT (SELECT k FROM w) IN (SELECT x FROM b)", vec!["b", "w"]),
        ("WITH a AS (SELECT x FROM b) SELECT * FROM a", vec!["b"]),
        ("INSERT INTO w VALUES (1)", vec!["b", "w"]),
        ("DELETE FROM a WHERE id = 1", vec!["a", "c"]),
        ("DELETE FROM b", vec!["b"]),
        ("SELECT * FROM f('x')", vec!["f"]),
        ("INSERT INTO g VALUES (1, 2, 3)", vec!["g"]),
        ("SELECT value FROM json_each('[1]')", vec!["json_each"]),
        ("SELECT name FROM sqlite_schema", vec!["sqlite_master"]),
        ("INSERT INTO k (x) VALUES (1)", vec!["k", "sqlite_sequence"]),
        ("SELECT h.seq FROM h NATURAL JOIN sqlite_sequence", vec!["h", "sqlite_sequence"]),
        ("SELECT * FROM pragma_table_info('a')", vec!["pragma_table_info"]),
    ] {
        assert_eq!(opened(&mut connection, sql), tables, "{sql}");
    }
    assert_eq!(connection.shadowed("f_content").unwrap(), Some("f"));
    assert_eq!(connection.shadowed("a_content").unwrap(), None);
}

#[test]
fn a_statement_that_is_compiled_again_reports_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (mut reader, mut owner) = (open(&path), open(&path));
    owner.query("CREATE TABLE a (x)", &[]).unwrap();
    owner.query("CREATE TABLE b (x)", &[]).unwrap();
    owner.query("CREATE VIEW v AS SELECT x FROM a", &[]).unwrap();
    let prepared = reader.prepare("SELECT * FROM v").unwrap();
    assert_eq!(reader.opened(prepared).unwrap(), [("main".to_owned(), "a".to_owned())]);
    owner.query("DROP VIEW v", &[]).unwrap();
    owner.query("CREATE VIEW v AS SELECT x FROM b", &[]).unwrap();
    let before = reader.renewals(prepared).unwrap();
    assert!(!reader.step(prepared).unwrap());
    assert_eq!(reader.renewals(prepared).unwrap(), before + 1);
    assert_eq!(reader.opened(prepared).unwrap(), [("main".to_owned(), "b".to_owned())]);
}

#[test]
fn what_nobody_asked_for_is_not_compiled_in() {
    let mut connection = memory();
    for sql in [
        "SELECT fts3_tokenizer('simple')",
        "CREATE VIRTUAL TABLE t USING fts3(a)",
        "CREATE VIRTUAL TABLE t USING fts4(a)",
        "SELECT load_extension('x')",
        "SELECT * FROM dbstat",
        "ATTACH '/etc/passwd' AS x",
        "ATTACH 'file:/tmp/x?mode=rwc' AS x",
        "VACUUM INTO '/tmp/x'",
    ] {
        assert!(connection.query(sql, &[]).is_err(), "{sql}");
        assert!(connection.ended().is_none(), "{sql}");
    }
    for sql in ["SELECT sqrt(2)", "SELECT soundex('a')", "SELECT json('[1]')", "SELECT date('now')"] {
        assert!(connection.query(sql, &[]).is_ok(), "{sql}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    const FOLDER: &str = "TENON_SQLITE_FULL_DISK";
    let Some(folder) = std::env::var_os(FOLDER).map(std::path::PathBuf::from) else {
        // The test runs again in a process that sees a small file system, where the system allows that.
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "mount -t tmpfs -o size=1m tmpfs \"${FOLDER}\" || exit 77; exec \"$0\" --exact a_full_disk_is_an_error"
        );
        let mut again = std::process::Command::new("unshare");
        again.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
        let Ok(done) = again.arg(std::env::current_exe().unwrap()).env(FOLDER, folder.path()).output() else { return };
        let text = String::from_utf8_lossy(&done.stderr);
        let is_allowed = done.status.code() != Some(77) && !text.starts_with("unshare: ");
        assert!(done.status.success() || !is_allowed, "{}: {text}", done.status);
        return;
    };
    let (path, rest) = (folder.join("a.db"), folder.join("rest"));
    open(&path).query("CREATE TABLE t (a)", &[]).unwrap();
    rusqlite::Connection::open(&path).unwrap().query_row("SELECT count(*) FROM t", [], |_| Ok(())).unwrap();
    assert!(!folder.join("a.db-shm").exists());
    assert!(std::fs::write(&rest, vec![0; 2 * MIB]).is_err());
    let mut connection = connect(Some(&path), budget());
    assert_eq!(code(connection.query("SELECT count(*) FROM t", &[]).unwrap_err()), 10);
    std::fs::remove_file(&rest).unwrap();
    assert_eq!(number(&mut connection, "SELECT count(*) FROM t"), 0);
    // A statement that fills the disk fails, and nothing else.
    let fill = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) SELECT zeroblob(900) FROM n";
    assert_eq!(code(connection.query(fill, &[]).unwrap_err()), 13);
    connection.query("INSERT INTO t VALUES (1)", &[]).unwrap();
    assert_eq!(number(&mut connection, "SELECT count(*) FROM t"), 1);
}

#[test]
fn what_the_host_holds_has_bounds() {
    let mut connection = memory();
    let name = "n".repeat(300_000);
    let sql = format!("WITH t(\"{name}\") AS (SELECT 1) SELECT * FROM (SELECT *, *, *, * FROM t)");
    let prepared = connection.prepare(&sql).unwrap();
    assert_eq!(code(connection.columns(prepared).unwrap_err()), 18);
    connection.finish(prepared).unwrap();
    connection.query("CREATE TABLE p (a INTEGER PRIMARY KEY)", &[]).unwrap();
    connection.query("CREATE TABLE c (a REFERENCES p)", &[]).unwrap();
    connection.query("PRAGMA foreign_keys = OFF", &[]).unwrap();
    let rows =
        "INSERT INTO c WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n";
    connection.query(rows, &[1000.into()]).unwrap();
    assert_eq!(connection.query("PRAGMA foreign_key_check", &[]).unwrap().len(), 1000);
    connection.query(rows, &[400_000.into()]).unwrap();
    assert_eq!(code(connection.query("PRAGMA foreign_key_check", &[]).unwrap_err()), 7);
}
