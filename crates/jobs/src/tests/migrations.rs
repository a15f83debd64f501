//! Migrations.

use super::*;

#[tokio::test]
async fn files_are_applied_once_and_one_that_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sql = sidecar("sql", &folder).await;
    let address = || SidecarAddress::new(sql.clone(), None).unwrap();
    let files = folder.path().join("migrations");
    let missing = migrate(address(), &files, GrammarFile::default()).await.unwrap_err();
    assert!(matches!(missing, MigrateError::None { .. }), "{missing}");
    let own = files.join("sqlite");
    let places = format!("there is no migration: neither {}/*.sql nor {}/*.sql", own.display(), files.display());
    assert_eq!((missing.to_string(), missing.code()), (places, "FOLDER"));
    assert_eq!(missing.hint().unwrap(), format!("write {}", own.join("0001_tables.sql").display()));
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("0001_a.sql"), "CREATE TABLE a (b TEXT); INSERT INTO a VALUES ('x;y');").unwrap();
    let done = migrate(address(), &files, GrammarFile::default()).await.unwrap();
    assert_eq!((done.dialect, done.applied, done.before), ("sqlite", vec!["0001_a.sql".to_string()], vec![]));
    // A folder of the dialect wins.
    std::fs::create_dir(&own).unwrap();
    std::fs::copy(files.join("0001_a.sql"), own.join("0001_a.sql")).unwrap();
    std::fs::write(own.join("0002_b.sql"), "INSERT INTO a VALUES ('z'); INSERT INTO missing VALUES (1);").unwrap();
    let refused = migrate(address(), &files, GrammarFile::default()).await.unwrap_err();
    assert!(matches!(&refused, MigrateError::Refused(name, _) if name == "0002_b.sql"), "{refused}");
    assert!(refused.to_string().starts_with("0002_b.sql was not applied: "), "{refused}");
    assert_eq!((refused.code(), &*refused.hint().unwrap()), ("BACKEND", "correct the file, and migrate again"));
    std::fs::write(own.join("0002_b.sql"), "INSERT INTO a VALUES ('z');").unwrap();
    let done = migrate(address(), &files, GrammarFile::default()).await.unwrap();
    assert_eq!((done.applied, done.before), (vec!["0002_b.sql".to_string()], vec!["0001_a.sql".to_string()]));
    let rows = post(&service(sql.clone()), "/sql/query", json!({ "sql": "SELECT count(*) AS n FROM a" })).await;
    assert_eq!(rows["rows"], json!([{ "n": 2 }]), "the file that was refused has left nothing");
    std::fs::write(own.join("0001_a.sql"), "CREATE TABLE other (b TEXT);").unwrap();
    let changed = migrate(address(), &files, GrammarFile::default()).await.unwrap_err();
    assert_eq!(changed.to_string(), "0001_a.sql has changed since it was applied");
    assert_eq!(
        (changed.code(), &*changed.hint().unwrap()),
        ("CONFIG", "restore it, and write the change into a new file")
    );
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let address = SidecarAddress::new(nowhere("db"), Some("t0ken")).unwrap();
    let error = migrate(address, folder.path(), GrammarFile::default()).await.unwrap_err();
    assert!(error.to_string().starts_with("nothing answers at unix:///nowhere.sock: db cannot be reached"), "{error}");
    assert_eq!((error.code(), &*error.hint().unwrap()), ("BACKEND", "start `tenon dev` or the sidecar first"));
}

/// The files of a folder, applied to a new database; the answer to a query then.
async fn migrated(files: &[(&str, &str)], query: &str) -> Result<Value, MigrateError> {
    let folder = tempfile::tempdir().unwrap();
    let sql = sidecar("sql", &folder).await;
    let at = folder.path().join("migrations");
    std::fs::create_dir(&at).unwrap();
    for (name, text) in files {
        std::fs::write(at.join(name), text).unwrap();
    }
    migrate(SidecarAddress::new(sql.clone(), None).unwrap(), &at, GrammarFile::default()).await?;
    Ok(post(&service(sql), "/sql/query", json!({ "sql": query })).await["rows"].take())
}

const TABLES: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE);
INSERT INTO users VALUES (1, 'Ada'); INSERT INTO orders VALUES (1, 1), (2, 1);";
const REBUILD: &str = "CREATE TABLE users_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO users_new SELECT id, name FROM users;
DROP TABLE users;
ALTER TABLE users_new RENAME TO users;";

#[tokio::test]
async fn a_table_is_rebuilt_under_the_rows_that_refer_to_it() {
    let wrapped = |before: &str, after: &str| format!("{before}\n{REBUILD}\n{after}\n");
    for rebuild in [
        REBUILD.to_owned(),
        wrapped("PRAGMA foreign_keys = OFF;", "PRAGMA foreign_keys = ON;"),
        wrapped("PRAGMA foreign_keys=off; BEGIN;", "PRAGMA foreign_key_check; COMMIT; PRAGMA foreign_keys=on;"),
        wrapped("PRAGMA defer_foreign_keys=ON;", "PRAGMA defer_foreign_keys=OFF;"),
        wrapped(
            "CREATE VIEW v AS SELECT * FROM users; PRAGMA legacy_alter_table = ON;",
            "PRAGMA legacy_alter_table = OFF;",
        ),
        // More statements than one request has.
        wrapped("", &"INSERT INTO users (name) VALUES ('x');\n".repeat(250)),
    ] {
        let count = "SELECT (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM users) > 0 AS users";
        let rows = migrated(&[("1.sql", TABLES), ("2.sql", &rebuild)], count).await.unwrap();
        assert_eq!(rows, json!([{ "orders": 2, "users": 1 }]), "{rebuild}");
    }
    let enforced = "PRAGMA foreign_keys = ON; DELETE FROM users;";
    let rows = migrated(&[("1.sql", TABLES), ("2.sql", enforced)], "SELECT count(*) AS n FROM orders").await.unwrap();
    assert_eq!(rows, json!([{ "n": 0 }]), "the file asked for foreign keys");
    let error = migrated(&[("1.sql", TABLES), ("2.sql", "DELETE FROM users;")], "").await.unwrap_err().to_string();
    assert!(error.starts_with("2.sql was not applied: FOREIGN KEY constraint failed: row 1 of orders"), "{error}");
}

#[tokio::test]
async fn a_file_is_applied_whole_or_not_at_all_whatever_its_size() {
    let rows = |count: usize| "INSERT INTO a VALUES (1);\n".repeat(count);
    for count in [97, 98, 99, 100, 350] {
        let file = format!("CREATE TABLE a (b);\n{}", rows(count));
        let found = migrated(&[("1.sql", &file)], "SELECT count(*) AS n FROM a").await.unwrap();
        assert_eq!(found, json!([{ "n": count }]));
        let folder = tempfile::tempdir().unwrap();
        let sql = sidecar("sql", &folder).await;
        std::fs::write(folder.path().join("1.sql"), format!("{file}\nINSERT INTO missing VALUES (1);\n")).unwrap();
        for _ in 0..2 {
            let address = SidecarAddress::new(sql.clone(), None).unwrap();
            let error = migrate(address, folder.path(), GrammarFile::default()).await.unwrap_err().to_string();
            let expected = format!("1.sql was not applied: line {}: no such table: missing", count + 3);
            assert_eq!(error, expected);
        }
        let query = json!({ "sql": "SELECT name FROM sqlite_schema WHERE name = 'a'" });
        assert_eq!(post(&service(sql), "/sql/query", query).await["rows"], json!([]));
    }
    // Statements of more bytes than a request has.
    let large =
        format!("CREATE TABLE a (b);\n{}", format!("INSERT INTO a VALUES ('{}');\n", "x".repeat(900_000)).repeat(30));
    let found = migrated(&[("1.sql", &large)], "SELECT count(*) AS n FROM a").await.unwrap();
    assert_eq!(found, json!([{ "n": 30 }]));
}

#[tokio::test]
async fn several_migrations_at_once_apply_each_file_once() {
    for count in [3, 300] {
        let folder = tempfile::tempdir().unwrap();
        let sql = sidecar("sql", &folder).await;
        let file = format!("CREATE TABLE a (b);\n{}", "INSERT INTO a VALUES (1);\n".repeat(count));
        std::fs::write(folder.path().join("1.sql"), file).unwrap();
        let run = async || {
            let address = SidecarAddress::new(sql.clone(), None).unwrap();
            migrate(address, folder.path(), GrammarFile::default()).await.unwrap().applied.len()
        };
        let (one, other, third) = tokio::join!(run(), run(), run());
        assert_eq!(one + other + third, 1);
        let query = json!({ "sql": "SELECT count(*) AS n FROM a" });
        assert_eq!(post(&service(sql), "/sql/query", query).await["rows"], json!([{ "n": count }]));
    }
}
