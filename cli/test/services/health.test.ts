/** `/health` reports whether the database works, however busy its connections are. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { askAt } from "./ask.ts";
import { folder, startPostgres } from "./stores.ts";

const options = { kind: "sql", listen: "127.0.0.1:0", logLevel: "off" } as const;

/** The one connection of the sidecar is in use. */
async function isUpWhileBusy(url: string): Promise<void> {
  await using sidecar = await Sidecar.start({ ...options, url, poolSize: 1 });
  const ask = askAt(sidecar.address);
  const { id } = (await ask("POST", "/sql/transaction", { json: {} })).json;
  for (let n = 0; n < 3; n++) expect((await ask("GET", "/health")).status).toBe(200);
  const headers = { "tenon-transaction": id };
  expect((await ask("POST", "/sql/query", { json: { sql: "SELECT 1 AS a" }, headers })).json.rows).toEqual([{ a: 1 }]);
  expect((await ask("DELETE", "/sql/transaction", { headers })).status).toBe(204);
}

it("SQLite: is up while all connections are in use", async () => {
  const directory = folder();
  await isUpWhileBusy(`sqlite:${join(directory, "busy.db")}`);
  rmSync(directory, { recursive: true, force: true });
});

describeWith("postgresql", "health on PostgreSQL", () => {
  it("is up while all connections are in use, and again after a crash", async () => {
    const store = await startPostgres();
    await isUpWhileBusy(store.url);
    await using sidecar = await Sidecar.start({ ...options, url: store.url });
    const status = async () => (await askAt(sidecar.address)("GET", "/health")).status;
    expect(await status()).toBe(200);
    store.crash();
    await expect.poll(status).toBe(200);
    await store.stop();
  });

  it.each([
    { kind: "queue", table: "tenon_queue", path: "/queue/a", json: { messages: [{ body: 1 }] } },
    { kind: "cron", table: "tenon_cron_jobs", path: "/cron", json: { name: "a", schedule: "@daily", module: "a" } },
  ] as const)("of $kind is up while all connections are in use", async ({ kind, table, path, json }) => {
    const store = await startPostgres();
    await using sidecar = await Sidecar.start({ ...options, kind, url: store.url, poolSize: 1 });
    await using sql = await Sidecar.start({ ...options, url: store.url });
    const ask = askAt(sidecar.address);
    const askSql = askAt(sql.address);
    expect((await ask("POST", path, { json })).status).toBeLessThan(300);
    const leased = async () => (await ask("POST", "/queue/a/lease", { json: {} })).json.messages[0];
    const done = kind === "queue" ? await leased() : undefined;
    // Another client has the row that the one connection waits for.
    const headers = { "tenon-transaction": (await askSql("POST", "/sql/transaction", { json: {} })).json.id };
    const lock = { sql: `SELECT 1 AS a FROM ${table} FOR UPDATE` };
    expect((await askSql("POST", "/sql/query", { json: lock, headers })).json.rows).toEqual([{ a: 1 }]);
    const waiting = kind === "queue" ? ask("POST", "/queue/a/done", { json: done }) : ask("DELETE", "/cron/a");
    const waits = { sql: "SELECT 1 AS a FROM pg_stat_activity WHERE wait_event_type = 'Lock'" };
    await expect.poll(async () => (await askSql("POST", "/sql/query", { json: waits })).json.rows).toHaveLength(1);
    for (let n = 0; n < 3; n++) expect((await ask("GET", "/health")).status).toBe(200);
    expect((await askSql("DELETE", "/sql/transaction", { headers })).status).toBe(204);
    expect((await waiting).status).toBe(204);
    store.crash();
    await expect.poll(async () => (await ask("GET", "/health")).status).toBe(200);
    await store.stop();
  });

  it("is down on a replica, unless only reads are asked of it", async () => {
    const store = await startPostgres();
    store.crash(({ data }) => writeFileSync(join(data, "standby.signal"), ""));
    await using writes = await Sidecar.start({ ...options, url: store.url });
    expect((await askAt(writes.address)("GET", "/health")).status).toBe(503);
    await using reads = await Sidecar.start({ ...options, url: store.url, readOnly: true });
    expect((await askAt(reads.address)("GET", "/health")).status).toBe(200);
    await store.stop();
  });
});
