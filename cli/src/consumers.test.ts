import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Consumers, declareJobs, type Work } from "./consumers.ts";
import { Runtime } from "./embed/runtime.ts";
import { Services } from "./embed/services.ts";
import { Terminal } from "./terminal.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-consumers-"));
});
afterAll(() => rm(folder, { recursive: true }));

const mail = { module: "shop", path: "/mail", concurrency: 1, maxAttempts: 1, visibilityMs: 1000 };
const queues = { mail };
const sidecars = { queue: "unix:///nowhere.sock", cron: "unix:///nowhere.sock" };

/** A terminal, and all that it shows. */
function terminal(): { terminal: Terminal; shown: () => string } {
  const stream = new PassThrough();
  const pieces: string[] = [];
  stream.on("data", (piece) => pieces.push(String(piece)));
  return { terminal: new Terminal("normal", stream as never), shown: () => pieces.join("") };
}

const create = () => Runtime.create({ modules: [], cacheFolder: false, logLevel: "off" });

test("the terminal shows a sidecar that does not answer, and a module that is not served", async () => {
  await using runtime = await create();
  const { terminal: to, shown } = terminal();
  const jobs = [{ name: "night", schedule: "@daily", module: "shop", path: "/night" }];
  const tasks = { queues, cron: { owner: "shop", jobs } };
  const consumers = await Consumers.start({ tasks, serving: { sidecars } }, runtime, to);
  await expect.poll(shown).toContain("Cron jobs cannot be read: cron cannot be reached: No such file");
  expect(shown().split("\n").slice(0, 2)).toEqual([
    "       Queue the queue mail calls shop, which is not served here",
    "        Cron the job night calls shop, which is not served here",
  ]);
  await consumers.close();
  // Again without effect.
  await consumers.close();
  await consumers.change({ tasks: { queues: {} }, serving: {} });
});

test("modules that come later are not reported", async () => {
  await using runtime = await create();
  const { terminal: to, shown } = terminal();
  const consumers = await Consumers.start(
    { tasks: { queues }, serving: { sidecars }, laterModules: true },
    runtime,
    to,
  );
  await expect.poll(shown).toContain("Cron jobs cannot be read");
  expect(shown()).not.toContain("Queue");
  await consumers.close();
});

test.each<[string, Work, string]>([
  ["a queue without its sidecar", { tasks: { queues }, serving: {} }, "queues: `sidecars` must have a sidecar `queue`"],
  [
    "a token that no header can have",
    { tasks: { queues }, serving: { sidecars, secrets: { SIDECAR_QUEUE_TOKEN: "canary\nline" } } },
    "the token of the sidecar `queue` has characters that a header cannot have",
  ],
  [
    "a sidecar in the process of no runtime",
    { tasks: { queues }, serving: { sidecars: { queue: { run: "queue", url: "sqlite::memory:" } } } },
    "the sidecar queue does not run",
  ],
])("%s is refused", async (_, work, message) => {
  await using runtime = await create();
  const { terminal: to, shown } = terminal();
  const refused = { code: "CONFIG", message: expect.stringContaining(message) };
  await expect(Consumers.start(work, runtime, to)).rejects.toMatchObject(refused);
  const consumers = await Consumers.start({ tasks: { queues: {} }, serving: {} }, runtime, to);
  const error = (await consumers.change(work).catch((reason: unknown) => reason)) as Error;
  expect(error).toMatchObject(refused);
  expect(error.message + shown()).not.toContain("canary");
  await consumers.close();
});

test("jobs are declared to the development services", async () => {
  await using services = await Services.start({ folder });
  const job = { name: "night", schedule: "@daily", module: "shop", path: "/night" };
  const declare = (...jobs: object[]) => declareJobs(services.url, { queues: {}, cron: { owner: "shop", jobs } });
  const names = async () => {
    const { jobs } = (await (await fetch(`${services.url}/cron`)).json()) as { jobs: { name: string }[] };
    return jobs.map(({ name }) => name);
  };
  await declare(job);
  await declareJobs(services.url, { queues: {} });
  expect(await names()).toEqual(["night"]);
  await expect(declare({ ...job, schedule: "0 0 30 2 *" })).rejects.toMatchObject({ code: "BACKEND" });
  expect(await names()).toEqual(["night"]);
  await declare();
  expect(await names()).toEqual([]);
  await services.close();
  await expect(declare(job)).rejects.toMatchObject({ code: "BACKEND", message: expect.stringContaining("reached") });
});
