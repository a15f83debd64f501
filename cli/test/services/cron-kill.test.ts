/** One of two consumers of cron is killed in the middle of a run, and so is the sidecar: the other consumer has the run then. */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import type { CronRun } from "../../src/cron.ts";
import { askAt } from "./ask.ts";
import { startProcess } from "./sidecar-process.ts";
import { folder, startPostgres } from "./stores.ts";

const PROGRAM = fileURLToPath(new URL("cron-consumer.mjs", import.meta.url));

async function killed(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exited;
}

/** A consumer, and the runs that it was given. */
function consume(socket: string, manner: "answer" | "hang"): { child: ChildProcess; runs: CronRun[] } {
  const child = spawn(process.execPath, [PROGRAM, socket, manner], { stdio: ["ignore", "pipe", "inherit"] });
  const runs: CronRun[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => runs.push(JSON.parse(line) as CronRun));
  return { child, runs };
}

async function campaign(url: string): Promise<void> {
  const directory = folder();
  const socket = join(directory, "cron.sock");
  let sidecar = await startProcess("cron", socket, url);
  const ask = askAt(`unix://${socket}`);
  const job = { name: "tick", schedule: "* * * * * *", module: "work", path: "/", max_attempts: 3 };
  await ask("PUT", "/cron-jobs", { json: { owner: "work", jobs: [job] } });

  const hanging = consume(socket, "hang");
  await expect.poll(() => hanging.runs.length).toBe(1);
  const other = consume(socket, "answer");
  await killed(hanging.child);
  const [lost] = hanging.runs;
  await expect.poll(() => other.runs.length).toBeGreaterThan(2);
  expect([other.runs[0]?.id, other.runs[0]?.due, other.runs[0]?.attempts]).toEqual([lost?.id, lost?.due, 2]);

  await killed(sidecar);
  const before = other.runs.length;
  sidecar = await startProcess("cron", socket, url);
  await expect.poll(() => other.runs.length).toBeGreaterThan(before + 1);
  await killed(other.child);
  const { runs } = (await ask("GET", "/cron/tick/history")).json as {
    runs: { id: string; due: string; state: string; attempts: number }[];
  };
  expect(runs.find(({ id }) => id === lost?.id)).toMatchObject({ state: "done", attempts: 2 });
  expect(new Set(runs.map(({ due }) => due)).size).toBe(runs.length);
  const first = other.runs.filter(({ attempts }) => attempts === 1).map(({ due }) => due);
  expect(new Set(first).size).toBe(first.length);
  await killed(sidecar);
  rmSync(directory, { recursive: true, force: true });
}

describeWith("postgresql", "cron on PostgreSQL", () => {
  it("gives the run of a killed consumer to another", async () => {
    const store = await startPostgres();
    await campaign(store.url);
    await store.stop();
  });
});

it("cron on SQLite: gives the run of a killed consumer to another", async () => {
  const directory = folder();
  await campaign(`sqlite:${join(directory, "cron.db")}`);
  rmSync(directory, { recursive: true, force: true });
});
