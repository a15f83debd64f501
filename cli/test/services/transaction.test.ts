/** Transactions that stay open between requests, on everything that has SQL. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeEach, describeWith } from "../../../testing/needs.ts";
import type { SidecarOptions } from "../../src/embed/sidecar.ts";
import { type Asked, askAt } from "./ask.ts";
import { startProcess } from "./sidecar-process.ts";
import { folder, startPostgres } from "./stores.ts";
import { type Started, sidecar, sqliteFile, sqlTargets, type Target } from "./targets.ts";

const client = (started: Started) => {
  const run = (route: string, id: string | undefined, json: object, more: Asked = {}) => {
    const headers = { ...(id === undefined ? {} : { "tenon-transaction": id }), ...more.headers };
    return started.ask("POST", `/sql/${route}`, { json, ...more, headers });
  };
  return {
    run,
    begin: async (json: object = {}): Promise<string> => (await run("transaction", undefined, json)).json.id,
    execute: (id: string | undefined, sql: string, more?: Asked) => run("execute", id, { sql }, more),
    query: async (id: string | undefined, sql: string) => (await run("query", id, { sql })).json.rows,
    commit: (id: string) => run("transaction/commit", id, {}),
    rollBack: (id: string) => started.ask("DELETE", "/sql/transaction", { headers: { "tenon-transaction": id } }),
  };
};

const ADD = "UPDATE accounts SET balance = balance + 1";
const BALANCE = "SELECT balance FROM accounts";

async function withAccount(target: Target): Promise<Started> {
  const started = await target.start();
  await client(started).execute(undefined, "CREATE TABLE accounts (balance INTEGER CHECK (balance < 100))");
  await client(started).execute(undefined, "INSERT INTO accounts VALUES (0)");
  return started;
}

describeEach("transactions: $name", sqlTargets, (target) => {
  let started: Started;
  let sql: ReturnType<typeof client>;
  beforeAll(async () => {
    started = await withAccount(target);
    sql = client(started);
  });
  afterAll(() => started.stop());

  it("shows nothing to others before its commit", async () => {
    const begun = await sql.run("transaction", undefined, {});
    const { id } = begun.json;
    expect([begun.status, begun.headers["tenon-transaction"]]).toEqual([201, id]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect((await sql.execute(id, ADD)).json).toEqual({ rows_affected: 1 });
    const batch = { statements: [{ sql: ADD }, { sql: BALANCE, expect: { rows: 1 } }] };
    expect((await sql.run("batch", id, batch)).json.results[1].rows).toEqual([{ balance: 2 }]);
    expect([await sql.query(id, BALANCE), await sql.query(undefined, BALANCE)]).toEqual([
      [{ balance: 2 }],
      [{ balance: 0 }],
    ]);
    const committed = await sql.commit(id);
    expect([committed.status, committed.headers["tenon-transaction-ended"]]).toEqual([204, id]);
    expect(await sql.query(undefined, BALANCE)).toEqual([{ balance: 2 }]);
    expect((await sql.commit(id)).status).toBe(404);
    expect((await sql.execute(id, ADD)).status).toBe(404);
  });

  it("is rolled back by its client, and by a statement that fails", async () => {
    const first = await sql.begin();
    await sql.execute(first, ADD);
    expect((await sql.rollBack(first)).status).toBe(204);
    expect((await sql.rollBack(first)).status).toBe(404);
    for (const wrong of ["UPDATE accounts SET balance = 100", "SELECT nothing", "COMMIT", "SAVEPOINT a"]) {
      const id = await sql.begin();
      await sql.execute(id, ADD);
      expect((await sql.execute(id, wrong)).status, wrong).toBeGreaterThanOrEqual(400);
      const late = await sql.commit(id);
      expect([late.status, late.json.retryable]).toEqual([404, false]);
    }
    const id = await sql.begin();
    const statements = [{ sql: ADD }, { sql: ADD, expect: { rows: 2 } }];
    expect((await sql.run("batch", id, { statements })).status).toBe(409);
    expect(await sql.query(undefined, BALANCE)).toEqual([{ balance: 2 }]);
    expect((await sql.execute(undefined, ADD)).status).toBe(200);
    await sql.execute(undefined, "UPDATE accounts SET balance = 2");
  });

  it("refuses what has no meaning inside of one, and one inside of another", async () => {
    const id = await sql.begin();
    const key = { headers: { "idempotency-key": "a" } };
    expect((await sql.execute(id, ADD, key)).status).toBe(400);
    expect((await sql.run("batch", id, { statements: [{ sql: ADD }], isolation: "serializable" })).status).toBe(400);
    const nested = await sql.run("transaction", id, {});
    expect([nested.status, nested.json.detail]).toEqual([409, expect.stringMatching(/not nested/)]);
    expect((await sql.rollBack(id)).status).toBe(204);
    expect((await sql.run("transaction", undefined, { isolation: "none" })).status).toBe(400);
    expect((await started.ask("POST", "/sql/transaction/commit")).status).toBe(400);
    for (const unknown of ["", "x", "0".repeat(32)]) expect((await sql.commit(unknown)).status, unknown).toBe(404);
  });

  it("has the isolation that was asked for", async () => {
    const id = await sql.begin({ isolation: "repeatable read" });
    if (target.dialect === "postgres") {
      const level = "SELECT current_setting('transaction_isolation') AS level";
      expect(await sql.query(id, level)).toEqual([{ level: "repeatable read" }]);
    }
    expect((await sql.commit(id)).status).toBe(204);
  });

  it("ends with its client, in the middle of a statement", async () => {
    const endless =
      target.dialect === "postgres"
        ? "SELECT pg_sleep(8)"
        : "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT count(*) AS c FROM n";
    const leave = async () => {
      const id = await sql.begin();
      await sql.execute(id, ADD);
      const leaving = new AbortController();
      const left = sql.execute(id, endless, { signal: leaving.signal }).catch(() => undefined);
      await started.ask("GET", "/health");
      leaving.abort();
      await left;
      return (await sql.rollBack(id)).status;
    };
    // 204 where the statement had not begun yet.
    await expect.poll(leave).toBe(404);
    expect((await sql.execute(undefined, ADD)).status).toBe(200);
    expect(await sql.query(undefined, BALANCE)).toEqual([{ balance: 3 }]);
  });

  it("leaves nothing in the session for the next one", async () => {
    const id = await sql.begin();
    expect((await sql.execute(id, "CREATE TEMP TABLE mine (a INTEGER)")).status).toBe(200);
    expect((await sql.execute(id, "INSERT INTO mine VALUES (1)")).status).toBe(200);
    expect(await sql.query(id, "SELECT a FROM mine")).toEqual([{ a: 1 }]);
    expect((await sql.commit(id)).status).toBe(204);
    for (let n = 0; n < 4; n++) {
      const next = await sql.begin();
      expect((await sql.run("query", next, { sql: "SELECT a FROM mine" })).status).toBe(400);
    }
  });
});

const on = (options: Partial<SidecarOptions>): readonly Target[] => [
  sidecar("sql", "SQLite", "Unix", sqliteFile, options),
  sidecar("sql", "PostgreSQL", "TCP", startPostgres, options),
];

describeEach("limits of transactions: $name", on({ transactionIdleMs: 1000, transactionTimeoutMs: 3000 }), (target) => {
  let started: Started;
  let sql: ReturnType<typeof client>;
  beforeAll(async () => {
    started = await withAccount(target);
    sql = client(started);
  });
  afterAll(() => started.stop());

  it("rolls back one whose client has gone silent", async () => {
    const id = await sql.begin();
    await sql.execute(id, ADD);
    // It waits for the lock of the other one.
    expect((await sql.execute(undefined, ADD)).status).toBe(200);
    expect(await sql.query(undefined, BALANCE)).toEqual([{ balance: 1 }]);
    expect((await sql.commit(id)).status).toBe(404);
  });

  it("rolls back one that takes too long in all", async () => {
    const id = await sql.begin();
    const began = Date.now();
    await sql.execute(id, ADD);
    await expect.poll(async () => (await sql.execute(id, BALANCE)).status, { interval: 20 }).not.toBe(200);
    expect(Date.now() - began).toBeGreaterThan(2900);
    expect((await sql.commit(id)).status).toBe(404);
    expect(await sql.query(undefined, BALANCE)).toEqual([{ balance: 1 }]);
  });
});

describeEach(
  "transactions of others: $name",
  on({ token: "right", poolSize: 2, transactionIdleMs: 60_000 }),
  (target) => {
    const token = (name: string) => ({ authorization: `Bearer ${name}` });

    it("are not to be had without the token, and wait for one another", async () => {
      const started = await target.start();
      const begin = () => started.ask("POST", "/sql/transaction", { json: {}, headers: token("right") });
      const { id } = (await begin()).json;
      const named = { ...token("right"), "tenon-transaction": id };
      const query = (headers: Readonly<Record<string, string>>) =>
        started.ask("POST", "/sql/query", { json: { sql: "SELECT 1 AS a" }, headers });
      expect((await query({ "tenon-transaction": id })).status).toBe(401);
      expect((await query({ ...token("wrong"), "tenon-transaction": id })).status).toBe(401);
      expect((await query({ ...named, authorization: "bearer right" })).status).not.toBe(200);
      expect((await query(named)).json.rows).toEqual([{ a: 1 }]);
      // The second connection is for requests without a transaction.
      const second = await begin();
      expect([second.status, second.json.retryable]).toEqual([503, true]);
      expect((await query(token("right"))).status).toBe(200);
      await started.ask("DELETE", "/sql/transaction", { headers: named });
      expect((await begin()).status).toBe(201);
      await started.stop();
    });
  },
);

/** Kills a sidecar that has an open transaction. */
async function killed(url: string): Promise<void> {
  const directory = folder();
  const socket = join(directory, "db.sock");
  const ask = askAt(`unix://${socket}`);
  const sql = client({ ask, address: "", stop: async () => {} });
  const first = await startProcess("sql", socket, url);
  await sql.execute(undefined, "CREATE TABLE accounts (balance INTEGER)");
  await sql.execute(undefined, "INSERT INTO accounts VALUES (0)");
  const id = await sql.begin();
  expect((await sql.execute(id, ADD)).status).toBe(200);
  const exited = new Promise((resolve) => first.once("exit", resolve));
  first.kill("SIGKILL");
  await exited;
  const second = await startProcess("sql", socket, url);
  expect((await sql.commit(id)).status).toBe(404);
  expect((await sql.execute(undefined, ADD)).status).toBe(200);
  expect(await sql.query(undefined, BALANCE)).toEqual([{ balance: 1 }]);
  const ended = new Promise((resolve) => second.once("exit", resolve));
  second.kill("SIGTERM");
  await ended;
  rmSync(directory, { recursive: true, force: true });
}

describeWith("postgresql", "a sidecar on PostgreSQL that is killed", () => {
  it("leaves no lock, and nothing of its transactions", async () => {
    const store = await startPostgres();
    await killed(store.url);
    await store.stop();
  });
});

it("a sidecar on SQLite that is killed leaves no lock, and nothing of its transactions", async () => {
  const directory = folder();
  await killed(`sqlite:${join(directory, "store.db")}`);
  rmSync(directory, { recursive: true, force: true });
});

describe("a read-only sidecar", () => {
  it("has transactions that read", async () => {
    const started = await sidecar("sql", "SQLite", "Unix", sqliteFile, { readOnly: true }).start();
    const sql = client(started);
    const [one, other] = [await sql.begin(), await sql.begin()];
    expect(await sql.query(one, "SELECT 1 AS a")).toEqual([{ a: 1 }]);
    expect((await sql.execute(other, "CREATE TABLE a (b INTEGER)")).status).toBe(403);
    expect((await sql.commit(one)).status).toBe(204);
    await started.stop();
  });
});
