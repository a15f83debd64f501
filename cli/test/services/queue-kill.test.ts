/**
 * Messages are sent and handled while the sidecar is killed and consumers come and go: each is handled at least once, the order of
 * a key is kept, and the dead letters are those that nobody can handle. `TENON_QUEUE_SECONDS=60` runs it longer.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { QueueConsumer } from "../../src/queues.ts";
import { askAt } from "./ask.ts";
import { startProcess } from "./sidecar-process.ts";
import { folder, startPostgres } from "./stores.ts";

const SECONDS = Number(process.env["TENON_QUEUE_SECONDS"] ?? 3);
const KEYS = 8;
const CONSUMERS = 3;

interface Body {
  readonly key: number;
  readonly n: number;
  readonly isBroken: boolean;
}

async function campaign(url: string): Promise<void> {
  const directory = folder();
  const socket = join(directory, "queue.sock");
  let sidecar = await startProcess("queue", socket, url);
  const ask = askAt(`unix://${socket}`);
  /** Asks until there is an answer. */
  const post = async (path: string, json: object) => {
    for (;;) {
      const answer = await ask("POST", path, { json }).catch(() => undefined);
      if (answer?.status === 200) return answer.json;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const end = Date.now() + SECONDS * 1000;
  const sent = new Map<number, number>();
  const broken = new Set<string>();
  const handled: Body[][] = Array.from({ length: KEYS }, () => []);

  const producer = async (key: number) => {
    for (let n = 0; Date.now() < end; n++) {
      // Rarely: a message that fails holds up its key.
      const isBroken = n % 40 === 39;
      if (isBroken) broken.add(`${key}:${n}`);
      await post("/queue/work", { messages: [{ body: { key, n, isBroken }, key: String(key) }] });
      sent.set(key, n);
    }
  };
  const deliver = async (_module: string, _path: string, text: string) => {
    const { body } = JSON.parse(text) as { body: Body };
    if (body.isBroken) return 500;
    handled[body.key]?.push(body);
    return 204;
  };
  const options = { module: "work", path: "/", concurrency: 4, maxAttempts: 1, visibilityMs: 1000 };
  const consume = () => new QueueConsumer("work", options, { address: `unix://${socket}` }, deliver, () => undefined);
  const consumers = Array.from({ length: CONSUMERS }, consume);
  const kill = async () => {
    while (Date.now() + 1000 < end) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const exited = new Promise((resolve) => sidecar.once("exit", resolve));
      sidecar.kill("SIGKILL");
      await exited;
      sidecar = await startProcess("queue", socket, url);
      const [gone] = consumers.splice(0, 1, consume());
      await gone?.close();
    }
  };
  await Promise.all([kill(), ...Array.from({ length: KEYS }, (_, key) => producer(key))]);
  const rest = async () => (await ask("GET", "/queue")).json.queues.map(({ name }: { name: string }) => name);
  await expect.poll(rest, { timeout: 60_000 }).toEqual(["work.dead"]);
  await Promise.all(consumers.map((consumer) => consumer.close()));

  const dead = new Set<string>();
  for (;;) {
    const { messages } = await post("/queue/work.dead/lease", { max: 100, visibility_ms: 60_000, max_attempts: 1000 });
    if (messages.length === 0) break;
    for (const { id, receipt, body } of messages as { id: string; receipt: string; body: Body }[]) {
      dead.add(`${body.key}:${body.n}`);
      await ask("POST", "/queue/work.dead/done", { json: { id, receipt } });
    }
  }
  sidecar.kill("SIGTERM");
  rmSync(directory, { recursive: true, force: true });

  const total = [...sent.values()].reduce((sum, n) => sum + n + 1, 0);
  process.stderr.write(`queue: ${total} messages, ${dead.size} dead\n`);
  // With one attempt, a message whose consumer was killed is dead as well: those that failed are, and few others.
  for (const message of broken) expect(dead).toContain(message);
  for (let key = 0; key < KEYS; key++) {
    const numbers = (handled[key] ?? []).map(({ n }) => n);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    for (let n = 0; n <= (sent.get(key) ?? -1); n++) {
      if (!numbers.includes(n)) expect(dead).toContain(`${key}:${n}`);
    }
  }
}

const timeout = 180_000 + SECONDS * 1000;

describeWith("postgresql", "queues on PostgreSQL", () => {
  it(`at least once, for ${SECONDS} s of kills`, { timeout }, async () => {
    const store = await startPostgres();
    await campaign(store.url);
    await store.stop();
  });
});

it(`queues on SQLite: at least once, for ${SECONDS} s of kills`, { timeout }, async () => {
  const directory = folder();
  await campaign(`sqlite:${join(directory, "queue.db")}`);
  rmSync(directory, { recursive: true, force: true });
});
