/** The runtime inside other programs: beside Express, in worker threads, several at once, and gone without a trace. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/runtime.ts";
import { send } from "./http.ts";
import { echoProject, faultsProject, helloProject, root } from "./servers.ts";

const hello = join(helloProject, "dist/hello.wasm");
const echo = join(echoProject, "dist/echo.wasm");
const built = pathToFileURL(join(root, "cli/dist/index.js")).href;
const get = (path: string) => new Request(`http://tenon.test${path}`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-embed-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("beside an Express app", async () => {
  const child = spawn(process.execPath, ["src/main.js", hello], {
    cwd: join(root, "examples/embed"),
    env: { ...process.env, PORT: "0" },
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
    child.stderr.once("data", (data) => reject(new Error(String(data))));
  });
  expect((await send(url, { path: "/" })).json()).toEqual({ modules: ["hello"] });
  expect((await send(url, { path: "/run/hello/hello/Ada" })).json()).toEqual({ greeting: "Hello, Ada!" });
  const headers = [["content-type", "application/json"]] as const;
  const added = await send(url, { method: "POST", path: "/run/hello/users", headers, body: '{"name":"Ada"}' });
  expect(added.status).toBe(201);
  expect((await send(url, { path: "/elsewhere" })).status).toBe(404);
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
});

test("several runtimes in one process, each with modules of its own", async () => {
  const [one, other] = await Promise.all([
    Runtime.create({ modules: { a: hello }, maxConcurrent: 8 }),
    Runtime.create({ modules: { b: echo }, maxConcurrent: 8, env: { GREETING: "hi" } }),
  ]);
  expect((await one.fetch(get("/run/a/hello/Ada"))).status).toBe(200);
  expect((await one.fetch(get("/run/b/environment"))).status).toBe(404);
  expect(await (await other.fetch(get("/run/b/environment"))).json()).toEqual({ greeting: "hi", home: null });
});

test("bodies and headers are what they are behind a socket", async () => {
  const runtime = await Runtime.create({ modules: [echo], maxConcurrent: 8 });
  for (const length of [0, 1, 1_000, 100_000]) {
    const body = Uint8Array.from({ length }, (_, i) => i);
    const sent = new Request("http://tenon.test/run/echo/echo", { method: "POST", body });
    const answer = await runtime.fetch(sent);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
    await expect(answer.text()).rejects.toThrow(TypeError);
  }
  const headers = { "x-echo": "Gr\u00fc\u00dfe", accept: "a/b" };
  const answer = await runtime.fetch(new Request("http://tenon.test:8080/run/echo/headers", { headers }));
  expect(answer.headers.getSetCookie()).toEqual(["a=1; Path=/", "b=2; HttpOnly"]);
  expect(await answer.clone().json()).toContainEqual(["accept", "a/b"]);
  expect(await answer.json()).toContainEqual(["host", "tenon.test:8080"]);
  const hosted = new Request("http://tenon.test/run/echo/headers", { headers: { host: "other.test" } });
  // As HTTP has it when a request names its host twice (RFC 9112, section 3.2.2).
  expect(await (await runtime.fetch(hosted)).json()).toEqual([["host", "tenon.test"]]);
  expect(await (await runtime.fetch(get("/run/echo/empty"))).text()).toBe("");
  expect(answer.headers.get("x-echo")).toBe(headers["x-echo"]);
  const used = new Request("http://tenon.test/run/echo/echo", { method: "POST", body: "x" });
  await used.text();
  await expect(runtime.fetch(used)).rejects.toThrow(TypeError);
});

test("an instance is as if its engine had never been called", async () => {
  const runtime = await Runtime.create({ modules: [echo], maxConcurrent: 8 });
  const clocks: { sinceStart: number; random: number }[] = [];
  for (let i = 0; i < 3; i++) {
    expect(await (await runtime.fetch(get("/run/echo/count"))).json()).toEqual({ count: 1 });
    clocks.push((await (await runtime.fetch(get("/run/echo/clock"))).json()) as (typeof clocks)[number]);
  }
  for (const { sinceStart } of clocks) {
    expect(sinceStart).toBeGreaterThanOrEqual(0);
    // In ms, and not since it was built.
    expect(sinceStart).toBeLessThan(1_000);
  }
  expect(new Set(clocks.map(({ random }) => random)).size).toBe(3);
  await runtime.close();
});

test("in a worker thread", async () => {
  const file = join(folder, "worker.mjs");
  await writeFile(
    file,
    `import { parentPort, workerData } from "node:worker_threads";
     import { Runtime } from ${JSON.stringify(built)};
     const runtime = await Runtime.create({ modules: [workerData], maxConcurrent: 8 });
     const answer = await runtime.fetch(new Request("http://x/run/hello/hello/worker"));
     parentPort.postMessage(await answer.json());
     await runtime.close();`,
  );
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(file, { workerData: hello });
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    const answer = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    expect(answer).toEqual({ greeting: "Hello, worker!" });
    expect(await exited).toBe(0);
  }
});

test("aborting a fetch cancels its request in the module", async () => {
  const runtime = await Runtime.create({ modules: [join(faultsProject, "dist/faults.wasm")], maxConcurrent: 4 });
  const running = (count: number) => runtime.metrics().includes(`tenon_requests_running ${count}`);
  const abort = new AbortController();
  const spinning = runtime.fetch(new Request("http://tenon.test/run/faults/spin", { signal: abort.signal }));
  await expect.poll(() => running(1)).toBe(true);
  abort.abort(new Error("changed my mind"));
  await expect(spinning).rejects.toThrow("changed my mind");
  await expect.poll(() => running(0)).toBe(true);
  await expect.poll(() => runtime.recentRequests().at(-1)).toMatchObject({ path: "/run/faults/spin", status: 499 });
  const late = new Request("http://tenon.test/run/faults/good/2", { signal: abort.signal });
  await expect(runtime.fetch(late)).rejects.toThrow("changed my mind");
  expect(await (await runtime.fetch(get("/run/faults/good/2"))).json()).toEqual({ n: 2, square: 4 });
  await runtime.close();
});

test("calls one after another leave others on Node's thread their turn", async () => {
  const runtime = await Runtime.create({ modules: [hello], maxConcurrent: 4 });
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  for (let call = 0; call < 300; call++) await runtime.fetch(get(`/run/hello/hello/${call}`));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
  // Aborted in the turn in which it was answered.
  const abort = new AbortController();
  const answered = runtime.fetch(new Request("http://tenon.test/run/hello/hello/Ada", { signal: abort.signal }));
  abort.abort(new Error("too late"));
  await expect(answered).rejects.toThrow("too late");
  await runtime.close();
});

test("a call that computes without end holds up neither Node nor other calls", async () => {
  const runtime = await Runtime.create({
    modules: [join(faultsProject, "dist/faults.wasm")],
    maxConcurrent: 4,
    requestTimeoutMs: 1500,
  });
  for (let round = 0; round < 2; round++) {
    let ended = false;
    const spinning = runtime.fetch(get("/run/faults/spin")).finally(() => {
      ended = true;
    });
    expect(await (await runtime.fetch(get("/run/faults/good/2"))).json()).toEqual({ n: 2, square: 4 });
    expect(ended).toBe(false);
    expect((await spinning).status).toBe(504);
  }
  await runtime.close();
});

test("nothing keeps Node alive, closed or not", async () => {
  for (const [name, end] of [
    ["closed", "await runtime.close();"],
    ["open", ""],
  ]) {
    const file = join(folder, `${name}.mjs`);
    await writeFile(
      file,
      `import { Runtime } from ${JSON.stringify(built)};
       const runtime = await Runtime.create({ modules: [process.argv[2]], maxConcurrent: 8 });
       const { url } = await runtime.listen();
       await (await fetch(url + "/health", { headers: { connection: "close" } })).text();
       await runtime.fetch(new Request("http://x/run/hello/"));
       ${end}`,
    );
    const child = spawn(process.execPath, [file, hello], { stdio: "inherit" });
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
  }
});

test("a thousand fetches at once are answered, and Node's event loop goes on", async () => {
  const runtime = await Runtime.create({ modules: [hello], maxConcurrent: 8, queueTimeoutMs: 60_000 });
  await runtime.fetch(get("/run/hello/hello/first"));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const answers = await Promise.all(
    Array.from({ length: 1000 }, async (_, i) => (await runtime.fetch(get(`/run/hello/hello/${i}`))).json()),
  );
  delay.disable();
  expect(answers).toEqual(Array.from({ length: 1000 }, (_, i) => ({ greeting: `Hello, ${i}!` })));
  process.stderr.write(`event loop delay: mean ${delay.mean / 1e6} ms, max ${delay.max / 1e6} ms\n`);
});
