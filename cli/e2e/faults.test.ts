/** A failure in a module, a client or a sidecar harms that request only: the real `tenon run`, over sockets. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sidecars, startSidecars } from "./evil-sidecar.ts";
import { raw, send } from "./http.ts";
import { faultsProject, type Running, startTenon } from "./servers.ts";

let folder: string;
let sidecars: Sidecars;
/** Milliseconds. scripts/cross/test.mjs says that the processor is emulated, which takes longer. */
const REQUEST_TIMEOUT = process.env["TENON_EMULATED"] === undefined ? 2500 : 10_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-faults-"));
  sidecars = await startSidecars();
  const addresses = Object.entries(sidecars.urls).map(([name, url]) => `${name} = "${url}"`);
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]
name = "faults"
[server]
request_timeout_ms = ${REQUEST_TIMEOUT}
outbound_timeout_ms = 1500
breaker_failures = 1000
max_concurrent = 16
memory_limit_bytes = 134217728
[sidecars]
${addresses.join("\n")}
`,
  );
});
afterAll(async () => {
  sidecars?.close();
  // Windows holds the folder for a while.
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

const start = () => startTenon([join(faultsProject, "dist/faults.wasm")], "faults", folder);
const path = (rest: string) => `/run/faults${rest}`;
const good = async (server: Running, n: number) =>
  expect((await send(server.base, { path: path(`/good/${n}`) })).json()).toEqual({ n, square: n * n });

describe("one after another", () => {
  let server: Running;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());

  test("a client that closes its half of the connection gets its answer", async () => {
    const { hostname, port } = new URL(server.base);
    const request = `GET ${path("/waits")} HTTP/1.1\r\nhost: x\r\n\r\n`;
    expect(await raw(hostname, Number(port), request, { halfClose: true })).toMatch(/^HTTP\/1.1 200 /);
  });

  test.each([
    ["/spin", 504],
    ["/sleep", 504],
    ["/never", 504],
    ["/allocate", 500],
    ["/recurse", 500],
    ["/throw", 500],
    ["/reject", 500],
    ["/newline", 500],
    ["/huge", 500],
    ["/nothing", 404],
    ["/late", 500],
    ["/headers/26000", 502],
  ])("%s is %i, with problem details and the request id", async (where, status) => {
    const answer = await send(server.base, { path: path(where), headers: [["x-request-id", `id${where.slice(1)}`]] });
    expect(answer.status).toBe(status);
    expect(answer.header("content-type")).toBe("application/problem+json");
    expect(answer.header("x-request-id")).toBe(`id${where.slice(1)}`);
    expect(answer.body.toString()).not.toContain("on purpose");
    await good(server, 7);
  });

  test("an exception in a timer is in the log, with its place in the TypeScript", async () => {
    await send(server.base, { path: path("/late") });
    await expect.poll(server.errors).toMatch(/Uncaught Error: late on purpose .*\n.*src\/handler\.ts:\d+:\d+\)/);
  });

  test("an exception is in the log, with its place in the TypeScript and the request id", async () => {
    await send(server.base, { path: path("/throw"), headers: [["x-request-id", "look-for-me"]] });
    const record = /thrown on purpose .*request_id="look-for-me".*\n {8}at .*src\/handler\.ts:\d+:\d+/;
    await expect.poll(server.errors).toMatch(record);
  });

  test("what the runtime answers by itself is in the log, too, a line each", async () => {
    const line = (id: string) =>
      server
        .errors()
        .split("\n")
        .filter((each) => each.includes(`request_id="${id}"`));
    await send(server.base, { path: "/run/nobody/", headers: [["x-request-id", "log-404"]] });
    await expect.poll(() => line("log-404")).toEqual([expect.stringContaining("404: no module is called nobody")]);
    const large = { method: "POST", path: path("/echo"), body: Buffer.alloc(11 * 1024 * 1024) };
    await send(server.base, { ...large, headers: [["x-request-id", "log-413"]] });
    await expect
      .poll(() => line("log-413"))
      .toEqual([expect.stringContaining("413: the request body is larger than 10485760 bytes (max_body_bytes)")]);
  });

  test("an answer of ten megabytes arrives, as often as a request asks for it", async () => {
    const url = encodeURIComponent(`${sidecars.urls.big}/x`);
    for (let i = 0; i < 3; i++) {
      expect((await send(server.base, { path: path(`/size?url=${url}`) })).json()).toEqual({ size: 10_000_000 });
    }
  });

  test.each([
    ["good", { status: 200, text: "good", code: "" }],
    ["away", { status: 0, text: "", code: "refused" }],
    ["slow", { status: 0, text: "", code: "timeout" }],
    ["resets", { status: 0, text: "", code: "unreachable" }],
    ["liar", { status: 0, text: "", code: "unreachable" }],
    ["nonsense", { status: 0, text: "", code: "unreachable" }],
  ] as const)("a sidecar that is %s", async (name, expected) => {
    const url = encodeURIComponent(`${sidecars.urls[name]}/x`);
    const answer = await send(server.base, { path: path(`/call/1?url=${url}`) });
    expect(answer.json()).toEqual(expected);
    await good(server, 8);
  });

  test("a destination that nobody allowed is refused, and the log names the rule", async () => {
    const url = encodeURIComponent("http://169.254.169.254/latest/meta-data");
    const answer = await send(server.base, { path: path(`/call/1?url=${url}`) });
    expect(answer.json()).toMatchObject({ code: "refused" });
    await expect.poll(server.errors).toContain("it must be in `outbound.allow`");
  });

  test("a sidecar that is away makes /health degraded, and nothing else", async () => {
    const health = await send(server.base, { path: "/health" });
    expect(health.status).toBe(200);
    expect(health.json()).toMatchObject({
      status: "degraded",
      modules: { faults: "ready" },
      sidecars: { away: "down" },
    });
  });

  const created = async () => {
    const metrics = (await send(server.base, { path: "/metrics" })).body.toString();
    return Number(/^tenon_instances_created_total\{module="faults"\} (\d+)$/m.exec(metrics)?.[1]);
  };

  // Instances are restored.
  test.each(["/mark", "/plant"])("nothing of one request is seen by the next: %s", async (where) => {
    const before = await created();
    for (let i = 0; i < 50; i++) {
      const seen = (await send(server.base, { method: "POST", path: path(where) })).json();
      expect(seen).toEqual({ planted: 0, marker: null, kept: 0 });
    }
    const more = (await created()) - before;
    expect(more).toBeLessThan(25);
  });

  test.each([
    ["a log line", "/log/1"],
    ["a timer", "/waits"],
    ["a call", "/calls/2"],
    ["a call of fetch", "/resources/1"],
  ])("an instance serves on after %s", async (_what, where) => {
    const url = encodeURIComponent(`${sidecars.urls.good}/x`);
    const ask = async () => expect((await send(server.base, { path: path(`${where}?url=${url}`) })).status).toBe(200);
    await ask();
    const before = await created();
    for (let i = 0; i < 20; i++) await ask();
    const more = (await created()) - before;
    expect(more).toBeLessThan(10);
  });
});

/** Memory in MiB, descriptors, and instances of a server. */
async function figures(server: Running) {
  const pid = server.process.pid;
  const resident = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  const metrics = (await send(server.base, { path: "/metrics" })).body.toString();
  const metric = (name: string) => Number(new RegExp(`^tenon_${name} (\\d+)$`, "m").exec(metrics)?.[1]);
  return {
    memory: Math.round(Number(resident) / 1024),
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    instances: metric("instances"),
    running: metric("requests_running"),
  };
}

describe("instances that are shared", () => {
  let server: Running;
  beforeAll(async () => {
    const cwd = join(folder, "shared");
    await mkdir(cwd);
    await writeFile(
      join(cwd, "tenon.toml"),
      `[project]
name = "faults"
[server]
isolation = "shared"
max_concurrent = 4
max_reuse = 20
max_reuse_memory_bytes = 67108864
memory_limit_bytes = 134217728
max_resources = 2048
[sidecars]
good = "${sidecars.urls.good}"
big = "${sidecars.urls.big}"
`,
    );
    server = await startTenon([join(faultsProject, "dist/faults.wasm")], "faults", cwd);
  });
  afterAll(() => server?.stop());

  const post = async (where: string) =>
    (await send(server.base, { method: "POST", path: path(where) })).json() as Record<string, number>;

  test("see what was left by those before, up to max_reuse", async () => {
    const seen: (number | undefined)[] = [];
    for (let i = 0; i < 60; i++) seen.push((await post("/plant"))["kept"]);
    expect(Math.max(...seen.map(Number))).toBe(19);
    expect(seen.filter((kept) => kept === 0).length).toBeGreaterThanOrEqual(3);
  });

  test("run no timer that an earlier request left behind", async () => {
    for (let i = 0; i < 8; i++) {
      expect((await send(server.base, { path: path("/later") })).status).toBe(200);
      expect((await send(server.base, { path: path("/waits") })).json()).toEqual({ planted: 0 });
    }
  });

  test("are replaced before what they leak fills them", async () => {
    const kept: number[] = [];
    const leak = async () => {
      for (let i = 0; i < 100; i++) kept.push(Number((await post("/leak"))["kept"]));
    };
    await leak();
    const before = await figures(server);
    await leak();
    const after = await figures(server);
    process.stderr.write(`leaks: before ${JSON.stringify(before)}, after ${JSON.stringify(after)}\n`);
    expect(Math.max(...kept)).toBeLessThanOrEqual(20);
    expect(after.memory).toBeLessThanOrEqual(before.memory * 1.25 + 32);
    expect(after.instances).toBeLessThanOrEqual(4);
  });

  test("are replaced before what they hold on the host is too much", async () => {
    const [small, large] = [`${sidecars.urls.good}/x`, `${sidecars.urls.big}/x`].map(encodeURIComponent);
    for (let i = 0; i < 60; i++) {
      expect((await send(server.base, { path: path(`/calls/10?url=${small}`) })).status).toBe(200);
      if (i % 20 === 0) expect((await send(server.base, { path: path(`/size?url=${large}`) })).status).toBe(200);
    }
  });

  test("are dropped after a trap, and no request but that one is harmed", async () => {
    for (let i = 0; i < 5; i++) {
      await post("/plant");
      expect((await send(server.base, { path: path("/allocate") })).status).toBe(500);
      expect((await post("/plant"))["kept"]).toBe(0);
      await good(server, 9);
    }
  });
});

const requests = Number(process.env["TENON_FAULT_REQUESTS"] ?? 2_000);

test(`after ${requests} mixed requests nothing is leaked`, async () => {
  const server = await start();
  const { hostname, port } = new URL(server.base);
  const hangUp = (bytes: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(bytes);
        setTimeout(() => socket.destroy(), 5);
      });
      socket.on("close", () => resolve());
      socket.on("error", () => {});
    });
  const head = (method: string, to: string) => `${method} ${path(to)} HTTP/1.1\r\nhost: x\r\n`;
  const sidecar = (url: string) => send(server.base, { path: path(`/call/1?url=${encodeURIComponent(url)}`) });
  const faults: (() => Promise<unknown>)[] = [
    () => send(server.base, { path: path("/throw") }),
    () => send(server.base, { path: path("/recurse") }),
    () => send(server.base, { path: path("/reject") }),
    () => hangUp(`${head("GET", "/sleep")}\r\n`),
    () => hangUp(`${head("GET", "/spin")}\r\n`),
    () => hangUp(`${head("POST", "/echo")}content-length: 1000\r\n\r\nhalf`),
    () =>
      raw(
        hostname,
        Number(port),
        `${head("POST", "/echo")}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`,
      ),
    () => raw(hostname, Number(port), "NONSENSE\r\n\r\n"),
    () => sidecar(sidecars.urls.away),
    () => sidecar(sidecars.urls.resets),
    () => sidecar(sidecars.urls.liar),
    () => send(server.base, { path: path("/allocate") }),
  ];
  let next = 0;
  const worker = async () => {
    while (next < requests) {
      const n = next++;
      if (n % 10 === 9) await faults[Math.floor(n / 10) % faults.length]?.();
      else await good(server, n % 60_000);
    }
  };
  // An allocation that is made once for each concurrent request is not a leak.
  const all = () => Promise.all(Array.from({ length: 8 }, worker));
  const total = requests;
  next = total - Math.min(400, total / 2);
  await all();
  const before = await figures(server);
  next = 0;
  await all();
  const settled = async () => {
    for (;;) {
      const now = await figures(server);
      if (now.running === 0 && now.instances === 0) return now;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const after = await settled();
  process.stderr.write(`faults: before ${JSON.stringify(before)}, after ${JSON.stringify(after)}\n`);
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 8);
  expect(after.memory).toBeLessThanOrEqual(before.memory * 1.25 + 32);
  await server.stop();
});
