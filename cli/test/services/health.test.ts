/** `/health` tells whether the database can do its work, however busy its connections are. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/sidecar.ts";
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
