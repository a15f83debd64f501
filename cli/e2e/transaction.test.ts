/**
 * `db.transaction` in a component, with SQLite and PostgreSQL: on `tenon run`, which rolls back when an instance ends in any way,
 * and on `wasmtime serve`, where the sidecar's limits of time do.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach, type Needs } from "../../testing/needs.ts";
import { Sidecar, type SidecarOptions } from "../src/embed/sidecar.ts";
import { type Ask, askAt } from "../test/services/ask.ts";
import { folder, startPostgres } from "../test/services/stores.ts";
import { developing, project } from "./develop.ts";
import { type Running, startTenon, startWasmtime, tenon } from "./servers.ts";

developing();

const handler = `
import { db, guard, noContent, ok, post, routes } from "@tenon/sdk";

const change = (tx, id, by) => tx.execute(["UPDATE accounts SET balance = balance + $1 WHERE id = $2", [by, id]]);

/** Begins a transaction and changes a row, and never ends it. */
const leaveOpen = () =>
  new Promise((resolve, reject) => {
    db.transaction(async (tx) => {
      await change(tx, 1, 1000);
      resolve();
      await new Promise(() => {});
    }).catch(reject);
  });

export default routes({
  move: post("/move", async (_, req) => {
    const { amount } = req.json();
    const left = await db.transaction(
      async (tx) => {
        await change(tx, 1, -amount);
        const [{ balance }] = await tx.query(["SELECT balance FROM accounts WHERE id = 1", []]);
        guard(balance >= 0, 409, "too little");
        await change(tx, 2, amount);
        return balance;
      },
      { isolation: "serializable" },
    );
    return ok({ left });
  }),
  leave: post("/leave", async () => {
    await leaveOpen();
    return noContent();
  }),
  throw: post("/throw", async () => {
    await leaveOpen();
    throw new Error("no");
  }),
  loop: post("/loop", async () => {
    await leaveOpen();
    for (;;);
  }),
  trap: post("/trap", async () => {
    await leaveOpen();
    const kept = [];
    for (;;) kept.push(new Uint8Array(2 ** 24).fill(1));
  }),
  wait: post("/wait", async () => {
    await leaveOpen();
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    return noContent();
  }),
  nested: post("/nested", () => db.transaction(() => db.transaction(async () => noContent()))),
});
`;

const databases: readonly { readonly name: string; readonly needs?: Needs }[] = [
  { name: "SQLite" },
  { name: "PostgreSQL", needs: "postgresql" },
];

/** A sidecar with two accounts, and how to end it. */
async function startDatabase(name: string, options: Partial<SidecarOptions>) {
  const store = name === "PostgreSQL" ? await startPostgres() : undefined;
  const url = store?.url ?? `sqlite:${join(folder(), "bank.db")}`;
  const sidecar = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off", ...options });
  const ask = askAt(sidecar.address);
  const statements = [
    { sql: "CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)" },
    { sql: "INSERT INTO accounts VALUES (1, 100), (2, 0)" },
  ];
  expect((await ask("POST", "/sql/batch", { json: { statements } })).status).toBe(200);
  return {
    address: sidecar.address,
    balances: async () => {
      const json = { sql: "SELECT balance FROM accounts ORDER BY id" };
      const { rows } = (await ask("POST", "/sql/query", { json })).json as { rows: { balance: number }[] };
      return rows.map(({ balance }) => balance);
    },
    stop: async () => {
      await sidecar.close();
      await store?.stop();
    },
  };
}

type Database = Awaited<ReturnType<typeof startDatabase>>;

const moved = async (ask: Ask, base: string, amount: number) => {
  const answer = await ask("POST", `${base}/move`, { json: { amount } });
  return [answer.status, answer.status === 200 ? answer.json.left : answer.json.detail];
};

let at: string;
beforeAll(async () => {
  const limits = "[server]\nrequest_timeout_ms = 3000\nmemory_limit_bytes = 134217728\n";
  at = await project("bank", handler, limits);
  const built = spawnSync(process.execPath, [tenon, "build", "-c"], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
});

const isolated = [
  ...databases.map((each) => ({ ...each, isolation: "request" })),
  { name: "SQLite", isolation: "shared" },
];

describeEach("db.transaction on tenon run, $name, isolation $isolation", isolated, ({ name, isolation }) => {
  let database: Database;
  let server: Running;
  let ask: Ask;
  const base = "/run/bank";
  beforeAll(async () => {
    // The sidecar would not end a transaction within the test.
    database = await startDatabase(name, { transactionIdleMs: 600_000, transactionTimeoutMs: 600_000 });
    server = await startTenon([], "bank", at, {
      TENON_SIDECARS_DB: database.address,
      TENON_SERVER_ISOLATION: isolation,
    });
    ask = askAt(new URL(server.base).origin);
  });
  afterAll(async () => {
    await server.stop();
    await database.stop();
  });

  test("commits, and rolls back what throws", async () => {
    expect(await moved(ask, base, 30)).toEqual([200, 70]);
    expect(await moved(ask, base, 80)).toEqual([409, "too little"]);
    expect(await database.balances()).toEqual([70, 30]);
  });

  test("refuses one inside of another", async () => {
    expect((await ask("POST", `${base}/nested`)).status).toBe(500);
    await expect.poll(server.errors).toMatch(/transactions are not nested/);
  });

  test.each([
    ["leave", 204],
    ["throw", 500],
    ["loop", 504],
    ["trap", 500],
  ])("rolls back when an instance ends: %s", async (route, status) => {
    const before = await database.balances();
    expect((await ask("POST", `${base}/${route}`)).status).toBe(status);
    // It needs the lock of the transaction that was open.
    expect(await moved(ask, base, 1)).toEqual([200, (before[0] as number) - 1]);
    expect(await database.balances()).toEqual([(before[0] as number) - 1, (before[1] as number) + 1]);
  });

  test("rolls back when the client has gone", async () => {
    const before = await database.balances();
    const leaving = new AbortController();
    const metric = async (pattern: RegExp) => Number(pattern.exec((await ask("GET", "/metrics")).text)?.[1] ?? 0);
    const calls = () => metric(/sidecar_calls_total{[^}]*outcome="ok"} (\d+)/);
    const begun = await calls();
    const left = ask("POST", `${base}/wait`, { signal: leaving.signal }).catch(() => undefined);
    // It begins, and changes a row.
    await expect.poll(calls, { timeout: 30_000 }).toBeGreaterThanOrEqual(begun + 2);
    leaving.abort();
    await left;
    expect(await moved(ask, base, 1)).toEqual([200, (before[0] as number) - 1]);
    // It did not run into its time limit.
    await expect.poll(() => metric(/requests_total{module="bank",method="POST",status="499"} (\d+)/)).toBe(1);
  });
});

const served = databases.map((each) => ({
  ...each,
  needs: ["wasmtime", ...(each.needs ? [each.needs].flat() : [])] as Needs,
}));

describeEach("db.transaction on wasmtime serve, $name", served, ({ name }) => {
  let database: Database;
  let server: Running;
  let ask: Ask;
  beforeAll(async () => {
    database = await startDatabase(name, { transactionIdleMs: 1000 });
    const component = join(at, "dist/bank-composed.wasm");
    server = await startWasmtime(component, { SIDECAR_DB_URL: database.address });
    ask = askAt(server.base);
  });
  afterAll(async () => {
    await server.stop();
    await database.stop();
  });

  test("commits, rolls back what throws, and in time what was left open", async () => {
    expect(await moved(ask, "", 30)).toEqual([200, 70]);
    expect(await moved(ask, "", 80)).toEqual([409, "too little"]);
    expect((await ask("POST", "/leave")).status).toBe(204);
    expect(await moved(ask, "", 1)).toEqual([200, 69]);
    expect(await database.balances()).toEqual([69, 31]);
  });
});
