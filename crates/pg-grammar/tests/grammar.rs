//! The parser with simple, wrong, hostile and large texts.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread;

use tenon_pg_grammar::{Grammar, GrammarError, ParseError};

/// Returns the file in the workspace's packages, which `npm ci` installs.
fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../node_modules/libpg-query/wasm/libpg-query.wasm")
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::load(&file(), None).expect("libpg_query loads"));

fn parse(sql: &str) -> Result<Vec<serde_json::Value>, ParseError> {
    GRAMMAR.parse(sql)
}

#[test]
fn trees_are_those_of_postgresql() {
    let tree = &parse("SELECT E'\\'' || U&'d\\0061\"' FROM \"A.b\" -- c").unwrap()[0]["SelectStmt"];
    assert_eq!(tree["fromClause"][0]["RangeVar"]["relname"], "A.b");
    let operation = &tree["targetList"][0]["ResTarget"]["val"]["A_Expr"];
    assert_eq!(operation["lexpr"]["A_Const"]["sval"]["sval"], "'");
    assert_eq!(operation["rexpr"]["A_Const"]["sval"]["sval"], "da\"");
}

#[test]
fn a_backslash_in_a_plain_text_is_a_backslash() {
    let sql = r"SELECT '\'' || (SELECT string_agg(token, chr(44)) FROM secrets) --'";
    let tree = parse(sql).unwrap();
    assert!(tree[0].to_string().contains("secrets"), "{tree:?}");
}

#[test]
fn statements_are_counted() {
    for (sql, count) in
        [("", 0), (" -- a", 0), (";;", 0), ("/* /* */ */", 0), ("SELECT 1", 1), ("SELECT 1; TABLE a", 2)]
    {
        assert_eq!(parse(sql).unwrap().len(), count, "{sql}");
    }
}

#[test]
fn errors_are_those_of_postgresql_and_leave_nothing_for_the_next_text() {
    for _ in 0..3 {
        let Err(ParseError::Syntax(message)) = parse("SELEC 1") else { panic!("it parses") };
        assert_eq!(message, "syntax error at or near \"SELEC\"");
        let Err(ParseError::Syntax(message)) = parse("SELECT 'a") else { panic!("it parses") };
        assert_eq!(message, "unterminated quoted string at or near \"'a\"");
        assert_eq!(parse("SELECT 1").unwrap().len(), 1);
    }
}

/// On a stack of 2 MiB, which threads that may block have.
#[test]
fn nesting_is_refused_and_not_fatal() {
    let work = || {
        for count in [100, 1_000, 10_000, 100_000] {
            for sql in [
                format!("SELECT {}1{}", "(".repeat(count), ")".repeat(count)),
                format!("SELECT 1{}", "+1".repeat(count)),
                format!("SELECT {}1", "NOT ".repeat(count)),
                format!("SELECT {}1{}", "(SELECT ".repeat(count), ")".repeat(count)),
                format!("SELECT {}1{}", "f(".repeat(count), ")".repeat(count)),
                format!("SELECT 1{}", " UNION SELECT 1".repeat(count)),
                format!("SELECT * FROM a{}", " JOIN a ON true".repeat(count)),
                format!("SELECT a{}", "[1]".repeat(count)),
            ] {
                let _ = parse(&sql);
            }
        }
        assert!(parse(&format!("SELECT 1{}", "+1".repeat(100))).is_ok());
        assert!(parse(&format!("SELECT 1{}", "+1".repeat(100_000))).is_err());
    };
    thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn large_statements_parse() {
    let text = format!("SELECT '{}'", "x".repeat(10 << 20));
    assert!(parse(&text).is_ok());
    let row: Vec<String> = (1..=32_766).map(|number| format!("${number}")).collect();
    assert!(parse(&format!("INSERT INTO a VALUES ({})", row.join(", "))).is_ok());
}

#[test]
fn another_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("libpg-query.wasm");
    std::fs::write(&other, b"\0asm").unwrap();
    assert!(matches!(Grammar::load(&other, None), Err(GrammarError::OtherBuild(_))));
    assert!(matches!(Grammar::load(&folder.path().join("none"), None), Err(GrammarError::File { .. })));
}

#[test]
fn its_code_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("code");
    let written = || {
        let files = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        let code: Vec<_> = files.filter(|path| path.extension().is_some_and(|found| found == "grammar")).collect();
        (code.len(), code[0].metadata().unwrap().created().unwrap())
    };
    Grammar::load(&file(), Some(&cache)).unwrap();
    let first = written();
    assert_eq!(first.0, 1);
    let again = Grammar::load(&file(), Some(&cache)).unwrap();
    assert_eq!(written(), first);
    assert_eq!(again.parse("SELECT 1").unwrap().len(), 1);
}
