/** Cron of `tenon sidecar cron`, on each store: jobs are declared, and consumers lease their runs. */
import { expect, it } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import type { Ask } from "./ask.ts";
import { hour, twoDigits } from "./half-day.ts";
import { cronTargets, startForTests } from "./targets.ts";

/** A run as a lease gives it. */
interface CronRun {
  readonly id: string;
  /** The time of the schedule, in ISO 8601. */
  readonly due: string;
  /** Attempts, this one included. */
  readonly attempts: number;
  readonly module: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly receipt: string;
}

const job = { name: "nightly", schedule: `0 ${hour} * * *`, module: "shop", path: "/report?full=1", method: "POST" };
const everySecond = { ...job, schedule: "* * * * * *" };

const client = (ask: Ask) => ({
  declare: (owner: string, ...jobs: object[]) => ask("PUT", "/cron-jobs", { json: { owner, jobs } }),
  trigger: async (name: string) => (await ask("POST", `/cron/${name}/trigger`)).json as { id: string },
  lease: async (module: string, more: object = {}): Promise<CronRun[]> =>
    (await ask("POST", "/cron-runs/lease", { json: { modules: [module], ...more } })).json.runs,
  done: (run: CronRun | undefined, outcome: object) =>
    ask("POST", "/cron-runs/done", { json: { id: run?.id, receipt: run?.receipt, ...outcome } }),
  names: async (): Promise<string[]> => (await ask("GET", "/cron")).json.jobs.map(({ name }: { name: string }) => name),
  history: async (name: string) => (await ask("GET", `/cron/${name}/history`)).json.runs,
});

describeEach("cron: $name", cronTargets, (target) => {
  const started = startForTests(target);
  const cron = client(started.ask);

  it("has the routes of the development services", async () => {
    const own = { ...job, name: "tick" };
    const added = await started.ask("POST", "/cron", { json: own });
    expect([added.status, added.headers["location"]]).toEqual([201, "/cron/tick"]);
    const next = expect.stringContaining(`T${twoDigits(hour)}:00:00.000Z`);
    expect(added.json).toEqual({ ...own, enabled: true, next, last: null });
    expect((await started.ask("POST", "/cron", { json: own })).status).toBe(409);
    const changed = await started.ask("PATCH", "/cron/tick", { json: { enabled: false, timezone: "Asia/Tokyo" } });
    expect(changed.json).toMatchObject({ ...own, enabled: false, timezone: "Asia/Tokyo", next: null });
    const on = await started.ask("PATCH", "/cron/tick", { json: { enabled: true } });
    expect(on.json.next).toContain(`T${twoDigits((hour + 24 - 9) % 24)}:00:00.000Z`);
    expect((await started.ask("DELETE", "/cron/tick")).status).toBe(204);
    expect((await started.ask("GET", "/cron/tick")).status).toBe(404);
    expect((await started.ask("PUT", "/cron")).headers["allow"]).toContain("POST");
    const wrong = await started.ask("POST", "/cron", { json: { ...job, timezone: "Berlin" } });
    expect([wrong.status, wrong.json.detail]).toEqual([400, expect.stringMatching(/IANA/)]);
  });

  it("loses no concurrent change, and brings no deleted job back", async () => {
    const [add, numbers] = [{ ...job, name: "busy" }, "[0.36788125622167067,12345678901234567890123]"];
    const body = `${JSON.stringify(add).slice(0, -1)},"body":${numbers}}`;
    await started.ask("POST", "/cron", { body, headers: { "content-type": "application/json" } });
    const patch = (json: object) => started.ask("PATCH", "/cron/busy", { json });
    for (let round = 0; round < 20; round++) {
      const changed = await Promise.all([patch({ path: `/${round}` }), patch({ module: `m${round}` })]);
      expect(changed.map(({ status }) => status)).toEqual([200, 200]);
      const both = await started.ask("GET", "/cron/busy");
      expect(both.json).toMatchObject({ path: `/${round}`, module: `m${round}` });
      expect(both.text).toContain(`"body":${numbers}`);
    }
    for (let round = 0; round < 20; round++) {
      const [, removed] = await Promise.all([patch({ path: "/x" }), started.ask("DELETE", "/cron/busy")]);
      expect([removed.status, (await started.ask("GET", "/cron/busy")).status]).toEqual([204, 404]);
      await started.ask("POST", "/cron", { json: add });
    }
    await started.ask("DELETE", "/cron/busy");
  });

  it("declares the jobs of a project, and removes those that it had before", async () => {
    await started.ask("POST", "/cron", { json: { ...job, name: "by-hand" } });
    expect((await cron.declare("shop", job, { ...job, name: "weekly" })).status).toBe(200);
    expect((await cron.declare("other", { ...job, name: "theirs" })).status).toBe(200);
    expect(await cron.names()).toEqual(["by-hand", "nightly", "theirs", "weekly"]);
    await started.ask("PATCH", "/cron/nightly", { json: { enabled: false } });
    const again = await cron.declare("shop", { ...job, path: "/other" });
    expect(again.json.jobs.find(({ name }: { name: string }) => name === "nightly")).toMatchObject({
      path: "/other",
      owner: "shop",
      enabled: false,
    });
    expect(await cron.names()).toEqual(["by-hand", "nightly", "theirs"]);
    for (const jobs of [undefined, [{}], [job, job], [{ ...job, schedule: "0 0 30 2 *" }]]) {
      const wrong = await started.ask("PUT", "/cron-jobs", { json: { owner: "shop", jobs } });
      expect(wrong.status, JSON.stringify(jobs)).toBe(400);
    }
    expect((await cron.declare("a b")).status).toBe(400);
    expect(await cron.names()).toEqual(["by-hand", "nightly", "theirs"]);
    await started.ask("DELETE", "/cron/by-hand");
    await cron.declare("shop");
    await cron.declare("other");
    expect(await cron.names()).toEqual([]);
  });

  it("gives a run that was asked for by hand to one consumer, with headers and body", async () => {
    const body = { full: true, of: ["é"] };
    await cron.declare("shop", { ...job, headers: { "X-Own": "1" }, body });
    const triggered = await started.ask("POST", "/cron/nightly/trigger");
    expect([triggered.status, triggered.json]).toMatchObject([202, { cause: "manual", state: "waiting", attempts: 0 }]);
    expect(await cron.lease("elsewhere")).toEqual([]);
    const taken = (await Promise.all(Array.from({ length: 10 }, () => cron.lease("shop")))).flat();
    expect(taken).toHaveLength(1);
    const [run] = taken as [CronRun];
    const { id } = triggered.json;
    expect(run).toMatchObject({ id, job: "nightly", attempts: 1, module: "shop", method: "POST", path: job.path });
    expect(JSON.parse(run.body ?? "")).toEqual(body);
    expect(run.headers).toEqual({
      "content-type": "application/json",
      "x-own": "1",
      "x-tenon-cron": "1",
      "x-tenon-cron-job": "nightly",
      "x-tenon-cron-run": id,
      "x-tenon-cron-due": run.due,
      "x-tenon-cron-attempt": "1",
    });
    expect((await started.ask("GET", "/cron/nightly")).json.last).toMatchObject({ id, state: "running" });
    expect((await cron.done({ ...run, receipt: "another" }, { status: 204 })).status).toBe(409);
    expect((await cron.done(run, { status: 204 })).json).toEqual({ again: false });
    expect((await cron.done(run, { status: 204 })).status).toBe(409);
    expect(await cron.history("nightly")).toMatchObject([{ id, state: "done", status: 204, attempts: 1, error: null }]);
    for (const outcome of [{}, { status: 1000 }, { status: "200" }]) {
      expect((await cron.done(run, outcome)).status, JSON.stringify(outcome)).toBe(400);
    }
  });

  it("leaves out a run while another one of the job is going on", async () => {
    await cron.declare("shop", job);
    await cron.trigger("nightly");
    const [run] = await cron.lease("shop");
    expect(await cron.trigger("nightly")).toMatchObject({ state: "skipped", error: "it was still running" });
    await cron.done(run, { error: "no answer\0" });
    const [skipped, failed] = await cron.history("nightly");
    expect([skipped.state, failed.state, failed.error]).toEqual(["skipped", "failed", "no answer "]);
  });

  it("tries again what failed, and what nobody ended, each time of the schedule once", async () => {
    await cron.declare("shop", { ...everySecond, name: "tick", max_attempts: 3 });
    const next = async (more: object): Promise<CronRun> => {
      let found: CronRun | undefined;
      await expect
        .poll(async () => {
          [found] = await cron.lease("shop", more);
          return found;
        })
        .toBeDefined();
      return found as CronRun;
    };
    const first = await next({ lease_ms: 1 });
    // The first lease has ended, as that of a consumer that was killed.
    const second = await next({ lease_ms: 60_000 });
    expect([second.id, second.due, second.attempts]).toEqual([first.id, first.due, 2]);
    expect((await cron.done(first, { status: 200 })).status).toBe(409);
    expect((await cron.done(second, { status: 500 })).json).toEqual({ again: true });
    const third = await next({ lease_ms: 60_000 });
    expect([third.id, third.attempts]).toEqual([first.id, 3]);
    expect((await cron.done(third, { status: 503 })).json).toEqual({ again: false });
    const dues = [first.due];
    while (dues.length < 4) {
      const leases = await Promise.all(Array.from({ length: 5 }, () => cron.lease("shop")));
      for (const run of leases.flat()) {
        dues.push(run.due);
        await cron.done(run, { status: 200 });
      }
    }
    expect(new Set(dues).size).toBe(4);
    const history = await cron.history("tick");
    expect(history.find(({ id }: { id: string }) => id === first.id)).toMatchObject({
      cause: "schedule",
      state: "failed",
      status: 503,
      attempts: 3,
      due: first.due,
    });
    await cron.declare("shop");
    expect(await cron.lease("shop")).toEqual([]);
  });
});
