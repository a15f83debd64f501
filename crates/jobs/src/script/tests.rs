//! Files and their statements.

use std::path::PathBuf;
use std::sync::LazyLock;

use tenon_pg_grammar::Grammar;

use super::{Script, ScriptError, of_postgres, of_sqlite};

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../node_modules/libpg-query/wasm/libpg-query.wasm");
    Grammar::load(&file, None).expect("libpg_query loads")
});

fn sqlite(file: &str) -> Result<Script, ScriptError> {
    of_sqlite(file, None)
}

fn postgres(file: &str) -> Result<Script, ScriptError> {
    of_postgres(&GRAMMAR, file)
}

fn statements(script: Result<Script, ScriptError>, file: &str) -> Vec<(usize, String)> {
    let script = script.unwrap_or_else(|error| panic!("{error:?}: {file}"));
    script.statements.into_iter().map(|each| (each.line, each.sql)).collect()
}

fn of(expected: &[(usize, &str)]) -> Vec<(usize, String)> {
    expected.iter().map(|(line, sql)| (*line, (*sql).to_owned())).collect()
}

#[test]
fn sqlite_reads_quotes_comments_and_triggers() {
    let trigger =
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n UPDATE a SET b = CASE WHEN 1 THEN 2 END; DELETE FROM c;\nEND";
    for (file, expected) in [
        ("", &[][..]),
        ("\u{feff}SELECT 1;\n", &[(1, "SELECT 1")]),
        ("-- only a comment;\n/* and; another\n */ ;;\n", &[]),
        (
            "SELECT 'it''s; '; SELECT \"a;\"\"b\", [c;], `d;` FROM e\n",
            &[(1, "SELECT 'it''s; '"), (1, "SELECT \"a;\"\"b\", [c;], `d;` FROM e")],
        ),
        // Comments do not nest, and a backslash is a character.
        ("/* /* */ SELECT 1; SELECT '\\'; SELECT 2", &[(1, "/* /* */ SELECT 1"), (1, "SELECT '\\'"), (1, "SELECT 2")]),
        // A carriage return does not end a comment.
        ("SELECT 1 -- a\r; SELECT 2\r\n;\r\nSELECT 3;\r\n", &[(1, "SELECT 1 -- a\r; SELECT 2"), (3, "SELECT 3")]),
        ("# a note;\nSELECT 1; -- b;\n\n# c\nSELECT 2", &[(2, "SELECT 1"), (5, "SELECT 2")]),
        ("SELECT '\n.tables\n#';", &[(1, "SELECT '\n.tables\n#'")]),
        ("SELECT '€;', $1, :a; SELECT 2 /* open", &[(1, "SELECT '€;', $1, :a"), (1, "SELECT 2 /* open")]),
        ("SELECT 'open; $", &[(1, "SELECT 'open; $")]),
        (
            &format!("{trigger}; CREATE TEMP {}; SELECT 3", &trigger[7..]),
            &[(1, trigger), (3, &format!("CREATE TEMP {}", &trigger[7..])), (5, "SELECT 3")],
        ),
    ] {
        assert_eq!(statements(sqlite(file), file), of(expected), "{file}");
    }
}

#[test]
fn lines_that_a_transaction_makes_needless_are_left_out() {
    for read in [sqlite, postgres] {
        let file = "BEGIN;\nSELECT 1;\nCOMMIT;\nSELECT 2;\nbegin transaction; SELECT 3; /* b */ END;";
        assert_eq!(statements(read(file), file), of(&[(2, "SELECT 1"), (4, "SELECT 2"), (5, "SELECT 3")]));
        for (file, line, problem) in [
            ("\n\nBEGIN; SELECT 1;", 3, "BEGIN must have a COMMIT"),
            ("BEGIN;\nBEGIN;", 2, "BEGIN must follow the COMMIT of line 1's"),
            ("SELECT 1;\nCOMMIT;", 2, "COMMIT must follow a BEGIN"),
            ("BEGIN;\nROLLBACK;", 2, "must not have ROLLBACK"),
            ("SAVEPOINT a;", 1, "must not have ROLLBACK, SAVEPOINT"),
            ("SELECT 1;\n\nSELECT '\0';", 3, "U+0000"),
        ] {
            let error = read(file).unwrap_err();
            assert_eq!(error.line, line, "{file}: {error:?}");
            assert!(error.problem.contains(problem), "{file}: {error:?}");
        }
    }
}

#[test]
fn commands_of_the_programs_are_refused_with_their_line() {
    for (read, file, line, problem) in [
        (sqlite as fn(&str) -> _, "SELECT 1;\n.mode csv\n", 2, ".mode is a command of sqlite3"),
        (sqlite, "-- a\n\n.read b.sql", 3, ".read is a command of sqlite3"),
        (postgres, "SELECT 1;\n\\connect a\n", 2, "\\connect is a command of psql"),
        (postgres, "SELECT 1\n\\gset\n", 2, "\\gset is a command of psql"),
        (postgres, "SELECT 1;\r\n\r\nSELEC 1;", 3, "syntax error at or near \"SELEC\""),
        (postgres, "COPY a FROM stdin;\n1\tb\n\\.\n", 2, "COPY … FROM STDIN has data"),
        (postgres, "SELECT 1;\nCOPY a FROM STDIN;", 2, "COPY … FROM STDIN has data"),
    ] {
        let error = read(file).unwrap_err();
        assert_eq!(error.line, line, "{file}: {error:?}");
        assert!(error.problem.starts_with(problem), "{file}: {error:?}");
    }
}

#[test]
fn settings_last_as_long_as_the_transaction() {
    let call = |values: &str| format!("SELECT pg_catalog.set_config({values}, true)");
    for (sql, expected) in [
        ("SET search_path = app, \"My \"\"x\", public", call("'search_path', '\"app\", \"My \"\"x\", \"public\"'")),
        ("SET search_path TO ''", call("'search_path', '\"\"'")),
        ("SET LOCAL lock_timeout = '1s'", call("'lock_timeout', '1s'")),
        ("SET statement_timeout = 0", call("'statement_timeout', '0'")),
        ("SET app.name = 'it''s'", call("'app.name', 'it''s'")),
        ("SET SESSION check_function_bodies = false", call("'check_function_bodies', 'false'")),
        ("SET seq_page_cost = 1.5", call("'seq_page_cost', '1.5'")),
        ("SET TIME ZONE 'UTC'", call("'timezone', 'UTC'")),
        ("SET TRANSACTION READ ONLY", "SET TRANSACTION READ ONLY".to_owned()),
        (
            "RESET lock_timeout",
            "SELECT pg_catalog.set_config(name, reset_val, true) FROM pg_catalog.pg_settings WHERE lower(name) = lower('lock_timeout')".to_owned(),
        ),
    ] {
        assert_eq!(statements(postgres(sql), sql), of(&[(1, &expected)]), "{sql}");
    }
}

#[test]
fn foreign_keys_are_off_in_sqlite_unless_the_file_turns_them_on() {
    for (file, enforced, count) in [
        ("SELECT 1", Some(false), 1),
        ("PRAGMA foreign_keys = OFF; SELECT 1; PRAGMA foreign_keys=on;", Some(false), 1),
        ("PRAGMA main.foreign_keys(1); SELECT 1; PRAGMA foreign_keys = 0", Some(true), 1),
        ("PRAGMA foreign_keys = 'yes'; PRAGMA foreign_keys; SELECT 1", Some(true), 1),
        ("PRAGMA foreign_keys = 256; SELECT 1", Some(false), 1),
        ("pragma Foreign_Keys = 2; SELECT 1", Some(true), 1),
        ("PRAGMA foreign_keys = maybe; SELECT 1", Some(false), 1),
        // In a transaction it does nothing.
        ("BEGIN; PRAGMA foreign_keys = 1; SELECT 1; COMMIT; SELECT 2", Some(false), 2),
        ("PRAGMA foreign_keys = 1; BEGIN; PRAGMA foreign_keys = 0; SELECT 1; COMMIT;", Some(true), 1),
        ("PRAGMA defer_foreign_keys = ON; SELECT 1; PRAGMA defer_foreign_keys = OFF", Some(false), 1),
        ("PRAGMA legacy_alter_table = ON; SELECT 1", Some(false), 2),
        ("SELECT 1; PRAGMA foreign_keys = ON; SELECT 2", None, 0),
        // As drizzle-kit writes it.
        (
            "PRAGMA foreign_keys=OFF;--> statement-breakpoint\nSELECT 1;--> statement-breakpoint\nPRAGMA foreign_keys=ON;--> \
             statement-breakpoint\nSELECT 2;",
            Some(false),
            2,
        ),
        ("PRAGMA foreign_keys=ON;--> statement-breakpoint\nSELECT 1;", Some(true), 1),
    ] {
        let script = sqlite(file);
        assert_eq!(script.as_ref().ok().map(|script| script.foreign_keys), enforced, "{file}: {script:?}");
        assert_eq!(script.map_or(0, |script| script.statements.len()), count, "{file}");
    }
    assert!(postgres("SELECT 1").unwrap().foreign_keys);
}
