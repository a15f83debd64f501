/** Budgets and the use of requests, in a program and by the command. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import type { RequestUsage } from "../src/embed/usage.ts";
import { send } from "./http.ts";
import { echoProject, helloProject, type Running, startTenon, tenon } from "./servers.ts";

const [hello, echo] = [join(helloProject, "dist/hello.wasm"), join(echoProject, "dist/echo.wasm")];
let folder: string;
let running: Running;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-budgets-"));
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]
name = "budgets"
[server]
admin = "unix://${join(folder, "admin.sock")}"
[modules.app]
source = ${JSON.stringify(hello)}
[modules.app.budget]
cpu = "1 h / day"
bytes_out = "1 B / hour"
when_spent = "503"
[modules.free]
source = ${JSON.stringify(hello)}
`,
  );
  running = await startTenon(["-v"], "app", folder);
});
afterAll(async () => {
  running?.process.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

/** `GET` of a path of the admin socket. */
const admin = (path: string, method = "GET") =>
  new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    request({ socketPath: join(folder, "admin.sock"), path, method }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    })
      .on("error", reject)
      .end();
  });

test("a budget of tenon.toml refuses, and the admin socket shows what is left", async () => {
  const answer = await send(running.base, { path: "/run/app/hello/you" });
  expect(answer.status).toBe(200);
  // It is charged before it is answered, so that no second one is served.
  const refused = await send(running.base, { path: "/run/app/hello/you" });
  expect(refused.status).toBe(503);
  expect(Number(refused.header("retry-after"))).toBeGreaterThan(3000);
  expect(refused.json()).toMatchObject({ status: 503, detail: expect.stringContaining("has spent its budget") });
  expect((await send(running.base, { path: "/run/free/hello/you" })).status).toBe(200);
  const day = 86_400_000;
  const cpu = { part: "cpu", amount: 3600e6, remaining: expect.any(Number), period_ms: day };
  const out = { part: "bytes_out", amount: 1, remaining: 0, period_ms: 3_600_000 };
  const budgets = [
    { module: "app", when_spent: "503", parts: [cpu, out].map((part) => expect.objectContaining(part)) },
  ];
  expect(await admin("/budgets")).toEqual({ status: 200, body: { budgets } });
  expect((await admin("/budgets", "PUT")).status).toBe(405);
  expect((await admin("/budgets/app")).status).toBe(404);
  const ctl = (...args: string[]) =>
    spawnSync(process.execPath, [tenon, "ctl", "budgets", ...args], { cwd: folder, encoding: "utf8" });
  expect(JSON.parse(ctl("--json").stdout)).toEqual(budgets);
  expect(ctl().stdout).toMatch(
    /^app\tcpu\t35[0-9]{8} of 3600000000 µs\t[0-9]+ s\napp\tbytes_out\t0 of 1 B\t[0-9]+ s\n$/,
  );
  const metrics = async () => (await send(running.base, { path: "/metrics" })).body.toString();
  // Its use is counted once its instance is reset, which its client does not wait for.
  await expect.poll(metrics).toContain('tenon_metered_requests_total{module="app"} 1\n');
  expect(await metrics()).toContain('tenon_metered_requests_total{module="free"} 0\n');
  expect(await metrics()).toContain('tenon_budget_refusals_total{module="app"} 1\n');
});

test("a program gets the use of each request while it listens", async () => {
  const runtime = await Runtime.create({
    modules: { hello, echo: { source: echo, budget: { calls: "10 / minute", bytesOut: "1 KiB / day" } } },
    maxConcurrent: 4,
  });
  const told: RequestUsage[] = [];
  const listener = (usage: RequestUsage) => told.push(usage);
  const get = () => runtime.fetch("http://localhost/run/hello/hello/Ada", { headers: { "x-request-id": "r" } });
  const body = await (await get()).text();
  runtime.on("usage", listener).on("usage", listener).off("usage", listener);
  await get();
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toEqual({
    module: "hello",
    requestId: "r",
    cpuUs: expect.any(Number),
    peakMemoryBytes: expect.any(Number),
    calls: 0,
    bytesIn: 0,
    bytesOut: Buffer.byteLength(body),
  });
  expect(told[0]?.cpuUs).toBeGreaterThan(0);
  expect(told[0]?.peakMemoryBytes).toBeGreaterThan(65_535);
  runtime.off("usage", listener);
  await get();
  const [state] = runtime.budgets();
  const parts = [
    { part: "calls", remaining: 10 },
    { part: "bytesOut", amount: 1024, periodMs: 86_400_000 },
  ];
  expect(state).toMatchObject({ module: "echo", whenSpent: "429", parts });
  runtime.on("usage", listener);
  await Promise.all([get(), get(), get()]);
  // The rest comes before the close resolves.
  await runtime.close();
  expect(told).toHaveLength(4);
  expect(runtime.budgets()).toEqual([]);
  expect(() => runtime.on("usage", listener)).toThrow("the runtime is closed");
});

test("wrong events and budgets are refused by name", async () => {
  const budget = (budget: object) => Runtime.create({ modules: { app: { source: hello, budget } } });
  await expect(budget({ cpu: "10 s" })).rejects.toMatchObject({
    code: "CONFIG",
    message: expect.stringContaining("`modules.app.budget.cpu` must be an amount for a period"),
  });
  await expect(budget({ weight: 0 })).rejects.toThrow("`modules.app.budget.weight` must be a whole number from 1");
  await expect(budget({ bytes: "1 B / day" })).rejects.toThrow("unknown option `bytes`");
  await expect(budget({ whenSpent: "500" })).rejects.toThrow("`modules.app.budget.whenSpent` must be");
  await using runtime = await Runtime.create({ modules: [], maxConcurrent: 4 });
  expect(() => runtime.on("used" as "usage", () => {})).toThrow("unknown event `used`");
  expect(() => runtime.on("usage", undefined as never)).toThrow("the listener must be a function");
});
