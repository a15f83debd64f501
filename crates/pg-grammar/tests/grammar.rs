//! The parser with simple, wrong, hostile and large texts.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread;

use tenon_pg_grammar::{Bounds, Grammar, GrammarError, Kind, ParseError, Tree};

const BOUNDS: Bounds = Bounds { heap: 128 << 20, tree: 64 << 20 };

/// Returns the file in the workspace's packages, which `npm ci` installs.
fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../node_modules/libpg-query/wasm/libpg-query.wasm")
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::load(&file(), None).expect("libpg_query loads"));

/// Returns what `read` makes of the statements.
fn parsed<R>(sql: &str, read: impl FnOnce(&[&Tree<'_>]) -> R) -> Result<R, ParseError> {
    GRAMMAR.parse(sql, BOUNDS, &GRAMMAR.interrupt(), read)
}

/// Returns the number of statements.
fn parse(sql: &str) -> Result<usize, ParseError> {
    parsed(sql, |statements| statements.len())
}

#[test]
fn trees_are_those_of_postgresql() {
    let check = |statements: &[&Tree<'_>]| {
        let tree = &statements[0]["SelectStmt"];
        assert_eq!(tree["fromClause"][0]["RangeVar"]["relname"], "A.b");
        let operation = &tree["targetList"][0]["ResTarget"]["val"]["A_Expr"];
        assert_eq!(operation["lexpr"]["A_Const"]["sval"]["sval"], "'");
        assert_eq!(operation["rexpr"]["A_Const"]["sval"]["sval"], "da\"");
    };
    parsed("SELECT E'\\'' || U&'d\\0061\"' FROM \"A.b\" -- c", check).unwrap();
}

#[test]
fn a_backslash_in_a_plain_text_is_a_backslash() {
    let sql = r"SELECT '\'' || (SELECT string_agg(token, chr(44)) FROM secrets) --'";
    let tree = parsed(sql, |statements| format!("{statements:?}")).unwrap();
    assert!(tree.contains("secrets"), "{tree}");
}

#[test]
fn statements_are_counted() {
    for (sql, count) in
        [("", 0), (" -- a", 0), (";;", 0), ("/* /* */ */", 0), ("SELECT 1", 1), ("SELECT 1; TABLE a", 2)]
    {
        assert_eq!(parse(sql).unwrap(), count, "{sql}");
    }
}

#[test]
fn errors_are_those_of_postgresql_and_leave_nothing_for_the_next_text() {
    for _ in 0..3 {
        let Err(ParseError::Syntax(message)) = parse("SELEC 1") else { panic!("it parses") };
        assert_eq!(message, "syntax error at or near \"SELEC\"");
        let Err(ParseError::Syntax(message)) = parse("SELECT 'a") else { panic!("it parses") };
        assert_eq!(message, "unterminated quoted string at or near \"'a\"");
        assert_eq!(parse("SELECT 1").unwrap(), 1);
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

/// Statements of 1 MB that have as many nodes as bytes, or texts that grow.
fn greedy() -> Vec<String> {
    let of = |head: &str, part: &str| format!("{head}{}", part.repeat((1 << 20) / part.len()));
    vec![
        of("SELECT 1", ",1"),
        of("SELECT a", ",a"),
        of("SELECT *", ",*"),
        of("SELECT ''", ",''"),
        of("VALUES(1)", ",(1)"),
        of("SELECT 1 FROM a", ",a"),
        of("SELECT a[1]", ",a[1]"),
        of("SELECT f()", ",f()"),
        of("SELECT 1::a", ",1::a"),
        of("SELECT 1 FROM f()", ",f()"),
        format!("SELECT E'{}'", "\\n".repeat(1 << 19)),
        format!("SELECT E'{}'", "\\x01".repeat(1 << 18)),
        of("SELECT 1", ";SELECT 1"),
    ]
}

#[test]
fn a_parse_has_no_more_memory_than_its_bounds() {
    for sql in greedy() {
        for bounds in [Bounds { heap: 4 << 20, ..BOUNDS }, Bounds { tree: 2 << 10, ..BOUNDS }] {
            let parsed = GRAMMAR.parse(&sql, bounds, &GRAMMAR.interrupt(), |trees| trees.len());
            assert_eq!(parsed, Err(ParseError::Failed), "{bounds:?}: {}", &sql[..30]);
        }
    }
}

#[test]
fn an_interrupted_parse_ends() {
    let early = GRAMMAR.interrupt();
    early.fire();
    assert_eq!(GRAMMAR.parse("SELECT 1", BOUNDS, &early, |trees| trees.len()), Err(ParseError::Interrupted));
    // Nested parentheses in a FROM clause take the grammar as long as its memory lasts.
    let sql = format!("SELECT '{}'", "x".repeat(10 << 20)).repeat(2);
    let late = GRAMMAR.interrupt();
    let other = late.clone();
    let parse = thread::spawn(move || {
        loop {
            let ended = GRAMMAR.parse(&sql, BOUNDS, &late, |trees| trees.len());
            if ended == Err(ParseError::Interrupted) {
                return;
            }
        }
    });
    other.fire();
    parse.join().unwrap();
    assert_eq!(parse_again(), Ok(1));
}

/// An interrupt of one parse does not end another.
fn parse_again() -> Result<usize, ParseError> {
    GRAMMAR.interrupt().fire();
    parse("SELECT 1")
}

#[test]
fn messages_are_short() {
    let Err(ParseError::Syntax(message)) = parse(&format!("SELECT '{}", "x".repeat(1 << 20))) else {
        panic!("it parses")
    };
    assert!(message.starts_with("unterminated quoted string") && message.len() < 1100, "{}", message.len());
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
        (code.len(), code[0].metadata().unwrap().ino())
    };
    Grammar::load(&file(), Some(&cache)).unwrap();
    let first = written();
    assert_eq!(first.0, 1);
    let again = Grammar::load(&file(), Some(&cache)).unwrap();
    assert_eq!(written(), first);
    assert_eq!(again.parse("SELECT 1", BOUNDS, &again.interrupt(), |trees| trees.len()).unwrap(), 1);
}

fn split(file: &str) -> Vec<(usize, &str, Kind)> {
    let pieces = GRAMMAR.split(file).unwrap_or_else(|error| panic!("{error}: {file}"));
    pieces.into_iter().map(|piece| (piece.at, piece.sql, piece.kind)).collect()
}

fn texts(file: &str) -> Vec<&str> {
    split(file).into_iter().map(|(_, sql, _)| sql).collect()
}

#[test]
fn a_file_is_split_where_the_grammar_ends_statements() {
    let atomic = "CREATE FUNCTION f(n int) RETURNS int LANGUAGE sql BEGIN ATOMIC\n SELECT n; SELECT CASE WHEN n > 1 THEN 2 END;\nEND";
    let rule = "CREATE RULE r AS ON INSERT TO a DO ALSO (SELECT 1; SELECT 2)";
    for (file, statements) in [
        ("", vec![]),
        (" -- only;\n /* a; /* nested; */ b; */ ;;\r\n", vec![]),
        ("SELECT ';'; SELECT 2", vec!["SELECT ';'", "SELECT 2"]),
        (r"SELECT E'it\'s; \\'; SELECT '\'; SELECT 3;", vec![r"SELECT E'it\'s; \\'", r"SELECT '\'", "SELECT 3"]),
        ("DO $a$ $$; $b$ $a$; SELECT $1", vec!["DO $a$ $$; $b$ $a$", "SELECT $1"]),
        (
            "SELECT a$b$c; SELECT \"a;\"\"b\"; SELECT U&'d\\0061;' UESCAPE '!'",
            vec!["SELECT a$b$c", "SELECT \"a;\"\"b\"", "SELECT U&'d\\0061;' UESCAPE '!'"],
        ),
        ("SELECT 1 -- a;\r; SELECT /* ; /* ; */ ; */ 2\r\n;é", vec![]),
        (&format!("{atomic};\n{rule};SELECT '€;'; SELECT 1"), vec![atomic, rule, "SELECT '€;'", "SELECT 1"]),
    ] {
        if file.ends_with('é') {
            assert_eq!(GRAMMAR.split(file).unwrap_err().at, file.len() - "é".len());
            let (file, _) = file.split_at(file.len() - "é".len());
            assert_eq!(texts(file), ["SELECT 1 -- a;", "SELECT /* ; /* ; */ ; */ 2"]);
        } else {
            assert_eq!(texts(file), statements, "{file}");
        }
    }
}

#[test]
fn statements_that_control_transactions_and_copied_data_are_told_apart() {
    use Kind::{Begin, Commit, CopyFromStdin, Other, Set, Transaction};
    for (sql, kind) in [
        ("BEGIN", Begin),
        ("begin transaction", Begin),
        ("START TRANSACTION", Begin),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", Transaction),
        ("/* a */ COMMIT", Commit),
        ("END WORK", Commit),
        ("COMMIT AND CHAIN", Transaction),
        ("ROLLBACK", Transaction),
        ("SAVEPOINT a", Transaction),
        ("COPY a FROM STDIN", CopyFromStdin),
        ("COPY a FROM '/a'", Other),
        ("COPY a FROM PROGRAM 'a'", Other),
        ("COPY a TO STDOUT", Other),
        ("SET LOCAL search_path = a, b", Set),
        ("SET TIME ZONE DEFAULT", Set),
        ("RESET lock_timeout", Set),
        ("RESET ALL", Other),
        ("SET TRANSACTION READ ONLY", Other),
        ("SELECT 1", Other),
    ] {
        assert_eq!(split(sql).last().map(|(_, _, kind)| *kind), Some(kind), "{sql}");
    }
    let data = GRAMMAR.split("SELECT 1;\nCOPY a (b) FROM STDIN;\n1\tx\n\\.\nSELECT 2;").unwrap_err();
    assert!(data.in_copied_data, "{data:?}");
    let meta = GRAMMAR.split("SELECT 'é';\n\\connect other\n").unwrap_err();
    assert_eq!((meta.at, meta.in_copied_data), (13, false), "{meta}");
}

/// Larger than a part, with texts, comments and bodies across the ends of parts.
#[test]
fn a_large_file_is_split_as_a_small_one() {
    let statements = [
        "INSERT INTO a VALUES ('it''s; a\n;\ntext', $x$;\n$x$)",
        "SELECT 1 -- not the end;\n + 2",
        "SELECT /* a;\n /* b;\n */ ;\n */ 3",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC\n SELECT 1;\n SELECT 2;\n END",
        "SELECT E'\\';\n'",
    ];
    let long = format!("SELECT '{}'", ";\n".repeat(400_000));
    let mut expected: Vec<&str> = statements.iter().cycle().take(20_000).copied().collect();
    expected.insert(10_001, &long);
    let file = expected.join(";\n");
    let found = split(&file);
    assert_eq!(found.iter().map(|(_, sql, _)| *sql).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|(at, sql, _)| file[*at..].starts_with(sql)));
    let wrong = GRAMMAR.split(&format!("{file};\nSELEC")).unwrap_err();
    assert_eq!((wrong.at, &*wrong.message), (file.len() + 2, "syntax error at or near \"SELEC\""));
}
