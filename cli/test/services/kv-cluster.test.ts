/** Key-value while the servers behind it change their parts: a failover that sentinels decide, and slots that move. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { type ClusterStore, type SentinelStore, startCluster, startSentinel } from "./redis-stores.ts";
import { redisCommand } from "./stores.ts";

const options = { kind: "kv", listen: "127.0.0.1:0", logLevel: "off" } as const;

describeWith("redis-server", "key-value behind sentinels", () => {
  let store: SentinelStore;
  let sidecar: Sidecar;
  beforeAll(async () => {
    store = await startSentinel();
    sidecar = await Sidecar.start({ ...options, url: store.url });
  });
  afterAll(async () => {
    await sidecar.close();
    await store.stop();
  });

  it("writes to the new master after a failover, and counts nothing twice", { timeout: 60_000 }, async () => {
    const ask = askAt(sidecar.address);
    expect((await ask("PUT", "/kv/before", { body: "x" })).status).toBe(204);
    let acknowledged = 0;
    let sent = 0;
    const count = async () => {
      sent++;
      const { status } = await ask("POST", "/kv/count", { json: { incr: 1 } });
      if (status === 200) acknowledged++;
      return status;
    };
    for (let n = 0; n < 20; n++) expect(await count()).toBe(200);
    await expect.poll(() => redisCommand(store.replica.socket, "HGET tenon:kv:count v")).toMatch(/20$/);
    await store.master.crash();
    await expect.poll(count, { timeout: 30_000, interval: 50 }).toBe(200);
    for (let n = 0; n < 20; n++) expect(await count()).toBe(200);
    const { text } = await ask("GET", "/kv/count");
    expect(Number(text)).toBeGreaterThanOrEqual(acknowledged);
    expect(Number(text)).toBeLessThanOrEqual(sent);
    expect((await ask("GET", "/kv/before")).text).toBe("x");
    expect((await ask("GET", "/kv")).json.keys).toEqual(["before", "count"]);
    expect((await ask("GET", "/health")).status).toBe(200);
  });

  it("logs in at the master as the URL says", async () => {
    await redisCommand(store.replica.socket, "CONFIG SET requirepass secret@1");
    await expect(Sidecar.start({ ...options, url: store.url })).rejects.toMatchObject({ code: "BACKEND" });
    const url = store.url.replace("://", "://:secret%401@");
    // For a moment after the failover the sentinel does not list the new master as one that is up.
    await using allowed = await vi.waitFor(() => Sidecar.start({ ...options, url }), { timeout: 30_000, interval: 20 });
    expect((await askAt(allowed.address)("GET", "/kv/before")).text).toBe("x");
  });

  it("refuses sentinels that do not know the master", async () => {
    const url = store.url.replace("mymaster", "nobody");
    await expect(Sidecar.start({ ...options, url })).rejects.toMatchObject({
      code: "BACKEND",
      message: expect.stringContaining("the sentinels give no master"),
    });
  });
});

describeWith("redis-server", "key-value in a cluster", () => {
  let store: ClusterStore;
  let sidecar: Sidecar;
  let ask: Ask;
  beforeAll(async () => {
    store = await startCluster();
    sidecar = await Sidecar.start({ ...options, url: store.url });
    ask = askAt(sidecar.address);
  });
  afterAll(async () => {
    await sidecar.close();
    await store.stop();
  });

  const keys = Array.from({ length: 60 }, (_, n) => `spread:${String(n).padStart(2, "0")}`);

  it("spreads entries over the masters, reads many of them at once, and lists them all", async () => {
    for (const key of keys) expect((await ask("PUT", `/kv/${key}`, { body: key })).status).toBe(204);
    for (const node of store.nodes) expect(await redisCommand(node.socket, "DBSIZE")).not.toBe(":0");
    const { entries } = (await ask("POST", "/kv", { json: { get: [...keys, "none"] } })).json;
    expect(entries.map((entry: { value: string } | null) => entry?.value)).toEqual([...keys, undefined]);
    const seen: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page: { keys: string[]; next: string | null } = (await ask("GET", `/kv?limit=7&after=${after}`)).json;
      seen.push(...page.keys);
      after = page.next;
    }
    expect(seen).toEqual(keys);
  });

  it("writes together what is on one server, and says how to get there", async () => {
    const set = (names: readonly string[]) =>
      ask("POST", "/kv", { json: { set: names.map((key) => ({ key, value: "x" })) } });
    expect((await set(["{a}1", "{a}2"])).status).toBe(200);
    const refused = await set(["one", "two", "three"]);
    expect(refused.json).toMatchObject({ status: 400, detail: expect.stringContaining("{user:1}:name") });
    expect((await ask("POST", "/kv", { json: { get: ["one", "two", "three"] } })).json.entries).toEqual([
      null,
      null,
      null,
    ]);
  });

  it("follows slots while they move, and counts nothing twice", { timeout: 60_000 }, async () => {
    const tagged = Array.from({ length: 8 }, (_, n) => `{moved}:${n}`);
    await ask("POST", "/kv", { json: { set: tagged.map((key) => ({ key, value: "0" })) } });
    const slot = Number((await redisCommand(store.nodes[0]?.socket as string, "CLUSTER KEYSLOT {moved}")).slice(1));
    let sums = 0;
    const count = async () => {
      for (const key of tagged) {
        const { status, json } = await ask("POST", `/kv/${key}`, { json: { incr: 1 } });
        expect([status, key, json]).toEqual([200, key, { value: sums + 1 }]);
      }
      sums++;
    };
    for (let round = 0; round < 3; round++) {
      const to = store.nodes.find((node) => node !== store.ownerOf(slot)) as ClusterStore["nodes"][number];
      await store.move(slot, to, async () => {
        await count();
        expect((await ask("GET", `/kv?prefix={moved}`)).json.keys).toEqual(tagged);
        expect((await ask("GET", `/kv/{moved}:none`)).status).toBe(404);
      });
      await count();
      const { entries } = (await ask("POST", "/kv", { json: { get: tagged } })).json;
      expect(entries.map(({ value }: { value: string }) => value)).toEqual(tagged.map(() => String(sums)));
    }
  });

  it("logs in as the URL says", async () => {
    for (const node of store.nodes) await redisCommand(node.socket, "CONFIG SET requirepass secret@1");
    await expect(Sidecar.start({ ...options, url: store.url })).rejects.toMatchObject({ code: "BACKEND" });
    await using allowed = await Sidecar.start({ ...options, url: store.url.replace("://", "://:secret%401@") });
    for (const key of keys) expect((await askAt(allowed.address)("GET", `/kv/${key}`)).text).toBe(key);
  });

  it("is down while a master is", { timeout: 60_000 }, async () => {
    expect((await ask("GET", "/health")).status).toBe(200);
    await store.nodes[2]?.crash();
    await expect.poll(async () => (await ask("GET", "/health")).status).toBe(503);
  });
});
