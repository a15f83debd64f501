/** Sessions of the databases behind SQL: no request sees the state that another one left. */
import { expect, it } from "vitest";
import { describeSql } from "./sql-suite.ts";

describeSql("SQL sessions: $name", ({ postgres, ask, run, query, execute }) => {
  it.runIf(postgres)("gives the next request a session as the last one found it", async () => {
    await query("SELECT set_config('statement_timeout', '1', false)");
    await execute("CREATE TEMP TABLE gone (a int)");
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => query("SELECT current_setting('statement_timeout') AS a")),
    );
    for (const answer of answers) expect(answer.json.rows).toEqual([{ a: "10s" }]);
    expect((await query("SELECT * FROM gone")).status).toBe(400);
    expect((await query("SET statement_timeout = 0")).status).toBe(403);
  });

  it.runIf(postgres)("a statement that may leave something in its session costs the connection", async () => {
    await execute(
      "CREATE FUNCTION own_setting() RETURNS text LANGUAGE sql AS $$ SELECT set_config('a.b', 'c', false) $$",
    );
    const session =
      "SELECT current_setting('a.b', true) AS a, current_setting('TimeZone') AS b, " +
      "to_regclass('pg_temp.left_behind') IS NULL AS c";
    for (const sql of [
      "SELECT U&\"set\\005fconfig\"('a.b', 'c', false)",
      "SELECT \"set_config\"('a.b', 'c', false)",
      "SELECT (query_to_xml('SELECT set_config(''a.b'', ''c'', false)', true, true, ''))::text",
      "SELECT own_setting()",
      "UPDATE pg_settings SET setting = 'UTC+7' WHERE name = 'TimeZone'",
      "DO $$ BEGIN PERFORM set_config('a.b', 'c', false); END $$",
      "EXPLAIN ANALYZE SELECT set_config('a.b', 'c', false)",
      "CREATE TABLE pg_temp.left_behind AS SELECT 1",
      "SELECT 1 AS a INTO TEMPORARY left_behind",
      "SELECT pg_advisory_lock(9)",
    ]) {
      const before = await query(sql);
      expect([200, 400], `${sql} ${before.text}`).toContain(before.status);
      const sessions = await Promise.all(Array.from({ length: 12 }, () => query(session)));
      for (const { json } of sessions) expect(json.rows, sql).toEqual([{ a: null, b: "UTC", c: true }]);
    }
    // A statement that leaves no session state keeps its connection.
    const sessions = new Set<number>();
    for (let n = 0; n < 30; n++) sessions.add((await query("SELECT pg_backend_pid() AS pid")).json.rows[0].pid);
    expect(sessions.size).toBeLessThanOrEqual(8);
  });

  it.runIf(postgres)("shows nothing that an earlier request left in a session", async () => {
    await execute("INSERT INTO users (name) VALUES ('before lastval')");
    expect((await query("SELECT lastval()")).json.detail).toMatch(/not yet defined/);
    const texts = "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%before%'";
    expect((await query(texts)).json.rows).toHaveLength(1);
    const both = await run("batch", {
      statements: [{ sql: "INSERT INTO users (name) VALUES ('with lastval')" }, { sql: "SELECT lastval() > 0 AS a" }],
    });
    expect(both.json.results[1].rows).toEqual([{ a: true }]);
  });

  it.runIf(postgres)("closes the connection of a client that leaves in the middle of a statement", async () => {
    const waiting = async () => {
      const sql = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
      return (await query(sql)).json.rows[0].n;
    };
    const left = new AbortController();
    const json = { sql: "SELECT pg_backend_pid() AS pid, pg_sleep(8)" };
    const asked = ask("POST", "/sql/query", { json, signal: left.signal });
    await expect.poll(waiting).toBe(1);
    const find = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    const pid: number = (await query(find)).json.rows[0].pid;
    left.abort();
    await expect(asked).rejects.toThrow();
    const alive = async () => (await query("SELECT FROM pg_stat_activity WHERE pid = $1", pid)).json.rows;
    await expect.poll(alive).toEqual([]);
  });

  it.runIf(!postgres)("keeps what only a connection has from other requests", async () => {
    for (const sql of [
      "CREATE TABLE notes (a TEXT)",
      "INSERT INTO notes VALUES ('mine')",
      "CREATE VIRTUAL TABLE found USING fts5(text)",
      "INSERT INTO found VALUES ('a word')",
    ]) {
      expect((await execute(sql)).status, sql).toBe(200);
    }
    for (const sql of [
      "CREATE VIRTUAL TABLE temp.notes USING fts5vocab('main', 'found', 'row')",
      "CREATE VIRTUAL TABLE Temp.notes USING fts5(a)",
      'CREATE VIRTUAL TABLE "temp"."notes" USING fts5(a)',
      "CREATE TABLE temp.notes (a TEXT)",
      "CREATE TEMP VIEW notes AS SELECT 'not mine' AS a",
      "CREATE TEMPORARY TABLE notes AS SELECT 'not mine' AS a",
      "CREATE TEMP TRIGGER t AFTER INSERT ON main.notes BEGIN DELETE FROM main.notes; END",
    ]) {
      expect((await execute(sql)).status, sql).toBe(200);
      const answers = await Promise.all(Array.from({ length: 12 }, () => query("SELECT a FROM notes")));
      for (const { json } of answers) expect(json.rows, sql).toEqual([{ a: "mine" }]);
      expect((await execute("INSERT INTO notes VALUES ('mine')")).status).toBe(200);
      expect((await execute("DELETE FROM notes WHERE rowid > 1")).json, sql).toEqual({ rows_affected: 1 });
    }
    for (const sql of [
      "PRAGMA case_sensitive_like = 1",
      "PRAGMA temp_store = 2",
      "PRAGMA recursive_triggers = 1",
      "PRAGMA defer_foreign_keys = 1",
      "PRAGMA query_only(1)",
    ]) {
      expect((await query(sql)).status, sql).toBe(403);
    }
  });

  it.runIf(!postgres)("gives the count and the row id of a request's own statements only", async () => {
    await execute("CREATE TABLE counted (a TEXT)");
    await execute("INSERT INTO counted VALUES ('a'), ('b')");
    const counts = "SELECT changes() AS a, total_changes() AS b, last_insert_rowid() AS c";
    const none = { a: 0, b: 0, c: 0 };
    expect((await query(counts)).json.rows).toEqual([none]);
    expect((await query(`SELECT * FROM (${counts})`)).json.rows).toEqual([none]);
    const batch = await run("batch", { statements: [{ sql: "INSERT INTO counted VALUES ('c')" }, { sql: counts }] });
    expect(batch.json.results[1].rows).toEqual([{ a: 1, b: 1, c: 3 }]);
    expect((await query("SELECT count(*) AS n FROM counted")).json.rows).toEqual([{ n: 3 }]);
  });
});
