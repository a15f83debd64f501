/** Cron of the development services, with a runtime that counts. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Runtime } from "../../src/embed/runtime.ts";
import { Services } from "../../src/embed/services.ts";
import { type Ask, askAt } from "./ask.ts";
import { hour, twoDigits } from "./half-day.ts";
import { folder } from "./stores.ts";

describe("cron", () => {
  const directory = folder();
  let services: Services;
  let runtime: Runtime;
  let ask: Ask;
  const job = {
    name: "tick",
    schedule: `0 ${hour} * * *`,
    module: "none",
    path: "/x?y=1",
    method: "POST",
    enabled: true,
  };

  beforeAll(async () => {
    runtime = await Runtime.create({ modules: [], logLevel: "off" });
    services = await Services.start({ folder: directory });
    ask = askAt(services.url);
  });
  afterAll(async () => {
    await services.close();
    await runtime.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("adds, shows, changes and removes jobs", async () => {
    expect((await ask("GET", "/cron")).json).toEqual({ jobs: [] });
    const added = await ask("POST", "/cron", { json: job });
    expect([added.status, added.headers["location"]]).toEqual([201, "/cron/tick"]);
    const next = expect.stringContaining(`T${twoDigits(hour)}:00:00.000Z`);
    expect(added.json).toEqual({ ...job, next, last: null });
    expect((await ask("POST", "/cron", { json: job })).status).toBe(409);
    expect((await ask("GET", "/cron/tick")).json).toMatchObject(job);
    const changed = await ask("PATCH", "/cron/tick", { json: { enabled: false, schedule: "@hourly" } });
    expect(changed.json).toMatchObject({ ...job, enabled: false, schedule: "@hourly", next: null });
    expect((await ask("GET", "/cron")).json.jobs).toHaveLength(1);
    expect((await ask("DELETE", "/cron/tick")).status).toBe(204);
    for (const [method, path] of [
      ["GET", "/cron/tick"],
      ["PATCH", "/cron/tick"],
      ["DELETE", "/cron/tick"],
      ["POST", "/cron/tick/trigger"],
      ["GET", "/cron/tick/history"],
      ["GET", "/cron/..%2Fkv"],
    ] as const) {
      expect((await ask(method, path, method === "PATCH" ? { json: {} } : {})).status, path).toBe(404);
    }
  });

  it.each([
    [{ schedule: "0 0 30 2 *" }, /never fires/],
    [{ schedule: "0 0 31 4,6,9,11 *" }, /never fires/],
    [{ schedule: "* * * *" }, /cron expression/],
    [{ schedule: "61 * * * *" }, /cron expression/],
    [{ schedule: "" }, /schedule/],
    [{ name: "a/b" }, /name/],
    [{ name: "" }, /name/],
    [{ name: ".." }, /name/],
    [{ module: "" }, /module/],
    [{ path: "x" }, /path/],
    [{ method: "TRACE" }, /method/],
    [{ enabled: "yes" }, /enabled/],
    [{ shedule: "@daily" }, /nothing else/],
  ])("refuses %j", async (wrong, said) => {
    const problem = await ask("POST", "/cron", { json: { ...job, ...wrong } });
    expect([problem.status, problem.json.detail]).toEqual([400, expect.stringMatching(said)]);
  });

  it("refuses bodies that are no JSON, or too large", async () => {
    expect((await ask("POST", "/cron", { body: "{" })).status).toBe(400);
    expect((await ask("POST", "/cron", { body: Buffer.alloc(11_000_000, 32) })).status).toBe(413);
    expect((await ask("PUT", "/cron")).headers["allow"]).toContain("POST");
  });

  it("runs jobs by schedule and by hand, and remembers what became of it", async () => {
    await ask("POST", "/cron", { json: { ...job, enabled: false } });
    expect((await ask("POST", "/cron/tick/trigger")).json).toMatchObject({
      cause: "manual",
      error: "no runtime is attached",
    });
    services.attach(runtime, "http://127.0.0.1:3000");
    expect((await ask("POST", "/cron/tick/trigger")).json).toMatchObject({
      status: null,
      error: "no module is called none",
    });
    await ask("PATCH", "/cron/tick", { json: { enabled: true, schedule: "* * * * * *" } });
    const scheduled = async (): Promise<{ due: string }[]> => {
      const { runs } = (await ask("GET", "/cron/tick/history")).json;
      return runs.filter((run: { cause: string }) => run.cause === "schedule");
    };
    await expect.poll(async () => (await scheduled()).length).toBeGreaterThanOrEqual(2);
    const times = (await scheduled()).map(({ due }) => Date.parse(due));
    // Once a second, and no more. On a busy machine a run may start late, and the next one in time.
    expect((times[0] as number) - (times[1] as number)).toBeGreaterThanOrEqual(1000);
    expect((await ask("GET", "/cron/tick/history?limit=1")).json.runs).toHaveLength(1);
    await ask("PATCH", "/cron/tick", { json: { enabled: false } });
  });

  it("knows its jobs again after a restart", async () => {
    await services.close();
    services = await Services.start({ folder: directory });
    ask = askAt(services.url);
    expect((await ask("GET", "/cron/tick")).json).toMatchObject({ module: "none", enabled: false });
    expect((await ask("GET", "/cron/tick/history")).json.runs.length).toBeGreaterThan(2);
    await services.close();
    services = await Services.start({ folder: directory, fresh: true });
    ask = askAt(services.url);
    expect((await ask("GET", "/cron")).json).toEqual({ jobs: [] });
  });
});
