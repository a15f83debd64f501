/** `[cron]` of a project: run by `tenon dev` itself, and by two `tenon run` over one `tenon sidecar cron`. */
import { type ChildProcess, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { type Ask, askAt } from "../test/services/ask.ts";
import { startProcess } from "../test/services/sidecar-process.ts";
import { folder } from "../test/services/stores.ts";
import { develop, developing, project, served } from "./develop.ts";
import { type Running, startTenon, tenon } from "./servers.ts";

developing();

const handler = `
import { guard, noContent, post, routes } from "@tenon/sdk";

export default routes({
  tick: post("/jobs/tick", { status: 204 }, (_, req) => {
    guard(req.headers.get("x-tenon-cron-job") === "tick" && req.json().full === true, 422, "this is no run of the job");
    return noContent();
  }),
});
`;

const cron = (module: string) =>
  `[cron.tick]\nschedule = "* * * * * *"\ntimezone = "Europe/Berlin"\nmodule = "${module}"\npath = "/jobs/tick"\n` +
  "body = { full = true }\n";

interface Run {
  readonly state: string;
  readonly due: string;
  readonly status: number | null;
}

const historyOf = async (ask: Ask) => ((await ask("GET", "/cron/tick/history")).json.runs ?? []) as Run[];
const done = async (ask: Ask) => (await historyOf(ask)).filter(({ state }) => state === "done").length;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

test("tenon dev runs the jobs that tenon.toml declares", { timeout: 300_000 }, async () => {
  const at = await project("develops", handler, `[server]\nport = ${await freePort()}\n${cron("develops")}`);
  const terminal = develop(at);
  const ask = askAt((await served(terminal, "develops")).services);
  await expect.poll(() => done(ask)).toBeGreaterThan(1);
  expect((await historyOf(ask)).filter(({ state }) => state === "failed")).toEqual([]);
  expect((await ask("POST", "/cron/tick/trigger")).json).toMatchObject({ cause: "manual" });
  terminal.type("q");
  expect(await terminal.exited()).toBe(0);
});

test("two servers share the jobs of a sidecar, each run once, also when one is killed", {
  timeout: 300_000,
}, async () => {
  const directory = folder();
  const socket = join(directory, "cron.sock");
  const at = await project("serves", handler, `${cron("serves")}[sidecars]\ncron = "unix://${socket}"\n`);
  const built = spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
  const sidecar: ChildProcess = await startProcess("cron", socket, `sqlite:${join(directory, "cron.db")}`);
  ends.push(async () => sidecar.kill("SIGTERM"));
  const servers: Running[] = [await startTenon([], "serves", at), await startTenon([], "serves", at)];
  for (const server of servers) ends.unshift(() => server.stop());
  const ask = askAt(`unix://${socket}`);
  await expect.poll(() => done(ask)).toBeGreaterThan(2);
  servers[0]?.process.kill("SIGKILL");
  const before = await done(ask);
  await expect.poll(() => done(ask), { timeout: 90_000 }).toBeGreaterThan(before + 1);
  const runs = await historyOf(ask);
  expect(new Set(runs.map(({ due }) => due)).size).toBe(runs.length);
  expect(runs.filter(({ state }) => state === "failed")).toEqual([]);
});

test("a server runs the jobs of a sidecar in its own process", { timeout: 300_000 }, async () => {
  const directory = folder();
  const url = `sqlite:${join(directory, "cron.db")}`;
  const sidecars = `[sidecars]\ncron = { run = "cron", url = "env:JOBS" }\n`;
  const at = await project("alone", handler, `${cron("alone")}${sidecars}`);
  const built = spawnSync(process.execPath, [tenon, "build"], { cwd: at, encoding: "utf8" });
  expect(built.status, built.stderr).toBe(0);
  const server = await startTenon([], "alone", at, { JOBS: url });
  ends.push(() => server.stop());
  // Another process sees the first one's data.
  const socket = join(directory, "cron.sock");
  const observer = await startProcess("cron", socket, url);
  ends.push(async () => observer.kill("SIGTERM"));
  const ask = askAt(`unix://${socket}`);
  await expect.poll(() => done(ask)).toBeGreaterThan(1);
  expect((await historyOf(ask)).filter(({ state }) => state === "failed")).toEqual([]);
});
