import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HttpSidecar } from "./http-sidecar.ts";
import { Runtime } from "./runtime.ts";
import { Services } from "./services.ts";
import { Sidecar } from "./sidecar.ts";

/** `wasi:http` components of a few bytes cannot be written by hand; one that exports an empty interface fails to load. */
const nothing = Buffer.from("AGFzbQ0AAQA=", "base64");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-runtime-"));
});
afterAll(() => rm(folder, { recursive: true }));

const create = (options: Partial<Parameters<typeof Runtime.create>[0]> = {}) =>
  Runtime.create({ modules: [], maxConcurrent: 4, cacheFolder: false, logLevel: "off", ...options });

const get = (path: string, accept = "*/*") => new Request(`http://tenon.test${path}`, { headers: { accept } });

test("a runtime without modules answers for itself", async () => {
  const runtime = await create();
  expect(await (await runtime.fetch(get("/health"))).json()).toMatchObject({ status: "ok", modules: {} });
  expect((await runtime.fetch(get("/run/none/"))).status).toBe(404);
  expect(runtime.metrics()).toContain('tenon_requests_total{module="",method="GET",status="404"} 1');
  expect(await (await runtime.fetch(get("/metrics"))).text()).toContain("# TYPE tenon_requests_total counter");
  expect(runtime.recentRequests()).toMatchObject([
    { method: "GET", path: "/health", status: 200, id: expect.any(String), durationMs: expect.any(Number) },
    { path: "/run/none/", status: 404 },
    { path: "/metrics", status: 200 },
  ]);
});

test("a runtime listens in the place of another one", async () => {
  const [former, runtime] = [await create(), await create()];
  const { url, port } = await former.listen();
  const operations = await former.listen({ operations: true });
  const listening = await runtime.takeOver(former);
  expect(new Set(listening.map((at) => at.url))).toEqual(new Set([url, operations.url]));
  await former.close();
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  expect((await fetch(`${operations.url}/metrics`)).status).toBe(200);
  await expect(runtime.takeOver(former)).rejects.toMatchObject({ code: "LISTEN" });
  await runtime.close();
  await expect(former.takeOver(runtime)).rejects.toMatchObject({ code: "LISTEN" });
  await using next = await create();
  expect(await next.listen({ port })).toMatchObject({ port });
});

test("a runtime, services and sidecars close at the end of a block", async () => {
  const url: string[] = [];
  let closed: Runtime | undefined;
  {
    await using runtime = await create();
    closed = runtime;
    await using services = await Services.start({ folder });
    await using sidecar = await Sidecar.start({
      kind: "kv",
      url: "sqlite::memory:",
      listen: "127.0.0.1:0",
      logLevel: "off",
    });
    await using upstream = await HttpSidecar.start({ upstream: "http://127.0.0.1:9", listen: "127.0.0.1:0" });
    url.push((await runtime.listen()).url, services.url, sidecar.address, upstream.address);
    for (const each of url) expect((await fetch(`${each}/health`)).ok).toBe(true);
  }
  for (const each of url) await expect(fetch(`${each}/health`)).rejects.toThrow("fetch failed");
  await expect(closed.fetch(get("/health"))).rejects.toMatchObject({ code: "REQUEST" });
});

test("pages and build errors of development", async () => {
  const runtime = await create();
  runtime.setPage("/docs", { contentType: "text/html", body: "<p>" });
  const page = await runtime.fetch(get("/docs"));
  expect([page.status, page.headers.get("content-type"), await page.text()]).toEqual([200, "text/html", "<p>"]);
  runtime.setPage("/docs", undefined);
  expect((await runtime.fetch(get("/docs"))).status).toBe(404);

  runtime.setBuildError("app", "<h1>line 3</h1>");
  const shown = await runtime.fetch(get("/run/app/", "text/html"));
  expect([shown.status, await shown.text()]).toEqual([500, "<h1>line 3</h1>"]);
  const problem = await runtime.fetch(get("/run/app/"));
  expect([problem.status, problem.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
  runtime.setBuildError("app", undefined);
  expect((await runtime.fetch(get("/run/app/"))).status).toBe(404);
});

/** A component of one core module with one function, which a compiler works on for seconds. */
function laborious(additions: number): Buffer {
  const leb = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]);
  const section = (id: number, content: number[]) => Buffer.from([id, ...leb(content.length), ...content]);
  // if (constant == 0) local 0 += load(constant), with another constant each time
  const addition = (constant: number) => {
    const address = [
      0x41,
      ...leb(constant * 2 + 128).map((byte, at, all) => (at === all.length - 1 ? byte & 63 : byte)),
    ];
    return [...address, 0x45, 0x04, 0x40, 0x20, 0, ...address, 0x29, 3, 0, 0x7c, 0x21, 0, 0x0b];
  };
  const body = [1, 1, 0x7e, ...Array.from({ length: additions }, (_, at) => addition(at)).flat(), 0x0b];
  const module = Buffer.concat([
    Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    section(1, [1, 0x60, 0, 0]),
    section(3, [1, 0]),
    section(5, [1, 0, 1]),
    section(10, [1, ...leb(body.length), ...body]),
  ]);
  return Buffer.concat([nothing, Buffer.from([1, ...leb(module.length)]), module]);
}

test("components are compiled in a process of their own, within a time and a memory", async () => {
  const file = join(folder, "laborious.wasm");
  await writeFile(file, laborious(50_000));
  for (const [limit, code] of [
    [{ loadTimeoutMs: 300 }, "MODULE_TIMEOUT"],
    [{ compileMemoryBytes: 64 << 20 }, "MODULE_COMPILE"],
  ] as const) {
    const [[option]] = Object.entries(limit) as [[string, number]];
    const key = option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const refused = create({ modules: [file], ...limit });
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(key) });
  }
});

test("a module that does not load leaves what is there", async () => {
  const runtime = await create();
  const file = join(folder, "app.wasm");
  await expect(runtime.reload("app")).rejects.toMatchObject({ code: "CONFIG" });
  await expect(runtime.reload("app", file)).rejects.toMatchObject({ code: "MODULE_READ" });
  await writeFile(file, nothing);
  await expect(runtime.reload("app", file)).rejects.toMatchObject({ code: "MODULE_LINK" });
  expect(runtime.modules).toEqual([]);
  await expect(create({ modules: { "my/app": file } })).rejects.toMatchObject({ code: "CONFIG" });
  const sidecars = { "db-x": "http://a", db_x: "http://b" };
  await expect(create({ modules: [], sidecars })).rejects.toThrow(/`db-x` and `db_x` are both SIDECAR_DB_X_URL/);
});

test("limits hold for requests without a socket", async () => {
  const runtime = await create({ maxUrlBytes: 16 });
  expect((await runtime.fetch(get("/a-path-that-is-too-long"))).status).toBe(414);
});

describe("sidecars in the process", () => {
  const cache = { run: "kv", url: "sqlite::memory:" } as const;

  test("are up in /health, have addresses of this process, and are closed with the runtime", async () => {
    const runtime = await create({ sidecars: { cache } });
    const health = async () => (await runtime.fetch(get("/health"))).json();
    await expect.poll(health).toMatchObject({ sidecars: { cache: "up" } });
    const addresses = await runtime.sidecarAddresses({ cache, db: "http://127.0.0.1:7001" });
    expect(addresses).toEqual({ cache: expect.stringMatching(/^process:\d+$/), db: "http://127.0.0.1:7001" });
    await runtime.close();
    await expect(runtime.sidecarAddresses({ cache })).rejects.toThrow("the sidecar cache does not run");
  });

  test("that are defined alike are one, and others come and go with an update", async () => {
    await using runtime = await create({ sidecars: { cache, again: { ...cache } } });
    const { one, alike } = await runtime.sidecarAddresses({ one: cache, alike: { ...cache } });
    expect(alike).toBe(one);
    const other = { run: "kv", url: `sqlite:${join(folder, "other.db")}` } as const;
    await runtime.update({ modules: [], sidecars: { cache, other } });
    const both = await runtime.sidecarAddresses({ cache, other });
    expect([both["cache"], both["other"]]).toEqual([one, expect.not.stringMatching(`^${one}$`)]);
    await runtime.update({ modules: [], sidecars: { other } });
    await expect(runtime.sidecarAddresses({ cache })).rejects.toThrow("does not run");
    const broken = { run: "kv", url: `sqlite:${join(folder, "no", "folder.db")}` } as const;
    await expect(runtime.update({ modules: [], sidecars: { broken } })).rejects.toMatchObject({ code: "FOLDER" });
    expect(await runtime.sidecarAddresses({ other })).toEqual({ other: both["other"] });
  });

  test.each([
    [{ run: "sql" }, '`sidecars.db` needs `url`: the store, or "env:NAME"'],
    [{ run: "nosql", url: "a" }, "`sidecars.db` needs `run`"],
    [{ run: "sql", url: "env:A", urlFile: "a" }, "`sidecars.db` has the key `urlFile`, which is for tenon.toml alone"],
    [{ run: "sql", url: "env:A", poolSize: 0 }, "`sidecars.db` needs `poolSize` to be a whole number from 1 to 1000"],
    [{ run: "sql", url: "sqlite::memory:", readonly: true }, "unknown key `readonly`; did you mean `readOnly`?"],
    [{ run: "sql", url: "env:TENON_NOT_SET" }, "sidecars.db: the environment variable TENON_NOT_SET is not set"],
    [{ run: "sql", url: "mysql://db" }, "sidecars.db: this kind of sidecar needs a URL such as postgres://"],
    [5, '`sidecars.db` must be an address, or { run: "sql"'],
  ])("%j is refused", async (db, message) => {
    const created = create({ sidecars: { db: db as never } });
    await expect(created).rejects.toMatchObject({ code: "CONFIG", message: expect.stringContaining(message) });
  });
});
