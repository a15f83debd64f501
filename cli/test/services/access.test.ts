/** Statements that a sidecar of a database refuses: writes, other tables, and slow ones. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { folder, startPostgres } from "./stores.ts";

const databases = [
  { name: "SQLite", open: async () => ({ url: `sqlite:${join(folder(), "a.db")}`, stop: async () => {} }) },
  { name: "PostgreSQL", needs: "postgresql" as const, open: startPostgres },
];

describeEach("access to $name", databases, ({ name, open }) => {
  const started: { close(): Promise<void> }[] = [];
  let store: Awaited<ReturnType<typeof open>>;
  const sidecar = async (options: object): Promise<(sql: string, ...params: unknown[]) => ReturnType<Ask>> => {
    const running = await Sidecar.start({
      kind: "sql",
      url: store.url,
      listen: "127.0.0.1:0",
      logLevel: "off",
      ...options,
    });
    started.push(running);
    return (sql, ...params) => askAt(running.address)("POST", "/sql/query", { json: { sql, params } });
  };

  beforeAll(async () => {
    store = await open();
    const all = await sidecar({});
    for (const sql of [
      "CREATE TABLE users (id INTEGER, name TEXT)",
      "CREATE TABLE secrets (token TEXT)",
      "INSERT INTO users VALUES (1, 'Ann')",
      "INSERT INTO secrets VALUES ('hunter2')",
      "CREATE VIEW leak AS SELECT token FROM secrets",
    ]) {
      expect((await all(sql)).status, sql).toBe(200);
    }
  });
  afterAll(async () => {
    for (const each of started) await each.close();
    await store.stop();
  });

  it("--read-only: statements that write are refused by the database itself", async () => {
    const read = await sidecar({ readOnly: true });
    expect((await read("SELECT name FROM users WHERE id = $1", 1)).json.rows).toEqual([{ name: "Ann" }]);
    for (const sql of [
      "INSERT INTO users VALUES (2, 'Bob')",
      "UPDATE users SET name = 'x'",
      "DELETE FROM users",
      "DROP TABLE users",
      "CREATE TABLE more (a INTEGER)",
      "WITH a AS (SELECT 1) INSERT INTO users SELECT 3, 'x'",
      ...(name === "PostgreSQL"
        ? ["SELECT set_config('transaction_read_only', 'off', false)", "SET default_transaction_read_only = off"]
        : ["PRAGMA query_only = 0", "PRAGMA user_version = 7"]),
    ]) {
      expect([400, 403], sql).toContain((await read(sql)).status);
    }
    if (name === "PostgreSQL") {
      await read("SELECT set_config('default_transaction_read_only', 'off', false)");
      for (let n = 0; n < 12; n++) expect((await read("DELETE FROM users")).status).toBe(403);
    }
    expect((await read("SELECT count(*) AS n FROM users")).json.rows).toEqual([{ n: 1 }]);
  });

  it.runIf(name === "PostgreSQL")("--read-only: what a read-only transaction does not stop is refused", async () => {
    const [all, read] = [await sidecar({}), await sidecar({ readOnly: true })];
    const count = async () => (await all("SELECT count(*) AS n FROM pg_largeobject_metadata")).json.rows;
    for (const sql of [
      "SELECT lo_create(0)",
      "SELECT lo_creat(-1)",
      "SELECT lo_from_bytea(0, 'a')",
      "SELECT (0::oid).lo_create",
      "EXPLAIN ANALYZE SELECT lo_create(0)",
      "SELECT pg_advisory_lock(1)",
      "SELECT pg_notify('a', 'b')",
      "SELECT pg_logical_emit_message(false, 'a', 'b')",
      "SELECT pg_switch_wal()",
      "SELECT nextval('numbers')",
      "SELECT setval('numbers', 9)",
      "COPY users TO '/tmp/a'",
    ]) {
      const answer = await read(sql);
      expect([answer.status, sql]).toEqual([sql.includes("numbers") ? 400 : 403, sql]);
    }
    expect(await count()).toEqual([{ n: 0 }]);
    expect((await all("SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory'")).json.rows).toEqual([{ n: 0 }]);
    // The check can fail.
    expect((await all("SELECT lo_create(0)")).status).toBe(200);
    expect(await count()).toEqual([{ n: 1 }]);
  });

  it.runIf(name === "PostgreSQL")("refuses values before they are in its memory", async () => {
    const one = await sidecar({ poolSize: 2 });
    const before = process.memoryUsage.rss();
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss() - before);
    }, 5);
    const large = "SELECT repeat('x', 200000000) AS a";
    const [answers, error, notice] = await Promise.all([
      Promise.all([1, 2, 3, 4].map(() => one(large))),
      one("SELECT ('x' || repeat('x', 100000000))::int"),
      one(`DO 'BEGIN RAISE NOTICE ''%'', repeat(''x'', 200000000); END'`),
    ]);
    clearInterval(timer);
    for (const { status, json } of [...answers, error, notice]) {
      expect([status, json.detail]).toEqual([400, expect.stringContaining("larger than")]);
    }
    // The sidecar is in this process. Six messages have 1.1 GB.
    expect(most).toBeLessThan(300_000_000);
    expect((await one("SELECT 1 AS a")).json.rows).toEqual([{ a: 1 }]);
  });

  it.runIf(name === "PostgreSQL")(
    "parses large statements within a bound of memory, and nobody waits for them",
    async () => {
      const one = await sidecar({});
      const before = process.memoryUsage.rss();
      let most = 0;
      const timer = setInterval(() => {
        most = Math.max(most, process.memoryUsage.rss() - before);
      }, 5);
      const greedy = [",1", ",a", ",f()"].map((part) => one(`SELECT 1${part.repeat(1_000_000 / part.length)}`));
      const [small, ...large] = await Promise.all([one("SELECT 2 AS a"), ...greedy]);
      clearInterval(timer);
      expect(small?.json.rows).toEqual([{ a: 2 }]);
      for (const { status, json } of large) {
        expect([status, json.detail]).toEqual([400, expect.stringContaining("too large")]);
      }
      expect(most).toBeLessThan(500_000_000);
    },
  );

  it("--tables: rows of the tables that are listed, and nothing else", async () => {
    const listed = await sidecar({ tables: ["users"] });
    expect((await listed("SELECT u.name FROM users AS u WHERE u.id = $1", 1)).json.rows).toEqual([{ name: "Ann" }]);
    expect((await listed("WITH a AS (SELECT * FROM users) SELECT count(*) AS n FROM a")).json.rows).toEqual([{ n: 1 }]);
    expect((await listed("UPDATE users SET name = $1 WHERE id = 1 RETURNING name", "Ann")).json.rows).toEqual([
      { name: "Ann" },
    ]);
    for (const sql of [
      "SELECT * FROM secrets",
      "SELECT count(*) FROM secrets",
      "SELECT * FROM leak",
      "SELECT count(*) FROM leak",
      "SELECT (SELECT token FROM secrets)",
      "SELECT name FROM users UNION SELECT token FROM secrets",
      "INSERT INTO users SELECT 1, token FROM secrets",
      "UPDATE users SET name = (SELECT token FROM secrets)",
      "DELETE FROM secrets",
      "INSERT INTO secrets VALUES ('x')",
      "DROP TABLE users",
      "CREATE TABLE more (a INTEGER)",
      "ALTER TABLE users ADD COLUMN a INTEGER",
      "WITH users AS (SELECT token AS name FROM secrets) SELECT name FROM users",
      ...(name === "PostgreSQL"
        ? ["SELECT * FROM pg_authid", "SELECT query_to_xml('select * from secrets', true, true, '')", "TABLE secrets"]
        : ["SELECT * FROM sqlite_master", "PRAGMA table_info(secrets)", "SELECT * FROM pragma_table_info('secrets')"]),
    ]) {
      const answer = await listed(sql);
      // SQLite's grammar has no TABLE.
      expect([answer.status, answer.text.includes("hunter2")], sql).toEqual([403, false]);
    }
  });

  it.runIf(name === "PostgreSQL")("--tables: what was looked at is what runs, to the last character", async () => {
    const listed = await sidecar({ tables: ["users"] });
    for (const [sql, value] of [
      ["SELECT 'a''''b' AS a", "a''b"],
      ["SELECT '\\' AS a --'", "\\"],
      // One literal, as PostgreSQL reads it.
      [
        "SELECT '\\'' || (SELECT string_agg(token, chr(44)) FROM secrets) --' AS a",
        "\\' || (SELECT string_agg(token, chr(44)) FROM secrets) --",
      ],
      ["SELECT E'\\'' AS a", "'"],
      ["SELECT U&'d\\0061t' AS a", "dat"],
      ["SELECT N'\\' || $$'$$ AS a", "\\'"],
    ] as const) {
      expect((await listed(sql)).json.rows, sql).toEqual([{ a: value }]);
    }
    for (const sql of [
      "SELECT N'\\' || (SELECT max(token) FROM secrets) --'",
      "SELECT U&'\\0027' || (SELECT max(token) FROM secrets)",
      "WITH d AS (SELECT '\\'), e AS (DELETE FROM secrets RETURNING token) SELECT * FROM e --')",
    ]) {
      const answer = await listed(sql);
      expect([answer.status, answer.text.includes("hunter2")], sql).toEqual([403, false]);
    }
  });

  it.runIf(name === "PostgreSQL")("--tables: a name with a dot opens no table of a schema", async () => {
    const listed = await sidecar({ tables: ["users"] });
    for (const sql of [
      'WITH "public.secrets" AS (SELECT 1) SELECT * FROM public.secrets',
      'WITH RECURSIVE "public.secrets" AS (SELECT 1) SELECT * FROM "public"."secrets"',
      'SELECT * FROM (WITH "public.secrets" AS (SELECT 1) SELECT token FROM public.secrets) x',
    ]) {
      const answer = await listed(sql);
      expect([answer.status, answer.text.includes("hunter2")], sql).toEqual([403, false]);
    }
  });

  it.runIf(name === "PostgreSQL")("--tables: column notation calls no function", async () => {
    const all = await sidecar({});
    for (const sql of [
      "CREATE FUNCTION leaks(users) RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
      "CREATE FUNCTION upper(users) RETURNS text LANGUAGE sql AS 'SELECT token FROM public.secrets'",
    ]) {
      expect((await all(sql)).status, sql).toBe(200);
    }
    const listed = await sidecar({ tables: ["users"] });
    for (const sql of [
      "SELECT (('select token::tsvector from secrets'::text).ts_stat).word",
      "SELECT ('/etc/passwd'::text).pg_read_file",
      "SELECT x.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS x",
      "SELECT unnest.pg_read_file FROM unnest(ARRAY['/etc/passwd'])",
      "SELECT ('secrets'::text).regclass",
      "SELECT u.leaks FROM users u",
      "SELECT (u).leaks FROM users u",
      "SELECT upper(u) FROM users u",
      "SELECT u.upper FROM users u",
    ]) {
      const answer = await listed(sql);
      expect([answer.status, /hunter2|root:/.test(answer.text)], `${sql} ${answer.text}`).toEqual([403, false]);
    }
    expect((await listed("SELECT pg_catalog.upper(u.name) AS a FROM users u")).json.rows).toEqual([{ a: "ANN" }]);
    expect((await all("DROP FUNCTION upper(users)")).status).toBe(200);
  });

  it.runIf(name === "PostgreSQL")("--role: a connection has the rights of the role, and no way back", async () => {
    const all = await sidecar({});
    for (const sql of [
      'CREATE ROLE "modules-1" NOLOGIN',
      'GRANT SELECT, UPDATE ON users TO "modules-1"',
      "CREATE FUNCTION as_owner() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RESET ROLE; SET ROLE NONE; RETURN (SELECT token FROM secrets); END $$",
    ]) {
      expect((await all(sql)).status, sql).toBe(200);
    }
    const limited = await sidecar({ role: "modules-1", poolSize: 1 });
    const who = "SELECT current_user::text AS a, session_user::text AS b";
    expect((await limited(who)).json.rows).toEqual([{ a: "modules-1", b: "tenon" }]);
    expect((await limited("SELECT name FROM users")).json.rows).toEqual([{ name: "Ann" }]);
    for (const sql of [
      "SELECT * FROM secrets",
      "SELECT * FROM leak",
      "DELETE FROM users",
      "RESET ROLE",
      "SET ROLE NONE",
      "SET LOCAL ROLE tenon",
      "RESET ALL",
      "DISCARD ALL",
      "SET SESSION AUTHORIZATION DEFAULT",
      "SELECT set_config('role', 'none', false)",
      "SELECT U&\"set\\005fconfig\"('role', 'none', false)",
      "SELECT (query_to_xml('SELECT set_config(''role'', ''none'', false)', true, true, ''))::text",
      "SELECT ('SELECT set_config(''role'', ''none'', false)::tsvector'::text).ts_stat",
      "SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, set_config(''role'', ''none'', false)::tsquery')",
      "UPDATE pg_settings SET setting = 'none' WHERE name = 'role'",
      "UPDATE pg_catalog.pg_settings SET setting = 'none' WHERE name = 'role'",
      "DO 'BEGIN RESET ROLE; END'",
      "SELECT as_owner()",
      "SELECT * FROM as_owner()",
      "EXPLAIN ANALYZE SELECT as_owner()",
      "CREATE TABLE mine (a int)",
      "CALL as_owner()",
    ]) {
      const answer = await limited(sql);
      expect([answer.status, answer.text.includes("hunter2")], `${sql} ${answer.text}`).toEqual([403, false]);
      expect((await limited(who)).json.rows, sql).toEqual([{ a: "modules-1", b: "tenon" }]);
    }
    // Without the line of PostgreSQL's own source.
    await expect(sidecar({ role: "nobody" })).rejects.toThrow(/PostgreSQL: .*role "nobody" does not exist$/);
  });

  it("ends statements that take too long, and goes on", async () => {
    const hasty = await sidecar({ statementTimeoutMs: 200, poolSize: 1 });
    const forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
    expect((await hasty(forever)).status).toBe(504);
    expect((await hasty("SELECT 1 AS a")).json.rows).toEqual([{ a: 1 }]);
  });

  it("keeps to its own limits", async () => {
    const small = await sidecar({ maxRows: 1, maxBodyBytes: 100 });
    expect((await small("SELECT 1 UNION SELECT 2")).json.detail).toMatch(/more than 1 rows/);
    expect((await small("SELECT 1 -- ", "x".repeat(100))).status).toBe(413);
    const large = await sidecar({ maxBodyBytes: 50_000_000 });
    const text = "x".repeat(40_000_000);
    expect((await large("SELECT length(CAST($1 AS TEXT)) AS n", text)).json.rows).toEqual([{ n: text.length }]);
  });
});
