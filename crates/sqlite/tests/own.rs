//! The host's own statements.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use tenon_sqlite::{Action, Budget, Connection, Error, Library, Options, Rules, ValueRef};

struct Everything;

impl Rules for Everything {
    fn allow(&mut self, _: Action<'_>, _: Option<&str>, _: Option<&str>) -> bool {
        true
    }
}

fn memory() -> Connection {
    let options = Options {
        path: None,
        wait: Duration::ZERO,
        max_value_bytes: 1 << 20,
        budget: Budget::new(64 << 20, 64 << 20, 0),
        rules: Box::new(Everything),
    };
    Connection::open(&Library::load(None).unwrap(), options).unwrap()
}

fn count(db: &mut Connection) -> i64 {
    db.one("SELECT count(*) FROM t", &[], |row| row.read(0)).unwrap()
}

#[test]
fn values_are_read_as_types() {
    let mut db = memory();
    let values = [7_i64.into(), "é".into(), (&b"\xff\0"[..]).into(), None::<i64>.into(), (&b""[..]).into()];
    let read = db.one("SELECT ?, ?, ?, ?, ?", &values, |row| {
        assert!(matches!(row.read::<String>(0), Err(Error::Type(0))));
        assert!(matches!(row.read::<i64>(3), Err(Error::Type(3))));
        Ok((
            (row.read::<u16>(0)?, row.read::<bool>(0)?, row.read::<String>(1)?, row.read::<Vec<u8>>(2)?),
            (row.read::<Option<i64>>(3)?, row.read::<Option<i32>>(0)?, row.read::<Vec<u8>>(4)?),
        ))
    });
    let expected = ((7, true, "é".to_owned(), b"\xff\0".to_vec()), (None, Some(7), Vec::new()));
    assert_eq!(read.unwrap(), expected);
    // A number that does not fit is not cut.
    let large = db.one("SELECT 65536", &[], |row| row.read::<u16>(0));
    assert!(matches!(large, Err(Error::Type(0))));
}

#[test]
fn scripts_run_until_the_first_error() {
    let mut db = memory();
    db.run_script("; CREATE TABLE t (a); ;\n INSERT INTO t VALUES (1), (';'); -- the end").unwrap();
    assert_eq!(count(&mut db), 2);
    assert!(db.run_script("INSERT INTO t VALUES (1); INSERT INTO u VALUES (1); INSERT INTO t VALUES (1)").is_err());
    assert_eq!(count(&mut db), 3);
    db.run_script("").unwrap();
}

#[test]
fn transactions_are_committed_or_rolled_back() {
    let mut db = memory();
    db.run_script("CREATE TABLE t (a UNIQUE)").unwrap();
    let insert = |db: &mut Connection, value: i64| db.execute("INSERT INTO t VALUES (?)", &[value.into()]);
    assert_eq!(db.writing(|db| insert(db, 1)).unwrap(), 1);
    let failed = db.writing(|db| insert(db, 2).and_then(|_| insert(db, 1)));
    assert!(failed.unwrap_err().to_string().contains("UNIQUE"));
    assert!(db.is_autocommit().unwrap());
    assert_eq!(db.reading(|db| Ok(count(db))).unwrap(), 1);
    assert!(matches!(db.reading(|db| db.one("SELECT 1 WHERE 0", &[], |_| Ok(()))), Err(Error::NoRow)));
    assert!(db.is_autocommit().unwrap());
}

#[test]
fn a_statement_that_returns_rows_is_committed_with_the_last_one() {
    let mut db = memory();
    db.run_script("CREATE TABLE t (a)").unwrap();
    let first = db.find("INSERT INTO t VALUES (1), (2) RETURNING a", &[], |row| row.read::<i64>(0));
    assert_eq!(first.unwrap(), Some(1));
    assert_eq!(db.find("DELETE FROM t WHERE a = ?", &[ValueRef::Integer(3)], |_| Ok(())).unwrap(), None);
    assert_eq!(count(&mut db), 2);
}

#[test]
fn statements_are_complete_at_their_semicolon() {
    let mut db = memory();
    for (sql, complete) in [
        ("SELECT 1;", true),
        ("SELECT 1", false),
        ("SELECT ';", false),
        ("CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1;", false),
        ("CREATE TRIGGER a AFTER INSERT ON t BEGIN SELECT 1; END;", true),
        ("", false),
    ] {
        assert_eq!(db.is_complete(sql).unwrap(), complete, "{sql}");
    }
}
