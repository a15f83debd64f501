//! Migrations.

use super::*;

#[tokio::test]
async fn files_are_applied_once_and_one_that_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sql = sidecar("sql", &folder).await;
    let address = || SidecarAddress::new(sql.clone(), None).unwrap();
    let files = folder.path().join("migrations");
    let missing = migrate(address(), &files).await.unwrap_err();
    assert!(matches!(missing, MigrateError::None { .. }), "{missing}");
    let own = files.join("sqlite");
    let places = format!("there is no migration: neither {}/*.sql nor {}/*.sql", own.display(), files.display());
    assert_eq!((missing.to_string(), missing.code()), (places, "FOLDER"));
    assert_eq!(missing.hint().unwrap(), format!("write {}", own.join("0001_tables.sql").display()));
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("0001_a.sql"), "CREATE TABLE a (b TEXT); INSERT INTO a VALUES ('x;y');").unwrap();
    let done = migrate(address(), &files).await.unwrap();
    assert_eq!((done.dialect, done.applied, done.before), ("sqlite", vec!["0001_a.sql".to_string()], vec![]));
    // A folder of the dialect wins.
    std::fs::create_dir(&own).unwrap();
    std::fs::copy(files.join("0001_a.sql"), own.join("0001_a.sql")).unwrap();
    std::fs::write(own.join("0002_b.sql"), "INSERT INTO a VALUES ('z'); INSERT INTO missing VALUES (1);").unwrap();
    let refused = migrate(address(), &files).await.unwrap_err();
    assert!(matches!(&refused, MigrateError::Refused(name, _) if name == "0002_b.sql"), "{refused}");
    assert!(refused.to_string().starts_with("0002_b.sql was not applied: "), "{refused}");
    assert_eq!((refused.code(), &*refused.hint().unwrap()), ("BACKEND", "correct the file, and migrate again"));
    std::fs::write(own.join("0002_b.sql"), "INSERT INTO a VALUES ('z');").unwrap();
    let done = migrate(address(), &files).await.unwrap();
    assert_eq!((done.applied, done.before), (vec!["0002_b.sql".to_string()], vec!["0001_a.sql".to_string()]));
    let rows = post(&service(sql.clone()), "/sql/query", json!({ "sql": "SELECT count(*) AS n FROM a" })).await;
    assert_eq!(rows["rows"], json!([{ "n": 2 }]), "the file that was refused has left nothing");
    std::fs::write(own.join("0001_a.sql"), "CREATE TABLE other (b TEXT);").unwrap();
    let changed = migrate(address(), &files).await.unwrap_err();
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
    let error = migrate(address, folder.path()).await.unwrap_err();
    assert!(error.to_string().starts_with("nothing answers at unix:///nowhere.sock: db cannot be reached"), "{error}");
    assert_eq!((error.code(), &*error.hint().unwrap()), ("BACKEND", "start `tenon dev` or the sidecar first"));
}
