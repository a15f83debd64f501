/** A server that changes while it serves: the admin socket, `/ready` and SIGTERM, and lines that are all JSON. */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { send } from "./http.ts";
import { echoProject, helloProject, type Running, startTenon, tenon } from "./servers.ts";

const [hello, echo] = [join(helloProject, "dist/hello.wasm"), join(echoProject, "dist/echo.wasm")];
let folder: string;
let running: Running;
let metrics: string;
const origin = () => new URL(running.base).origin;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-changes-"));
  metrics = `127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, "broken.wasm"), "no component");
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]
name = "changes"
[server]
log_format = "json"
admin = "unix://${join(folder, "admin.sock")}"
metrics_address = "${metrics}"
drain_ms = 1500
[modules.app]
source = ${JSON.stringify(hello)}
`,
  );
  running = await startTenon(["-v"], "app", folder);
});
afterAll(async () => {
  running?.process.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

const ctl = (...args: string[]) => {
  const ran = spawnSync(process.execPath, [tenon, "ctl", "modules", ...args], { cwd: folder, encoding: "utf8" });
  return { code: ran.status, out: ran.stdout, said: ran.stderr };
};
const status = async (base: string, path: string) => (await send(base, { path })).status;
const isHello = async () => (await status(running.base, "/run/app/hello/you")) === 200;

test("a module is set to another source and rolled back, and one that does not load changes nothing", async () => {
  // It is opened once the server listens.
  const mode = () => statSync(join(folder, "admin.sock")).mode & 0o777;
  await vi.waitFor(() => expect(mode()).toBe(0o600), { timeout: 10_000, interval: 5 });
  expect(await isHello()).toBe(true);
  expect(ctl("set", "app", echo)).toMatchObject({ code: 0 });
  expect(await isHello()).toBe(false);
  expect(ctl("list")).toMatchObject({ code: 0, out: `app\tready\t${echo}\n` });

  const broken = ctl("set", "app", "broken.wasm");
  expect(broken.code).toBe(1);
  expect(broken.said).toContain("is not a component that can be compiled");
  expect(await status(running.base, "/run/app/")).not.toBe(503);
  expect((await send(origin(), { path: "/health" })).json()).toMatchObject({ status: "degraded", reload: "failed" });

  const back = ctl("rollback", "app", "--json");
  expect(JSON.parse(back.out)).toEqual({ name: "app", source: hello });
  expect(await isHello()).toBe(true);
  expect((await send(origin(), { path: "/health" })).json()).toMatchObject({ status: "ok" });
  expect(ctl("rollback", "app")).toMatchObject({ code: 1, said: expect.stringContaining("has no previous source") });
});

test("a server that cannot listen everywhere ends", async () => {
  const at = join(folder, "nowhere");
  await mkdir(at);
  for (const keys of [
    `admin = "unix://${join(at, "none/admin.sock")}"`,
    `metrics_address = "127.0.0.1:0"\nhost = "none.invalid"`,
  ]) {
    await writeFile(join(at, "tenon.toml"), `[project]\nname = "nowhere"\n[server]\nport = 0\n${keys}\n`);
    const ran = spawnSync(process.execPath, [tenon, "run", hello], { cwd: at, encoding: "utf8", timeout: 60_000 });
    expect(ran).toMatchObject({ status: 1, stderr: expect.stringContaining("error: cannot listen ") });
    expect(ran.stderr).not.toContain("Serve");
  }
});

test("metrics are at an address of their own", async () => {
  expect(await status(origin(), "/metrics")).toBe(404);
  expect(await status(`http://${metrics}`, "/metrics")).toBe(200);
  expect(await status(`http://${metrics}`, "/run/app/hello/you")).toBe(404);
});

test("after SIGTERM it serves on while it says that it is not ready, and every line is JSON", async () => {
  expect(await status(origin(), "/ready")).toBe(200);
  const exited = new Promise<number | null>((resolve) => running.process.once("close", resolve));
  running.process.kill("SIGTERM");
  await vi.waitFor(async () => expect(await status(origin(), "/ready")).toBe(503), { timeout: 10_000, interval: 5 });
  expect((await send(origin(), { path: "/ready" })).json()).toEqual({
    status: "unready",
    reasons: ["the server is about to close"],
  });
  expect(await isHello()).toBe(true);
  expect(await exited).toBe(0);
  const lines = running.errors().trim().split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as { level: string; step?: string; message: string });
  const steps = parsed.flatMap(({ step }) => (step === undefined ? [] : [step]));
  expect(steps).toEqual(expect.arrayContaining(["Load", "Metrics", "Serve", "Admin", "Reload", "Drain", "Stop"]));
});
