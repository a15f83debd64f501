//! Decisions about statements, with the real parser and a catalog of a few names.

use std::path::PathBuf;
use std::sync::LazyLock;

use tenon_pg_grammar::Grammar;

use super::*;

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../node_modules/libpg-query/wasm/libpg-query.wasm");
    Grammar::load(&file, None).unwrap()
});

fn catalog() -> Catalog {
    Catalog::of(
        &["my_function", "similarity", "sqrt"],
        &["ts_stat", "pg_read_file", "query_to_xml", "regclass", "xml", "lo_create", "lo_unlink"],
    )
}

pub(super) fn grammar() -> Grammar {
    GRAMMAR.clone()
}

fn decide(sql: &str, access: &SqlAccess) -> Verdict {
    let bounds = tenon_pg_grammar::Bounds { heap: 128 << 20, tree: 64 << 20 };
    let interrupt = GRAMMAR.interrupt();
    let judged = GRAMMAR.parse(sql, bounds, &interrupt, |trees| judge(trees, access, &catalog(), &interrupt));
    judged.unwrap_or_else(|error| Verdict::Wrong(error.to_string()))
}

fn listed() -> SqlAccess {
    SqlAccess { tables: Some(["users", "app.orders"].map(str::to_string).into()), ..SqlAccess::default() }
}

fn of_role() -> SqlAccess {
    SqlAccess { role: Some("reader".into()), ..SqlAccess::default() }
}

/// Statements that `--tables users,app.orders` allows.
const HONEST: &[&str] = &[
    "SELECT u.id, count(*) FROM users u JOIN app.orders o ON o.user_id = u.id WHERE u.name = $1 GROUP BY u.id",
    "INSERT INTO users (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
    "INSERT INTO users (name) VALUES ($1), (DEFAULT) ON CONFLICT ON CONSTRAINT c DO NOTHING",
    "INSERT INTO users DEFAULT VALUES",
    "UPDATE users SET name = lower($1) WHERE id IN (SELECT user_id FROM app.orders)",
    "UPDATE users u SET (a, b) = (SELECT 1, 2), c[1] = 2, d = DEFAULT FROM app.orders o WHERE o.user_id = u.id",
    "DELETE FROM users USING app.orders o WHERE id = $1",
    "MERGE INTO users u USING app.orders o ON o.user_id = u.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (1)",
    "WITH a AS (SELECT * FROM users), b AS (SELECT * FROM a) SELECT * FROM b UNION SELECT * FROM a",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
    "WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
    "SELECT * FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) x",
    "WITH d AS (DELETE FROM users RETURNING *) INSERT INTO app.orders SELECT * FROM d",
    "SELECT * FROM generate_series(1, 10) AS g",
    "SELECT g.g, e.key, e.value FROM generate_series(1, 10) AS g, jsonb_each($1) AS e",
    "SELECT r.id FROM jsonb_to_recordset($1) AS r(id int, name text)",
    "SELECT unnest.unnest FROM unnest($1::int[])",
    "SELECT * FROM ROWS FROM (generate_series(1, 3), unnest($1::text[])) WITH ORDINALITY AS r(a, b, n)",
    "SELECT 1",
    "TABLE users",
    "SELECT (id, name) > ($1, $2), name LIKE $3 ESCAPE '!', data->>'a' FROM users ORDER BY name DESC LIMIT 5 OFFSET 1",
    "SELECT 'it''s \\ fine', E'it\\'s', U&'d\\0061t\\+000061', $tag$ '; -- $tag$, N'x', B'101', X'1F' -- a comment ' /*",
    "SELECT u.name, u.date, u.text, users.type FROM users u, users",
    "SELECT (address).city, ($1::jsonb)['a'], tags[1:2], (data).tags[3] FROM users",
    "SELECT rank() OVER w, sum(a) FILTER (WHERE b) OVER (PARTITION BY c ORDER BY d ROWS 1 PRECEDING) FROM users WINDOW w AS (ORDER BY a)",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a), string_agg(a, ',' ORDER BY b) FROM users GROUP BY GROUPING SETS ((a), ())",
    "SELECT DISTINCT ON (a) a, GROUPING(a) FROM users GROUP BY ROLLUP (a) HAVING true ORDER BY a FETCH FIRST 2 ROWS WITH TIES",
    "SELECT * FROM users FOR UPDATE OF users SKIP LOCKED",
    "SELECT * FROM users TABLESAMPLE bernoulli (10) REPEATABLE (1)",
    "SELECT extract(year FROM a), position('a' IN b), substring(a FROM 1), trim(BOTH ' ' FROM a), a AT TIME ZONE 'UTC', overlay(a PLACING b FROM 1) FROM users",
    "SELECT CURRENT_DATE, CURRENT_TIMESTAMP(3), LOCALTIME, now(), pg_catalog.now()",
    "SELECT CAST($1 AS numeric(10, 2)), $2::timestamptz, interval '1' day, '2020-01-01'::date, ARRAY[1, 2]::bigint[]",
    "SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, coalesce(a, b), nullif(a, b), greatest(a, b), a IS DISTINCT FROM b, a BETWEEN 1 AND 2",
    "SELECT a COLLATE \"C\", a IS NOT NULL, b IS TRUE, NOT c, a = ANY ($1), a IN (1, 2), EXISTS (SELECT FROM users)",
    "SELECT make_interval(days => 1), concat(VARIADIC ARRAY['a'])",
    "SELECT * FROM users a LEFT JOIN LATERAL (SELECT * FROM app.orders o WHERE o.user_id = a.id) b ON true NATURAL JOIN users c JOIN users d USING (id)",
    "SELECT JSON_OBJECT('a' VALUE 1), JSON_ARRAY(1, 2), a IS JSON FROM users",
    "SELECT users FROM users",
    "SELECT a OPERATOR(pg_catalog.+) b FROM users ORDER BY a USING <",
    "SELECT '\\'' || (SELECT string_agg(token, chr(44)) FROM secrets) --'",
    "VALUES (1, 2), (3, 4)",
];

/// Statements that are refused with any list of tables or role.
const NEVER: &[&str] = &[
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT set_config('role', 'none', false)",
    "SELECT U&\"set\\005fconfig\"('role', 'none', false)",
    "SELECT pg_catalog.set_config('role', 'none', false)",
    "SELECT query_to_xml('select * from secrets', true, true, '')",
    "SELECT * FROM dblink('', 'select 1') AS x (a int)",
    "SELECT * FROM ts_stat('select token from secrets')",
    "SELECT (('select token::tsvector from secrets'::text).ts_stat).word",
    "SELECT ('/etc/passwd'::text).pg_read_file",
    "SELECT x.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS x",
    "SELECT x.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS x(a)",
    "SELECT unnest.pg_read_file FROM unnest(ARRAY['/etc/passwd'])",
    "SELECT a FROM (SELECT 1) s, LATERAL (SELECT x.ts_stat AS a FROM unnest(ARRAY['select 1']) x) t",
    "SELECT ($1).query_to_xml",
    "SELECT (a).ts_stat FROM users",
    "SELECT u.my_function FROM users u",
    "SELECT my_function(users) FROM users",
    "SELECT app.my_function(1)",
    "SELECT public.lower('A')",
    "SELECT sqrt(4)",
    "SELECT 1 === 2",
    "SELECT 1 OPERATOR(public.+) 2",
    "SELECT a FROM users ORDER BY a USING OPERATOR(public.<)",
    "SELECT a OPERATOR(app.=) ANY (SELECT 1) FROM users",
    "SELECT * FROM users TABLESAMPLE app.mine (10)",
    "SELECT * INTO copy FROM users",
    "SELECT pg_advisory_lock(7)",
    "SELECT currval('s'), lastval()",
    "SELECT XMLPARSE(DOCUMENT '<a/>')",
    "UPDATE users SET a = 1 WHERE CURRENT OF c",
    "UPDATE users SET a = 1 WHERE CURRENT OF c",
    "UPDATE pg_settings SET setting = 'none' WHERE name = 'role'",
    "UPDATE pg_catalog.pg_settings SET setting = 'none' WHERE name = 'role'",
    "WITH u AS (UPDATE pg_settings SET setting = 'none' RETURNING 1) SELECT * FROM u",
    "MERGE INTO pg_settings USING users ON true WHEN MATCHED THEN UPDATE SET setting = 'none'",
    "SELECT statement FROM pg_prepared_statements",
    "SELECT * FROM other.public.users",
    "CREATE TABLE x (a int)",
    "CREATE TEMP TABLE x (a int)",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select 1'",
    "DROP TABLE users",
    "TRUNCATE users",
    "DO 'begin end'",
    "CALL p()",
    "EXPLAIN ANALYZE SELECT set_config('role', 'none', false)",
];

/// Statements that are refused with a list of tables only.
const OTHER_TABLES: &[&str] = &[
    "SELECT * FROM secrets",
    "SELECT * FROM Orders",
    "SELECT * FROM other.users",
    "SELECT * FROM public.users",
    "SELECT * FROM \"Users\"",
    "SELECT * FROM \"app.orders\"",
    "SELECT (SELECT max(token) FROM secrets)",
    "SELECT * FROM users WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_authid)",
    "WITH a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a",
    "WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets",
    "WITH \"public.secrets\" AS (SELECT 1) SELECT * FROM public.secrets",
    "WITH \"public.secrets\" AS (SELECT 1) SELECT * FROM \"public.secrets\"",
    "WITH secrets AS (SELECT 1) SELECT * FROM public.secrets",
    "SELECT * FROM (WITH secrets AS (SELECT 1) SELECT 1) x, secrets",
    "(WITH secrets AS (SELECT 1) SELECT 1) UNION SELECT token FROM secrets",
    "INSERT INTO users SELECT * FROM secrets",
    "UPDATE users SET name = s.token FROM secrets s",
    "DELETE FROM users USING secrets",
    "WITH d AS (DELETE FROM secrets RETURNING *) SELECT * FROM d",
    "SELECT N'\\' || (SELECT max(token) FROM secrets) --'",
    "SELECT U&'\\0027' || (SELECT max(token) FROM secrets)",
    "SELECT $a$'$a$ || (SELECT max(token) FROM secrets) --'",
    "SELECT 1 /* /* */ ' */ , (SELECT max(token) FROM secrets) --'",
    "TABLE secrets",
    "SELECT 1 UNION TABLE secrets",
    "INSERT INTO log VALUES (1)",
    "WITH secrets AS (SELECT 1) INSERT INTO secrets VALUES (1)",
    "WITH secrets AS (SELECT 1) UPDATE secrets SET a = 1",
    "WITH secrets AS (SELECT 1) DELETE FROM secrets",
    "WITH secrets AS (SELECT 1) MERGE INTO secrets USING users ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO users USING secrets ON true WHEN MATCHED THEN DELETE",
    "SELECT 'secrets'::regclass",
    "SELECT $1::xml",
    "SELECT nextval('secret_seq')",
    "SELECT current_user",
    "SELECT current_setting('data_directory')",
    "SELECT pg_sleep(1)",
    "EXPLAIN SELECT * FROM users",
    "SHOW data_directory",
    "SELECT x FROM users WHERE a = $1::my_enum",
];

/// Commands that are refused for all.
const OF_THE_SESSION: &[&str] = &[
    "BEGIN",
    " ; begin",
    "/* a /* b */ c */ Commit",
    "-- x\nROLLBACK",
    "set statement_timeout = 0",
    "START TRANSACTION",
    "copy users to stdout",
    "COPY users TO PROGRAM 'id'",
    "/**/--\r\nreset all",
    "SET LOCAL ROLE none",
    "SET SESSION AUTHORIZATION DEFAULT",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "LISTEN a",
    "DISCARD ALL",
    "LOCK TABLE users",
    "SET CONSTRAINTS ALL DEFERRED",
    "PREPARE TRANSACTION 'a'",
];

#[test]
fn tables_honest_statements_pass() {
    for sql in HONEST {
        for access in [listed(), of_role(), SqlAccess::default()] {
            let verdict = decide(sql, &access);
            assert!(matches!(verdict, Verdict::Runs(Run { shares_session: true, .. })), "{sql}: {verdict:?}");
        }
    }
}

#[test]
fn what_is_not_understood_is_refused_or_costs_the_session() {
    for sql in NEVER {
        for access in [listed(), of_role()] {
            let verdict = decide(sql, &access);
            assert!(matches!(verdict, Verdict::Forbidden(_)), "{sql}: {verdict:?}");
        }
        let verdict = decide(sql, &SqlAccess::default());
        assert!(matches!(verdict, Verdict::Runs(Run { shares_session: false, .. })), "{sql}: {verdict:?}");
    }
}

#[test]
fn tables_other_tables_are_refused() {
    for sql in OTHER_TABLES {
        let verdict = decide(sql, &listed());
        assert!(matches!(verdict, Verdict::Forbidden(_)), "{sql}: {verdict:?}");
        let verdict = decide(sql, &of_role());
        assert!(matches!(verdict, Verdict::Runs(_)), "{sql}: {verdict:?}");
    }
}

#[test]
fn transactions_and_sessions_are_refused() {
    for sql in OF_THE_SESSION {
        for access in [listed(), of_role(), SqlAccess::default()] {
            assert!(matches!(decide(sql, &access), Verdict::Forbidden(_)), "{sql}");
        }
    }
}

#[test]
fn texts_that_are_no_statement() {
    for (sql, said) in [
        ("", NO_STATEMENT),
        (" -- nothing\n;", NO_STATEMENT),
        ("SELECT 1; DROP TABLE users", ONE_AT_A_TIME),
        ("SELEC 1", "syntax error at or near \"SELEC\""),
        ("/* begin", "unterminated /* comment at or near \"/* begin\""),
    ] {
        let Verdict::Wrong(why) = decide(sql, &SqlAccess::default()) else { panic!("{sql}") };
        assert_eq!(why, said);
    }
}

#[test]
fn rows_are_counted_where_a_statement_changes_them() {
    for (sql, changes) in [
        ("SELECT 'insert', \"update\" FROM a", false),
        ("WITH a AS (SELECT 'delete') SELECT * FROM a", false),
        ("INSERT INTO a VALUES (1) RETURNING b", true),
        ("WITH a AS (SELECT 1) UPDATE b SET c = 1", true),
        ("WITH a AS (DELETE FROM b RETURNING c) SELECT * FROM a", true),
        ("WITH a AS (DELETE FROM b RETURNING my_function(c)) SELECT * FROM a", true),
        ("SELECT my_function('delete')", false),
    ] {
        let Verdict::Runs(run) = decide(sql, &SqlAccess::default()) else { panic!("{sql}") };
        assert_eq!(run.changes_rows, changes, "{sql}");
    }
}

#[test]
fn verdicts_are_kept_within_bounds() {
    let mut known = Known::default();
    for number in 0..200_000 {
        let verdict = Verdict::Runs(Run { changes_rows: false, shares_session: true, changes_schema: false });
        known.keep(&format!("SELECT {number}"), &verdict);
        known.keep("SELECT 1", &verdict);
    }
    assert!(known.bytes <= KEPT_BYTES && known.verdicts.len() < 70_000);
    assert!(known.get("SELECT 199999").is_some() && known.get("SELECT 0").is_none());
    known.keep(&"x".repeat(KEPT_STATEMENT + 1), &Verdict::Wrong(String::new()));
    assert!(known.get(&"x".repeat(KEPT_STATEMENT + 1)).is_none());
}

/// Functions that a read-only transaction of PostgreSQL 15 or of another version does not stop, in many forms.
const BEYOND_TRANSACTIONS: &[&str] = &[
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    "SELECT lo_from_bytea(0, 'a')",
    "SELECT lo_put(1, 0, 'a')",
    "SELECT lo_unlink(1)",
    "SELECT lowrite(lo_open(1, 131072), 'a')",
    "SELECT lo_truncate(1, 0)",
    "SELECT lo_truncate64(1, 0)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/a')",
    "SELECT pg_catalog.lo_create(0)",
    "SELECT * FROM lo_create(0)",
    "SELECT * FROM ROWS FROM (lo_create(0))",
    "SELECT 1 FROM generate_series(1, 2) WHERE lo_create(0) > 0",
    "SELECT 1 ORDER BY lo_create(0)",
    "SELECT 1 LIMIT lo_create(0)::int",
    "VALUES (lo_create(0))",
    "EXPLAIN ANALYZE SELECT lo_create(0)",
    "EXPLAIN (ANALYZE) SELECT lo_create(0)",
    "SELECT (0::oid).lo_create",
    "SELECT (lo.oid).lo_unlink FROM pg_largeobject_metadata lo",
    "WITH a AS (SELECT lo_create(0)) SELECT * FROM a",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_try_advisory_lock(1)",
    "SELECT pg_notify('a', 'b')",
    "SELECT pg_logical_emit_message(false, 'a', 'b')",
    "SELECT pg_switch_wal()",
    "SELECT pg_create_restore_point('a')",
    "SELECT pg_create_physical_replication_slot('a')",
    "SELECT pg_create_logical_replication_slot('a', 'b')",
    "SELECT pg_drop_replication_slot('a')",
    "SELECT pg_replication_origin_create('a')",
    "SELECT pg_terminate_backend(1)",
    "SELECT pg_cancel_backend(1)",
    "SELECT pg_reload_conf()",
    "SELECT pg_rotate_logfile()",
    "SELECT pg_promote()",
    "SELECT pg_wal_replay_pause()",
    "SELECT pg_stat_reset()",
    "SELECT pg_export_snapshot()",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT pg_import_system_collations('a')",
    "SELECT brin_summarize_new_values('a')",
    "SELECT gin_clean_pending_list('a')",
    "SELECT dblink_exec('dbname=postgres', 'CREATE TABLE a ()')",
    "SELECT dblink('dbname=postgres', 'CREATE TABLE a ()')",
    "SELECT query_to_xml('SELECT lo_create(0)', true, true, '')",
    "SELECT database_to_xml(true, true, '')",
    "SELECT my_function()",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "DO 'BEGIN PERFORM lo_create(0); END'",
    "CALL my_function()",
    "COPY (SELECT lo_create(0)) TO PROGRAM 'cat'",
    "COPY users FROM STDIN",
    "REFRESH MATERIALIZED VIEW a",
    "VACUUM",
    "ANALYZE",
];

#[test]
fn read_only_refuses_functions_that_act_beyond_transactions() {
    let read_only = SqlAccess { read_only: true, ..SqlAccess::default() };
    for sql in BEYOND_TRANSACTIONS {
        let verdict = decide(sql, &read_only);
        assert!(matches!(verdict, Verdict::Forbidden(_)), "{sql}: {verdict:?}");
    }
    // Without the option they run.
    assert!(matches!(decide("SELECT lo_create(0)", &SqlAccess::default()), Verdict::Runs(_)));
    for sql in
        ["SELECT count(*), lower(name) FROM anything", "SHOW search_path", "SELECT version()", "EXPLAIN SELECT 1"]
    {
        let verdict = decide(sql, &read_only);
        assert!(matches!(verdict, Verdict::Runs(_)), "{sql}: {verdict:?}");
    }
}
