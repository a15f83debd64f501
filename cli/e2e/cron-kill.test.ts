/** One of two servers is killed in the middle of a run of cron, and so is the sidecar: the other server has the run then. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { describeWith } from "../../testing/needs.ts";
import { askAt } from "../test/services/ask.ts";
import { startProcess } from "../test/services/sidecar-process.ts";
import { folder, startPostgres } from "../test/services/stores.ts";
import { developing } from "./develop.ts";
import { buildWorker, killed, type RecordedCall, record, startWorker } from "./workers.ts";

developing();

let at: string;
beforeAll(async () => {
  const job = '[cron.tick]\nschedule = "* * * * * *"\nmodule = "ticks"\npath = "/"\nmethod = "POST"\n';
  at = await buildWorker("ticks", `[server]\nrequest_timeout_ms = 5000\n${job}`);
});

/** Longer than a lease, which lasts 30 s longer than a request. */
const pastLease = { timeout: 90_000 };

/** A run as the module gets it. */
const runOf = ({ headers }: RecordedCall<unknown>) => ({
  id: headers["x-tenon-cron-run"],
  due: headers["x-tenon-cron-due"],
  attempts: Number(headers["x-tenon-cron-attempt"]),
});

async function campaign(url: string): Promise<void> {
  const directory = folder();
  const [socket, recorder] = [join(directory, "cron.sock"), join(directory, "recorder.sock")];
  let sidecar = await startProcess("cron", socket, url);
  const ask = askAt(`unix://${socket}`);
  const { calls, stop } = await record<unknown>(recorder, ({ worker }) => (worker === "hangs" ? undefined : 204));
  const runsOf = (worker: string) => calls.filter((call) => call.worker === worker).map(runOf);

  const hanging = startWorker(at, "hangs", { cron: socket, recorder });
  await expect.poll(() => runsOf("hangs").length).toBe(1);
  const other = startWorker(at, "answers", { cron: socket, recorder });
  await killed(hanging);
  const [lost] = runsOf("hangs");
  await expect.poll(() => runsOf("answers").length, pastLease).toBeGreaterThan(2);
  expect(runsOf("answers")[0]).toEqual({ ...lost, attempts: 2 });

  await killed(sidecar);
  const before = runsOf("answers").length;
  sidecar = await startProcess("cron", socket, url);
  // The sidecar may have died after it leased a run, and before it answered.
  await expect.poll(() => runsOf("answers").length, pastLease).toBeGreaterThan(before + 1);
  await killed(other);
  const { runs } = (await ask("GET", "/cron/tick/history")).json as {
    runs: { id: string; due: string; state: string; attempts: number }[];
  };
  expect(runs.find(({ id }) => id === lost?.id)).toMatchObject({ state: "done", attempts: 2 });
  expect(new Set(runs.map(({ due }) => due)).size).toBe(runs.length);
  const first = runsOf("answers")
    .filter(({ attempts }) => attempts === 1)
    .map(({ due }) => due);
  expect(new Set(first).size).toBe(first.length);
  await killed(sidecar);
  stop();
  rmSync(directory, { recursive: true, force: true });
}

describeWith("postgresql", "cron on PostgreSQL", () => {
  it("gives the run of a killed server to another", async () => {
    const store = await startPostgres();
    await campaign(store.url);
    await store.stop();
  });
});

it("cron on SQLite: gives the run of a killed server to another", async () => {
  const directory = folder();
  await campaign(`sqlite:${join(directory, "cron.db")}`);
  rmSync(directory, { recursive: true, force: true });
});
