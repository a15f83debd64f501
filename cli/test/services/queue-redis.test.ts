/** Queues in Redis beyond the contract of all stores: its memory, evictions, crashes, and remaining names. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { startInProcess } from "../../src/embed/in-process.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { startSentinel } from "./redis-stores.ts";
import { folder, type RedisStore, redisCommand, runRedis, startRedis } from "./stores.ts";

const options = { kind: "queue", listen: "127.0.0.1:0", logLevel: "off" } as const;

interface Delivered {
  readonly id: string;
  readonly body: unknown;
  readonly receipt: string;
}

const clientOf = (ask: Ask, name: string) => ({
  send: (...messages: object[]) => ask("POST", `/queue/${name}`, { json: { messages } }),
  lease: async (more: object = {}): Promise<Delivered[]> =>
    (await ask("POST", `/queue/${name}/lease`, { json: { max: 100, ...more } })).json.messages,
  done: ({ id, receipt }: Delivered) => ask("POST", `/queue/${name}/done`, { json: { id, receipt } }),
});

describeWith("redis-server", "queues in Redis", () => {
  let store: RedisStore;
  let sidecar: Sidecar;
  let ask: Ask;
  beforeEach(async () => {
    store = await startRedis();
    sidecar = await Sidecar.start({ ...options, url: store.url, prefix: "app:" });
    ask = askAt(sidecar.address);
  });
  afterEach(async () => {
    await sidecar.close();
    await store.stop();
  });
  const redis = (command: string) => redisCommand(store.socket, command);

  it("serves them in the process of a runtime, from the variable that has the URL", async () => {
    process.env["TENON_TEST_QUEUE"] = store.url;
    await using inProcess = await startInProcess("queue", {
      run: "queue",
      url: "env:TENON_TEST_QUEUE",
      prefix: "app:",
    });
    const sent = await inProcess.ask("POST", "/queue/shared", { messages: [{ body: "here" }] });
    expect(sent.status).toBe(200);
    expect((await clientOf(ask, "shared").lease()).map(({ body }) => body)).toEqual(["here"]);
  });

  it("refuses a Redis that would evict messages, and says what to set", async () => {
    await redis("CONFIG SET maxmemory-policy allkeys-lru");
    await expect(Sidecar.start({ ...options, url: store.url })).rejects.toMatchObject({
      code: "BACKEND",
      message: expect.stringMatching(/maxmemory-policy is allkeys-lru.*noeviction/),
    });
    await redis("CONFIG SET maxmemory-policy volatile-lru");
    await (await Sidecar.start({ ...options, url: store.url })).close();
  });

  it("refuses messages when it is full, all of a request, and gives those that it has", async () => {
    const queue = clientOf(ask, "full");
    await redis("CONFIG SET maxmemory 4mb");
    const message = { body: "x".repeat(100_000), key: "k" };
    const statuses: number[] = [];
    while (statuses.at(-1) !== 507) statuses.push((await queue.send(message, message)).status);
    expect(statuses.slice(0, -1).every((status) => status === 200)).toBe(true);
    const kept = 2 * (statuses.length - 1);
    expect((await ask("GET", "/queue")).json.queues).toEqual([{ name: "full", ready: kept, delayed: 0, leased: 0 }]);
    for (let n = 0; n < kept; n++) {
      const [leased] = await queue.lease();
      expect((await queue.done(leased as Delivered)).status).toBe(204);
    }
    expect((await ask("GET", "/queue")).json.queues).toEqual([]);
  });

  it("leaves nothing of a queue that is empty but its name", async () => {
    const queue = clientOf(ask, "gone");
    await queue.send({ body: 1, key: "a" }, { body: 2, key: "a" }, { body: 3, delay: 0.01 }, { body: 4 });
    await expect
      .poll(async () => {
        for (const message of await queue.lease()) await queue.done(message);
        return (await ask("GET", "/queue")).json.queues;
      })
      .toEqual([]);
    expect((await redis("KEYS *")).split("\r\n").filter((part) => part.startsWith("app:"))).toEqual(
      expect.arrayContaining(["app:{queues}:id", "app:{queues}:names"]),
    );
    expect(await redis("DBSIZE")).toBe(":2");
  });

  it("gives ids that never come again, in whatever queue, also when Redis has forgotten them", async () => {
    const ids = async (name: string) => (await clientOf(ask, name).send({ body: 1 }, { body: 2 })).json.ids.map(Number);
    const before: number[] = [...(await ids("one")), ...(await ids("two"))];
    await redis("FLUSHALL");
    const after: number[] = [...(await ids("two")), ...(await ids("one"))];
    const all = [...before, ...after];
    expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
  });

  it("gives no more bytes in a lease than an answer may have, and one message at least", async () => {
    const queue = clientOf(ask, "large");
    const body = "x".repeat(4_000_000);
    for (let n = 0; n < 4; n++) await queue.send({ body: n + body });
    expect((await queue.lease()).map(({ body }) => String(body)[0])).toEqual(["0", "1"]);
    expect((await queue.lease()).map(({ body }) => String(body)[0])).toEqual(["2", "3"]);
  });

  it("lays aside what other hands have spoiled", async () => {
    const queue = clientOf(ask, "spoiled");
    await queue.send({ body: 1 }, { body: 2 });
    const [number] = (await redis("HKEYS app:queue:{spoiled}:messages"))
      .split("\r\n")
      .filter((part) => /^\d/.test(part));
    await redis(`HSET app:queue:{spoiled}:messages ${number} spoiled`);
    expect(await queue.lease()).toHaveLength(1);
    expect((await ask("GET", "/queue")).json.queues).toEqual([
      { name: "spoiled", ready: 0, delayed: 0, leased: 1 },
      { name: "spoiled.dead", ready: 1, delayed: 0, leased: 0 },
    ]);
  });
});

describeWith("redis-server", "queues in a Redis that crashes", () => {
  it("loses nothing with an append-only file", async () => {
    const directory = folder();
    const persistent = ["--appendonly", "yes", "--appendfsync", "always"];
    const first = await runRedis(directory, persistent);
    const sidecar = await Sidecar.start({ ...options, url: first.url });
    const queue = clientOf(askAt(sidecar.address), "kept");
    await queue.send(...Array.from({ length: 50 }, (_, body) => ({ body, key: String(body % 5) })));
    const leased = await queue.lease({ visibility_ms: 3000 });
    expect(leased.map(({ body }) => body)).toEqual([0, 1, 2, 3, 4]);
    expect((await queue.done(leased[0] as Delivered)).status).toBe(204);
    await first.crash();
    const second = await runRedis(directory, persistent);
    const bodies = new Set<unknown>();
    await expect
      .poll(
        async () => {
          for (const message of (await queue.lease().catch(() => [])) ?? []) {
            if ((await queue.done(message)).status === 204) bodies.add(message.body);
          }
          return bodies.size;
        },
        { interval: 20 },
      )
      .toBe(49);
    expect(bodies.has(0)).toBe(false);
    await sidecar.close();
    await second.stop();
  });

  it("goes on with the new master after a failover", { timeout: 60_000 }, async () => {
    const store = await startSentinel();
    const sidecar = await Sidecar.start({ ...options, url: store.url });
    const queue = clientOf(askAt(sidecar.address), "failed-over");
    await queue.send(...Array.from({ length: 20 }, (_, body) => ({ body })));
    await expect.poll(() => redisCommand(store.replica.socket, "HLEN tenon:queue:{failed-over}:messages")).toBe(":20");
    await store.master.crash();
    await expect.poll(async () => (await queue.send({ body: 20 })).status, { timeout: 30_000, interval: 50 }).toBe(200);
    const bodies = (await queue.lease()).map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: 21 }, (_, n) => n));
    await sidecar.close();
    await store.stop();
  });
});
