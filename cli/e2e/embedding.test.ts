/** The runtime inside other programs: beside Express, in worker threads, several at once, and gone without a trace. */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { send } from "./http.ts";
import { echoProject, faultsProject, foreignComponent, helloProject, root } from "./servers.ts";

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
  // More than the runtime reads: clients get an error, and their connection stays open.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < 4; i++) {
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${url}/run/hello/users`, {
        agent,
        method: "POST",
        headers: { "content-length": 12_000_000 },
      });
      sent.on("error", reject).on("response", (answer) => answer.resume().on("end", () => resolve(answer.statusCode)));
      sent.end(Buffer.alloc(12_000_000));
    });
    expect(status).toBe(413);
  }
  agent.destroy();
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

test("a body beyond its limit is refused as on a socket, and not read to its end", async () => {
  const runtime = await Runtime.create({ modules: [echo], maxConcurrent: 8, maxBodyBytes: 100_000, logLevel: "off" });
  const { url } = await runtime.listen();
  const piece = new Uint8Array(65_536);
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(piece);
    },
    cancel() {
      cancelled = true;
    },
  });
  const sent = (body: RequestInit["body"], base: string) =>
    new Request(`${base}/run/echo/echo`, {
      method: "POST",
      headers: { "x-request-id": "mine" },
      body,
      duplex: "half",
    } as RequestInit);
  const answer = await runtime.fetch(sent(endless, "http://tenon.test"));
  const expected = await fetch(sent(new Uint8Array(200_000), url));
  expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
    413,
    expected.headers.get("content-type"),
    await expected.json(),
  ]);
  expect([answer.status, cancelled]).toEqual([413, true]);
  // As many pieces as 256 KiB have are read before the request is sent.
  expect(pulled).toBeLessThanOrEqual(8);
  expect((await runtime.fetch(sent(new Uint8Array(100_001), "http://tenon.test"))).status).toBe(413);
  const most = await runtime.fetch(sent(new Uint8Array(100_000), "http://tenon.test"));
  expect([most.status, (await most.arrayBuffer()).byteLength]).toEqual([200, 100_000]);
  expect(runtime.metrics()).toContain('method="POST",status="413"} 3');
  await runtime.close();
});

test("an answer to HEAD has no body, whoever made the component", async () => {
  const runtime = await Runtime.create({ modules: { echo, foreign: foreignComponent }, maxConcurrent: 8 });
  for (const path of ["/run/echo/empty", "/run/foreign/x", "/run/foreign/stream"]) {
    const got = await runtime.fetch(get(path));
    const headed = await runtime.fetch(`http://tenon.test${path}`, { method: "HEAD" });
    expect([headed.status, headed.headers.get("content-type")]).toEqual([got.status, got.headers.get("content-type")]);
    expect([headed.body, await headed.text()]).toEqual([null, ""]);
  }
  await runtime.close();
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

test("closing lets calls of modules finish, and cuts off what takes longer", async () => {
  const faults = join(faultsProject, "dist/faults.wasm");
  const options = { modules: [faults], maxConcurrent: 4, logLevel: "off" } as const;
  const closedWhileRunning = async (runtime: Runtime) => {
    await expect.poll(() => runtime.metrics()).toContain("tenon_requests_running 1");
    await runtime.close();
    return "closed";
  };
  const patient = await Runtime.create({ ...options, requestTimeoutMs: 1_000 });
  const answered = patient.fetch(get("/run/faults/spin")).then(({ status }) => status);
  const closed = closedWhileRunning(patient);
  expect(await Promise.race([answered, closed])).toBe(504);
  await closed;
  const hasty = await Runtime.create({ ...options, shutdownTimeoutMs: 200 });
  const cut = expect(hasty.fetch(get("/run/faults/spin"))).rejects.toMatchObject({
    name: "TenonError",
    code: "RESPONSE",
    message: "the runtime was closed before the request was answered",
  });
  await closedWhileRunning(hasty);
  await cut;
  // It is cancelled in the module, too.
  await expect.poll(() => hasty.metrics()).toContain("tenon_requests_running 0");
  await expect.poll(() => hasty.recentRequests().at(-1)).toMatchObject({ path: "/run/faults/spin", status: 499 });
});

test("a server keeps Node alive until it is closed, and nothing else does", async () => {
  const run = async (name: string, body: string) => {
    const file = join(folder, `${name}.mjs`);
    await writeFile(
      file,
      `import { Runtime } from ${JSON.stringify(built)};
       const runtime = await Runtime.create({ modules: [process.argv[2]], maxConcurrent: 8, shutdownTimeoutMs: 100 });
       ${body}`,
    );
    const child = spawn(process.execPath, [file, hello], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    return { child, exited };
  };
  const fetches = 'await runtime.fetch(new Request("http://x/run/hello/"));';
  const listens = "const { url } = await runtime.listen();";
  expect(await (await run("open", fetches)).exited).toBe(0);
  expect(
    await (await run("closed", `${fetches} ${listens} ${listens.replace("url", "url: b")} await runtime.close();`))
      .exited,
  ).toBe(0);
  expect(
    await (
      await run(
        "refused",
        `${listens} await runtime.listen({ port: Number(new URL(url).port) }).catch(() => {}); await runtime.close();`,
      )
    ).exited,
  ).toBe(0);

  const { child, exited } = await run(
    "listening",
    `${listens}
     process.stdout.write(url);
     process.once("SIGTERM", () => runtime.close());`,
  );
  const url = await new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data))));
  // By now its script is over: the file ends with its output.
  for (let i = 0; i < 100; i++) expect((await send(url, { path: "/run/hello/hello/Ada" })).status).toBe(200);
  expect(child.exitCode).toBe(null);
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
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

test("a runtime that is closed frees its modules at once, and can still be read", async () => {
  /** Descriptors, and megabytes of addresses, without waiting for the garbage collector. */
  const held = async () => {
    const [descriptors, status] = await Promise.all([readdir("/proc/self/fd"), readFile("/proc/self/status", "utf8")]);
    return [descriptors.length, Number(/VmSize:\s+(\d+)/.exec(status)?.[1]) / 1024] as const;
  };
  const cycle = async () => {
    const runtime = await Runtime.create({ modules: [hello] });
    expect((await runtime.fetch(get("/run/hello/hello/Ada"))).status).toBe(200);
    await runtime.close();
    expect(runtime.modules).toEqual(["hello"]);
    expect(runtime.metrics()).toContain('tenon_requests_total{module="hello"');
    expect(runtime.recentRequests()).toHaveLength(1);
    await expect(runtime.reload("hello")).rejects.toMatchObject({ code: "REQUEST" });
  };
  for (let n = 0; n < 3; n++) await cycle();
  const before = await held();
  for (let n = 0; n < 10; n++) await cycle();
  const after = await held();
  expect(after[0] - before[0]).toBeLessThan(5);
  // Each instance has more than 4 GB of addresses.
  expect(after[1] - before[1]).toBeLessThan(8192);
});
