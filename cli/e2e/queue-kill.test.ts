/**
 * Messages are sent and handled while servers and the sidecar are killed: each is handled at least once, the order of a key is
 * kept, and the dead letters are exactly those that nobody can handle. `TENON_QUEUE_MESSAGES=100000` runs more.
 */
import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { describeWith } from "../../testing/needs.ts";
import { askAt } from "../test/services/ask.ts";
import { startProcess } from "../test/services/sidecar-process.ts";
import { folder, startPostgres, startRedis } from "../test/services/stores.ts";
import { developing } from "./develop.ts";
import { buildWorker, killed, record, startWorker } from "./workers.ts";

developing();

let at: string;
beforeAll(async () => {
  const queue = '[queues.work]\nmodule = "messages"\npath = "/"\nconcurrency = 16\nvisibility_ms = 4000\n';
  at = await buildWorker("messages", queue);
});

const MESSAGES = Number(process.env["TENON_QUEUE_MESSAGES"] ?? 1_600);
const KEYS = 16;
const PER_KEY = Math.ceil(MESSAGES / KEYS);
const AT_ONCE = 20;
const CONSUMERS = 3;
const MIN_KILLS = 4;
/** The time that processes have between two kills. */
const PAUSE_MS = 500;
const MOST_PAUSE_MS = 5_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Few messages: each holds up its key for the time of all its attempts. */
const isBroken = (n: number) => n % 1000 === 10;
const numbers = Array.from({ length: PER_KEY }, (_, n) => n);

/**
 * Tells the first message of a batch that was sent twice: the sidecar was killed when it had taken it and had not said so. The
 * second follows on the last of the first.
 */
const isSentAgain = (n: number, before: number) => n % AT_ONCE === 0 && before < n + AT_ONCE;

/** The body of a message. */
interface Numbered {
  readonly key: number;
  readonly n: number;
  readonly isBroken: boolean;
}

async function campaign(store: string, url: string): Promise<void> {
  const directory = folder();
  const [socket, recorder] = [join(directory, "queue.sock"), join(directory, "recorder.sock")];
  let sidecar = await startProcess("queue", socket, url);
  const ask = askAt(`unix://${socket}`);
  /** Asks until there is an answer. */
  const post = async (path: string, json: object) => {
    for (;;) {
      const answer = await ask("POST", path, { json }).catch(() => undefined);
      if (answer?.status === 200) return answer.json;
      await pause(20);
    }
  };
  const produce = async (key: number) => {
    for (let first = 0; first < PER_KEY; first += AT_ONCE) {
      const messages = numbers
        .slice(first, first + AT_ONCE)
        .map((n) => ({ body: { key, n, isBroken: isBroken(n) }, key: String(key) }));
      await post("/queue/work", { messages });
    }
  };
  const recorded = await record<{ body: Numbered }>(recorder, ({ json }) => (json.body.isBroken ? 500 : 204));
  const deliveries = recorded.calls;
  const consume = () => startWorker(at, "one", { queue: socket, recorder });
  const consumers = Array.from({ length: CONSUMERS }, consume);
  let kills = 0;
  const kill = async () => {
    for (; kills < MIN_KILLS || deliveries.length < MESSAGES * 0.9; kills++) {
      const wanted = deliveries.length + MESSAGES / 20;
      await pause(PAUSE_MS * (0.5 + Math.random()));
      // On a slow machine a process has hardly begun by then, and nothing would ever be done.
      for (let waited = 0; waited < MOST_PAUSE_MS && deliveries.length < wanted; waited += 20) await pause(20);
      if (kills % 2 === 0) {
        await killed(sidecar);
        sidecar = await startProcess("queue", socket, url);
      } else {
        const [gone] = consumers.splice(0, 1, consume());
        await killed(gone as ChildProcess);
      }
    }
  };
  const begun = performance.now();
  await Promise.all([kill(), ...Array.from({ length: KEYS }, (_, key) => produce(key))]);
  const left = async () => (await ask("GET", "/queue")).json.queues.map(({ name }: { name: string }) => name);
  await expect.poll(left, { timeout: 90_000 + MESSAGES * 5, interval: 200 }).toEqual(["work.dead"]);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  for (const consumer of consumers) await killed(consumer);

  const dead = new Set<string>();
  for (;;) {
    const { messages } = await post("/queue/work.dead/lease", { max: 100, visibility_ms: 60_000, max_attempts: 1000 });
    if (messages.length === 0) break;
    for (const { id, receipt, body } of messages as { id: string; receipt: string; body: Numbered }[]) {
      dead.add(`${body.key}:${body.n}`);
      await ask("POST", "/queue/work.dead/done", { json: { id, receipt } });
    }
  }
  await killed(sidecar);
  recorded.stop();
  rmSync(directory, { recursive: true, force: true });

  process.stderr.write(
    `queue on ${store}: ${KEYS * PER_KEY} messages, ${deliveries.length} deliveries, ${kills} kills, ${dead.size} dead, ${seconds} s\n`,
  );
  const broken = numbers.filter(isBroken);
  expect([...dead].sort()).toEqual(
    Array.from({ length: KEYS }, (_, key) => broken.map((n) => `${key}:${n}`))
      .flat()
      .sort(),
  );
  for (let key = 0; key < KEYS; key++) {
    const handled = deliveries.map(({ json }) => json.body).flatMap((body) => (body.key === key ? [body.n] : []));
    // Each at least once, and repeats only before the next one.
    expect([...new Set(handled)]).toEqual(numbers);
    expect(handled.filter((n, i) => n < (handled[i - 1] ?? 0) && !isSentAgain(n, handled[i - 1] ?? 0))).toEqual([]);
  }
}

const timeout = 180_000 + MESSAGES * 10;

describeWith("postgresql", "queues on PostgreSQL", () => {
  it(`handles ${MESSAGES} messages at least once, in spite of kills`, { timeout }, async () => {
    const store = await startPostgres();
    await campaign("PostgreSQL", store.url);
    await store.stop();
  });
});

describeWith("redis-server", "queues on Redis", () => {
  it(`handles ${MESSAGES} messages at least once, in spite of kills`, { timeout }, async () => {
    const store = await startRedis();
    await campaign("Redis", store.url);
    await store.stop();
  });
});

it(`queues on SQLite: handles ${MESSAGES} messages at least once, in spite of kills`, { timeout }, async () => {
  const directory = folder();
  await campaign("SQLite", `sqlite:${join(directory, "queue.db")}`);
  rmSync(directory, { recursive: true, force: true });
});
