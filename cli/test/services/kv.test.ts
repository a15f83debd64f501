/** The contract of key-value, on everything that keeps to it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeEach, describeWith } from "../../../testing/needs.ts";
import { Sidecar } from "../../src/embed/sidecar.ts";
import { type Ask, askAt } from "./ask.ts";
import { startProcess } from "./sidecar-process.ts";
import { folder, type RedisStore, redisCommand, startRedis, startRedisTls } from "./stores.ts";
import { kvTargets, startForTests } from "./targets.ts";

describeEach("key-value: $name", kvTargets, (target) => {
  const { ask } = startForTests(target);

  it("keeps bytes with their content type, and forgets them when told to", async () => {
    const body = Buffer.from([0, 255, 10, 13]);
    expect((await ask("PUT", "/kv/a", { body, headers: { "content-type": "image/x" } })).status).toBe(204);
    const read = await ask("GET", "/kv/a");
    expect([read.status, read.headers["content-type"], read.bytes]).toEqual([200, "image/x", body]);
    expect((await ask("PUT", "/kv/a", { body: "" })).status).toBe(204);
    const again = await ask("GET", "/kv/a");
    expect([again.status, again.headers["content-type"], again.text]).toEqual([200, "application/octet-stream", ""]);
    expect((await ask("DELETE", "/kv/a")).status).toBe(204);
    expect((await ask("DELETE", "/kv/a")).status).toBe(404);
    expect((await ask("GET", "/kv/a")).json).toMatchObject({ status: 404, title: "Not Found" });
    expect((await ask("HEAD", "/kv/a")).status).toBe(404);
  });

  it("takes keys of any bytes, decoded once", async () => {
    const paths = ["a/b", "a%2Fb%252F", "%FF%FE", "%00", "%20%2B+", "%C3%A9", "..%2F..%2Fetc", "%C3"];
    for (const [index, path] of paths.entries()) {
      expect((await ask("PUT", `/kv/${path}`, { body: `value ${index}` })).status, path).toBe(204);
    }
    expect((await ask("GET", "/kv/a%2Fb")).text).toBe("value 0");
    for (const [index, path] of paths.entries()) expect((await ask("GET", `/kv/${path}`)).text).toBe(`value ${index}`);
    const { keys } = (await ask("GET", "/kv")).json;
    expect(keys).toHaveLength(paths.length);
    expect(keys).toContain("a/b%2F");
    // A listed key can be requested as it is shown, including bytes that are not text.
    for (const key of keys) expect((await ask("GET", `/kv/${encodeURIComponent(key)}`)).status, key).toBe(200);
    for (const key of keys) expect((await ask("DELETE", `/kv/${encodeURIComponent(key)}`)).status, key).toBe(204);
  });

  it("lists keys by prefix, page by page, in order", async () => {
    const names = ["p:1", "p:10", "p:2", "p:é", "q"];
    for (const name of names) await ask("PUT", `/kv/${encodeURIComponent(name)}`, { body: "x" });
    const page = (await ask("GET", "/kv?prefix=p%3A&limit=2")).json;
    expect(page).toEqual({ keys: ["p:1", "p:10"], next: "p:10" });
    const rest = (await ask("GET", "/kv?prefix=p%3A&limit=2&after=p%3A10")).json;
    expect(rest).toEqual({ keys: ["p:2", "p:é"], next: null });
    expect((await ask("GET", "/kv?prefix=none")).json).toEqual({ keys: [], next: null });
    expect((await ask("GET", "/kv?prefix=p&after=a&limit=1")).json.keys).toEqual(["p:1"]);
    expect((await ask("GET", "/kv?prefix=p&after=z")).json.keys).toEqual([]);
    for (const name of names) await ask("DELETE", `/kv/${encodeURIComponent(name)}`);
  });

  it("lets entries expire, which a new value takes back", async () => {
    expect((await ask("PUT", "/kv/short?ttl=1", { body: "x" })).status).toBe(204);
    expect((await ask("PUT", "/kv/header", { body: "x", headers: { "x-cache-ttl": "1" } })).status).toBe(204);
    expect((await ask("PUT", "/kv/kept?ttl=1", { body: "x" })).status).toBe(204);
    expect((await ask("PUT", "/kv/kept", { body: "y" })).status).toBe(204);
    await vi.waitFor(async () => expect((await ask("GET", "/kv/short")).status).toBe(404), { timeout: 5000 });
    await vi.waitFor(async () => expect((await ask("GET", "/kv/header")).status).toBe(404), { timeout: 5000 });
    expect((await ask("GET", "/kv")).json.keys).toEqual(["kept"]);
    expect((await ask("DELETE", "/kv/short")).status).toBe(404);
    expect((await ask("GET", "/kv/kept")).text).toBe("y");
    await ask("DELETE", "/kv/kept");
  });

  it.each(["0", "-1", "", "1.5", "abc", "1e3", "+5", "99999999999999999999"])(
    "refuses a time to live of %j",
    async (ttl) => {
      const problem = await ask("PUT", `/kv/ttl?ttl=${encodeURIComponent(ttl)}`, { body: "x" });
      expect([problem.status, problem.headers["content-type"]]).toEqual([400, "application/problem+json"]);
      expect((await ask("GET", "/kv/ttl")).status).toBe(404);
    },
  );

  it("refuses what is no key, no page, or too large", async () => {
    expect((await ask("GET", "/kv/")).status).toBe(400);
    expect((await ask("GET", "/kv/%zz")).status).toBe(400);
    for (const dots of [".", "..", "%2e%2e"]) expect((await ask("PUT", `/kv/${dots}`, { body: "x" })).status).toBe(400);
    expect((await ask("PUT", `/kv/${"k".repeat(1025)}`, { body: "x" })).status).toBe(400);
    expect((await ask("PUT", `/kv/${"k".repeat(1024)}`, { body: "x" })).status).toBe(204);
    await ask("DELETE", `/kv/${"k".repeat(1024)}`);
    for (const limit of ["0", "-1", "1001", "x", ""]) expect((await ask("GET", `/kv?limit=${limit}`)).status).toBe(400);
    const large = await ask("PUT", "/kv/large", { body: Buffer.alloc(11_000_000) });
    expect(large.json).toMatchObject({ status: 413, title: "Content Too Large" });
    expect((await ask("GET", "/kv/large")).status).toBe(404);
    expect((await ask("POST", "/health")).headers["allow"]).toContain("GET");
  });

  it("writes only where its conditions hold", async () => {
    const put = (body: string, headers: Record<string, string> = {}) => ask("PUT", "/kv/cas", { body, headers });
    const first = await put("1", { "if-none-match": "*" });
    expect([first.status, first.headers["etag"]]).toEqual([204, expect.stringMatching(/^"\w+"$/)]);
    expect((await put("2", { "if-none-match": "*" })).json).toMatchObject({ status: 412 });
    const etag = (await ask("GET", "/kv/cas")).headers["etag"] as string;
    expect(etag).toBe(first.headers["etag"]);
    const writers = await Promise.all(["a", "b", "c", "d"].map((body) => put(body, { "if-match": etag })));
    expect(writers.map(({ status }) => status).sort()).toEqual([204, 412, 412, 412]);
    const won = writers.find(({ status }) => status === 204)?.headers["etag"];
    expect([(await ask("GET", "/kv/cas")).headers["etag"], won]).toEqual([won, expect.not.stringMatching(etag)]);
    expect((await put("x", { "if-match": "*" })).status).toBe(204);
    expect((await put("y", { "if-match": '"no", "such"' })).status).toBe(412);
    const read = await ask("GET", "/kv/cas");
    expect(read.text).toBe("x");
    const same = await ask("GET", "/kv/cas", { headers: { "if-none-match": read.headers["etag"] as string } });
    expect([same.status, same.text]).toEqual([304, ""]);
    await ask("DELETE", "/kv/cas");
    expect((await put("z", { "if-match": "*" })).status).toBe(412);
    const makers = await Promise.all(["a", "b", "c", "d"].map((body) => put(body, { "if-none-match": "*" })));
    expect(makers.map(({ status }) => status).sort()).toEqual([204, 412, 412, 412]);
    await ask("DELETE", "/kv/cas");
  });

  it("heeds the conditions of every request on a key", async () => {
    const asks: [method: string, path: string, json?: object][] = [
      ["GET", "/kv/held"],
      ["PATCH", "/kv/held?ttl=100"],
      ["POST", "/kv/held", { incr: 1 }],
      ["DELETE", "/kv/held"],
    ];
    const put = await ask("PUT", "/kv/held", { body: "1" });
    const etag = put.headers["etag"] as string;
    for (const [method, path, json] of asks) {
      const given = (headers: Record<string, string>) => ask(method, path, { headers, json });
      expect((await given({ "if-match": '"other"' })).status, method).toBe(412);
      expect((await given({ "if-match": '"*"' })).status, method).toBe(412);
      expect((await given({ "if-none-match": `W/${etag}` })).status, method).toBe(method === "GET" ? 304 : 412);
    }
    const kept = await ask("GET", "/kv/held");
    expect([kept.text, kept.headers["etag"], kept.headers["x-cache-ttl"]]).toEqual(["1", etag, undefined]);
    expect((await ask("PATCH", "/kv/held?ttl=100", { headers: { "if-match": etag } })).status).toBe(204);
    const sums = [1, 2, 3].map(() => ask("POST", "/kv/held", { headers: { "if-match": etag }, json: { incr: 1 } }));
    expect((await Promise.all(sums)).map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await ask("DELETE", "/kv/held", { headers: { "if-match": etag } })).status).toBe(412);
    expect((await ask("DELETE", "/kv/held", { headers: { "if-match": "*" } })).status).toBe(204);
    for (const [method, path, json] of asks) {
      const absent = await ask(method, path, { headers: { "if-match": "*" }, json });
      expect(absent.status, method).toBe(method === "POST" ? 412 : 404);
    }
  });

  it("says how long an entry has, and gives it more", async () => {
    await ask("PUT", "/kv/timed?ttl=100", { body: "x" });
    const left = async () => Number((await ask("GET", "/kv/timed")).headers["x-cache-ttl"]);
    expect([99, 100]).toContain(await left());
    expect((await ask("PATCH", "/kv/timed?ttl=1000")).status).toBe(204);
    expect([999, 1000]).toContain(await left());
    expect((await ask("PATCH", "/kv/nothing?ttl=5")).status).toBe(404);
    for (const query of ["", "?ttl=0", "?ttl=x"]) expect((await ask("PATCH", `/kv/timed${query}`)).status).toBe(400);
    await ask("PUT", "/kv/timed", { body: "x" });
    expect((await ask("GET", "/kv/timed")).headers["x-cache-ttl"]).toBeUndefined();
    await ask("DELETE", "/kv/timed");
  });

  it("counts within bounds", async () => {
    const add = (json: unknown) => ask("POST", "/kv/count", { json });
    const sums = await Promise.all(Array.from({ length: 20 }, () => add({ incr: 1, ttl: 100 })));
    expect(sums.map(({ json }) => json.value).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    expect((await add({ incr: -5, min: 15 })).json).toEqual({ value: 15 });
    expect((await add({ incr: -1, min: 15 })).json).toMatchObject({ status: 409, value: 15 });
    expect((await add({ incr: 6, max: 20 })).status).toBe(409);
    const read = await ask("GET", "/kv/count");
    expect([read.text, read.headers["content-type"]]).toEqual(["15", "text/plain; charset=utf-8"]);
    expect([99, 100]).toContain(Number(read.headers["x-cache-ttl"]));
    expect((await add({ incr: 2 ** 53 - 1 })).status).toBe(409);
    for (const wrong of [{}, { incr: "1" }, { incr: 1.5 }, { incr: 1, ttl: 0 }, { incr: 1, min: "a" }, []]) {
      expect((await add(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    await ask("PUT", "/kv/count", { body: "many" });
    expect((await add({ incr: 1 })).json).toMatchObject({ status: 409 });
    await ask("DELETE", "/kv/count");
    expect((await add({ incr: 2 ** 53 - 1 })).json).toEqual({ value: 2 ** 53 - 1 });
    await ask("DELETE", "/kv/count");
  });

  it("reads many at once", async () => {
    await ask("PUT", "/kv/m1?ttl=100", { body: "é", headers: { "content-type": "text/plain" } });
    await ask("PUT", "/kv/m2", { body: Buffer.from([0, 255]) });
    const { entries } = (await ask("POST", "/kv", { json: { get: ["m1", "none", "m2"] } })).json;
    const etag = expect.stringMatching(/^"\w+"$/);
    expect(entries).toEqual([
      { key: "m1", value: "é", content_type: "text/plain", etag, ttl: expect.any(Number) },
      null,
      { key: "m2", base64: "AP8=", content_type: "application/octet-stream", etag },
    ]);
    expect((await ask("POST", "/kv", { json: { get: [] } })).json).toEqual({ entries: [] });
    for (const get of [undefined, "m1", [1], [""], Array(1001).fill("a")]) {
      expect((await ask("POST", "/kv", { json: { get } })).status).toBe(400);
    }
    for (const key of ["l1", "l2"]) await ask("PUT", `/kv/${key}`, { body: Buffer.alloc(6_000_000) });
    expect((await ask("POST", "/kv", { json: { get: ["l1", "l2"] } })).json.detail).toMatch(/larger than/);
    for (const key of ["m1", "m2", "l1", "l2"]) await ask("DELETE", `/kv/${key}`);
  });

  it("keeps metadata with an entry", async () => {
    const put = (headers: Record<string, string>) => ask("PUT", "/kv/meta", { body: "1", headers });
    expect((await put({ "x-meta-owner": "Ann", "X-Meta-Trace": "a b" })).status).toBe(204);
    const read = await ask("GET", "/kv/meta");
    expect([read.headers["x-meta-owner"], read.headers["x-meta-trace"]]).toEqual(["Ann", "a b"]);
    expect((await ask("POST", "/kv/meta", { json: { incr: 1 } })).json).toEqual({ value: 2 });
    const [entry] = (await ask("POST", "/kv", { json: { get: ["meta"] } })).json.entries;
    expect([entry.value, entry.metadata]).toEqual(["2", { owner: "Ann", trace: "a b" }]);
    expect((await put({})).status).toBe(204);
    expect((await ask("GET", "/kv/meta")).headers["x-meta-owner"]).toBeUndefined();
    expect((await put({ "x-meta-a": "x".repeat(2048) })).status).toBe(400);
    await ask("DELETE", "/kv/meta");
  });

  it("writes many at once", async () => {
    // A cluster has keys with one hash tag on one server.
    const set = [
      { key: "{s}1", value: "é", content_type: "text/x", ttl: 100, metadata: { Owner: "Ann" } },
      { key: "{s}/2", base64: "AP8=" },
      { key: "{s}1", value: "last" },
    ];
    const { etags } = (await ask("POST", "/kv", { json: { set: set.slice(0, 2) } })).json;
    const { entries } = (await ask("POST", "/kv", { json: { get: ["{s}1", "{s}/2"] } })).json;
    const type = "application/octet-stream";
    expect(entries).toEqual([
      { ...set[0], etag: etags[0], ttl: expect.any(Number), metadata: { owner: "Ann" } },
      { ...set[1], etag: etags[1], content_type: type },
    ]);
    await ask("POST", "/kv", { json: { set } });
    const read = await ask("GET", "/kv/{s}1");
    expect([
      read.text,
      read.headers["content-type"],
      read.headers["x-cache-ttl"],
      read.headers["x-meta-owner"],
    ]).toEqual(["last", "text/plain; charset=utf-8", undefined, undefined]);
    expect((await ask("POST", "/kv", { json: { set: [] } })).json).toEqual({ etags: [] });
    const wrong: unknown[] = [
      {},
      [1],
      [{ key: "x" }],
      [{ key: "", value: "a" }],
      [{ key: "x", value: "a", base64: "" }],
    ];
    wrong.push(
      [
        { key: "x", value: "a" },
        { key: "x", base64: "?" },
      ],
      [{ key: "x", value: "a", ttl: 0 }],
    );
    wrong.push([{ key: "x", value: "a", metadata: { a: 1 } }], Array(1001).fill({ key: "x", value: "a" }));
    for (const set of wrong) expect((await ask("POST", "/kv", { json: { set } })).status).toBe(400);
    expect((await ask("POST", "/kv", { json: { get: ["x"], set: [] } })).status).toBe(400);
    expect((await ask("GET", "/kv/x")).status).toBe(404);
    for (const key of ["{s}1", "{s}%2F2"]) await ask("DELETE", `/kv/${key}`);
  });

  it("lists all that stays exactly once, while others write", async () => {
    const name = (n: number) => `{churn}:${String(n).padStart(3, "0")}`;
    const put = (n: number) => ask("PUT", `/kv/${name(n)}`, { body: "x" });
    const set = Array.from({ length: 150 }, (_, n) => ({ key: name(n), value: "x" }));
    await ask("POST", "/kv", { json: { set } });
    let isListing = true;
    // One of each three stays, one is overwritten, and one comes and goes.
    const writing = (async () => {
      for (let n = 0; isListing; n = (n + 3) % 150) {
        await Promise.all([put(n + 1), ask("DELETE", `/kv/${name(n + 2)}`)]);
        await put(n + 2);
      }
    })();
    const stays = set.map(({ key }) => key).filter((_, n) => n % 3 !== 2);
    for (let round = 0; round < 3; round++) {
      const seen: string[] = [];
      for (let after: string | null = ""; after !== null; ) {
        const page: { keys: string[]; next: string | null } = (
          await ask("GET", `/kv?prefix={churn}:&limit=7&after=${after}`)
        ).json;
        seen.push(...page.keys);
        after = page.next;
      }
      expect(seen.filter((key) => stays.includes(key))).toEqual(stays);
      expect(new Set(seen).size).toBe(seen.length);
    }
    isListing = false;
    await writing;
    for (const { key } of set) await ask("DELETE", `/kv/${key}`);
  });

  it("is up, and counts", async () => {
    expect((await ask("GET", "/health")).json).toMatchObject({ status: "ok" });
    expect((await ask("GET", "/metrics")).text).toMatch(/^tenon_sidecar_requests_total\{.*route="\/kv".*\} \d+$/m);
    expect((await ask("GET", "/nothing")).json).toMatchObject({ status: 404 });
  });
});

describeWith(["redis-server", "openssl"], "key-value in Redis over TLS", () => {
  it("trusts the system's authorities, and nobody else", async () => {
    const store = await startRedisTls();
    const directory = folder();
    const socket = join(directory, "kv.sock");
    // Its certificate is its own: nobody trusts it.
    const listen = "127.0.0.1:0";
    const refused = Sidecar.start({ kind: "kv", url: store.url, listen, logLevel: "off" });
    await expect(refused).rejects.toMatchObject({ code: "BACKEND", message: expect.stringMatching(/certificate/i) });
    const running = await startProcess("kv", socket, store.url, { SSL_CERT_FILE: store.certificate });
    const ask = askAt(`unix://${socket}`);
    expect((await ask("PUT", "/kv/a", { body: "x" })).status).toBe(204);
    expect((await ask("GET", "/kv/a")).text).toBe("x");
    const exited = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGTERM");
    await exited;
    await store.stop();
    rmSync(directory, { recursive: true, force: true });
  });
});

describeWith("redis-server", "key-value in Redis", () => {
  let store: RedisStore;
  let sidecar: Sidecar;
  let ask: Ask;
  beforeAll(async () => {
    store = await startRedis();
    sidecar = await Sidecar.start({ kind: "kv", url: store.url, listen: "127.0.0.1:0", logLevel: "off" });
    ask = askAt(sidecar.address);
  });
  afterAll(async () => {
    await sidecar.close();
    await store.stop();
  });

  const redis = (command: string) => redisCommand(store.socket, command);

  it("has one key for an entry, and none when its time is over", async () => {
    await Promise.all(Array.from({ length: 300 }, (_, n) => ask("PUT", `/kv/short:${n}?ttl=1`, { body: "x" })));
    await ask("PUT", "/kv/*[a]?", { body: "x" });
    await ask("PUT", "/kv/b", { body: "x" });
    expect((await ask("GET", "/kv?prefix=*")).json).toEqual({ keys: ["*[a]"], next: null });
    await expect.poll(() => redis("DBSIZE")).toBe(":2");
    expect((await ask("GET", "/kv")).json).toEqual({ keys: ["*[a]", "b"], next: null });
    await Promise.all(["*[a]", "b"].map((key) => ask("DELETE", `/kv/${key}`)));
    expect(await redis("DBSIZE")).toBe(":0");
  });

  it("lets maxmemory refuse a write", async () => {
    await redis("CONFIG SET maxmemory 4mb");
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) {
      statuses.push((await ask("PUT", `/kv/large:${n}`, { body: Buffer.alloc(1_000_000) })).status);
    }
    expect(statuses.at(-1)).toBe(507);
    const set = ["a", "b"].map((key) => ({ key, value: "x".repeat(1_000_000) }));
    const refused = await ask("POST", "/kv", { json: { set } });
    expect(refused.json).toMatchObject({ status: 507, detail: expect.stringContaining("memory") });
    expect((await ask("POST", "/kv", { json: { get: ["a", "b"] } })).json.entries).toEqual([null, null]);
    expect(statuses.filter((status) => status === 204).length).toBeLessThan(6);
    await redis("CONFIG SET maxmemory 0");
    await redis("FLUSHALL");
  });
});
