/** The contract of queues, on all stores. */
import { expect, it } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import type { Ask } from "./ask.ts";
import { queueTargets, startForTests } from "./targets.ts";

/** A message as it is delivered. */
interface Delivered {
  readonly id: string;
  readonly body: unknown;
  readonly key: string | null;
  readonly attempts: number;
  readonly receipt: string;
}

const client = (ask: Ask, name: string) => {
  const post = (action: string, json: object) => ask("POST", `/queue/${name}${action}`, { json });
  return {
    post,
    send: async (...messages: object[]): Promise<string[]> => (await post("", { messages })).json.ids,
    lease: async (more: object = {}): Promise<Delivered[]> =>
      (await post("/lease", { max: 10, ...more })).json.messages,
  };
};

describeEach("queues: $name", queueTargets, (target) => {
  const started = startForTests(target);

  it("delivers what was sent, until it is done", async () => {
    const queue = client(started.ask, "plain");
    const ids = await queue.send({ body: { a: [1, 5] } }, { body: "é" }, { body: null });
    expect(ids).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    const leased = await queue.lease();
    expect(leased.map(({ id, body, key, attempts }) => ({ id, body, key, attempts }))).toEqual([
      { id: ids[0], body: { a: [1, 5] }, key: null, attempts: 1 },
      { id: ids[1], body: "é", key: null, attempts: 1 },
      { id: ids[2], body: null, key: null, attempts: 1 },
    ]);
    expect(leased[0]).toMatchObject({ sent_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) });
    expect(await queue.lease()).toEqual([]);
    for (const { id, receipt } of leased) expect((await queue.post("/done", { id, receipt })).status).toBe(204);
    const [first] = leased;
    expect((await queue.post("/done", { id: first?.id, receipt: first?.receipt })).status).toBe(409);
    expect((await started.ask("GET", "/queue")).json.queues).toEqual([]);
  });

  it("keeps the digits of numbers", async () => {
    const numbers = "[0.36788125622167067,44991844480302180000,12345678901234567890123,1.50]";
    const json = { headers: { "content-type": "application/json" } };
    await started.ask("POST", "/queue/digits", { body: `{"messages":[{"body":${numbers}}]}`, ...json });
    const leased = await started.ask("POST", "/queue/digits/lease", { body: "{}", ...json });
    expect(leased.text).toContain(numbers);
    const [{ id, receipt }] = leased.json.messages;
    expect((await client(started.ask, "digits").post("/done", { id, receipt })).status).toBe(204);
  });

  it("answers what is no receipt with a problem", async () => {
    const queue = client(started.ask, "odd");
    for (const action of ["/done", "/retry"]) {
      expect((await queue.post(action, { id: "1", receipt: "\0" })).status, action).toBe(400);
      expect((await queue.post(action, { id: "1", receipt: "none" })).status, action).toBe(409);
    }
  });

  it("delivers again what was not done, and lays it aside in the end", async () => {
    const queue = client(started.ask, "again");
    await queue.send({ body: 1 });
    const [first] = await queue.lease({ visibility_ms: 50 });
    let second: Delivered | undefined;
    await expect
      .poll(async () => {
        [second] = await queue.lease({ visibility_ms: 60_000 });
        return second?.attempts;
      })
      .toBe(2);
    // The first lease has ended.
    expect((await queue.post("/done", { id: first?.id, receipt: first?.receipt })).status).toBe(409);
    const { id, receipt } = second as Delivered;
    const later = await queue.post("/retry", { id, receipt, delay_ms: 0, max_attempts: 3 });
    expect([later.status, later.json]).toEqual([200, { dead: false }]);
    const [third] = await queue.lease();
    expect(third?.attempts).toBe(3);
    const last = { id, receipt: third?.receipt, max_attempts: 3 };
    expect((await queue.post("/retry", last)).json).toEqual({ dead: true });
    expect(await queue.lease()).toEqual([]);
    expect((await started.ask("GET", "/queue")).json.queues).toEqual([
      { name: "again.dead", ready: 1, delayed: 0, leased: 0 },
    ]);
    const dead = client(started.ask, "again.dead");
    const [found] = await dead.lease();
    expect([found?.id, found?.body]).toEqual([id, 1]);
    await dead.post("/done", { id, receipt: found?.receipt });
    // A consumer that is killed at every attempt says nothing of it.
    await queue.send({ body: 2 });
    await queue.lease({ visibility_ms: 1, max_attempts: 1 });
    await expect
      .poll(async () => {
        await queue.lease({ max_attempts: 1 });
        return (await dead.lease()).length;
      })
      .toBe(1);
  });

  it("leaves dead letters where they are, however often they are delivered", async () => {
    const dead = client(started.ask, "stuck.dead");
    await dead.send({ body: 1 });
    for (let attempts = 1; attempts <= 3; attempts++) {
      const [found] = (await dead.lease({ max_attempts: 1 })) as [Delivered];
      expect([found.body, found.attempts]).toEqual([1, attempts]);
      const { id, receipt } = found;
      const again = await dead.post("/retry", { id, receipt, delay_ms: 0, max_attempts: 1 });
      expect(again.json).toEqual({ dead: false });
    }
    const [{ id, receipt }] = (await dead.lease({ max_attempts: 1 })) as [Delivered];
    expect((await dead.post("/done", { id, receipt })).status).toBe(204);
  });

  it("keeps the order of messages with one key", async () => {
    const queue = client(started.ask, "ordered");
    await queue.send({ body: 1, key: "a" }, { body: 2, key: "a" }, { body: 3, key: "b" }, { body: 4 });
    const leased = await queue.lease();
    expect(leased.map(({ body }) => body)).toEqual([1, 3, 4]);
    const [first] = leased as [Delivered];
    await queue.post("/retry", { id: first.id, receipt: first.receipt, delay_ms: 0 });
    const [again] = (await queue.lease()) as [Delivered];
    expect(again.body).toBe(1);
    await queue.post("/done", { id: again.id, receipt: again.receipt });
    expect((await queue.lease()).map(({ body }) => body)).toEqual([2]);
  });

  it("finds what is behind many messages of one key", async () => {
    const queue = client(started.ask, "behind");
    for (let sent = 0; sent < 600; sent += 100) {
      await queue.send(...Array.from({ length: 100 }, (_, n) => ({ body: sent + n, key: "a" })));
    }
    await queue.send({ body: "b", key: "b" }, { body: "none" });
    const first = await queue.lease();
    expect(first.map(({ body }) => body)).toEqual([0, "b", "none"]);
    expect(await queue.lease()).toEqual([]);
    const [{ id, receipt }] = first as [Delivered];
    await queue.post("/done", { id, receipt });
    expect((await queue.lease()).map(({ body }) => body)).toEqual([1]);
  });

  it("delays messages", async () => {
    const queue = client(started.ask, "delayed");
    await queue.send({ body: "later", delay: 3600 }, { body: "soon", delay: 0.05 });
    await expect.poll(async () => (await queue.lease()).map(({ body }) => body)).toEqual(["soon"]);
    const { queues } = (await started.ask("GET", "/queue")).json;
    expect(queues).toContainEqual({ name: "delayed", ready: 0, delayed: 1, leased: 1 });
  });

  it("gives each message to one of many consumers", async () => {
    const queue = client(started.ask, "shared");
    await queue.send(...Array.from({ length: 100 }, (_, body) => ({ body })));
    const taken = await Promise.all(Array.from({ length: 20 }, () => queue.lease({ max: 7 })));
    const bodies = taken.flat().map(({ body }) => body as number);
    while (bodies.length < 100) bodies.push(...(await queue.lease()).map(({ body }) => body as number));
    expect(bodies.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  it("refuses what is no message, and no queue", async () => {
    const queue = client(started.ask, "wrong");
    for (const messages of [undefined, {}, [1], [{}], [{ body: 1, delay: -1 }], [{ body: 1, key: "" }]]) {
      expect((await queue.post("", { messages })).status, JSON.stringify(messages)).toBe(400);
    }
    expect((await queue.post("", { messages: Array(101).fill({ body: 1 }) })).status).toBe(400);
    for (const more of [{ max: 0 }, { max: 101 }, { visibility_ms: 0 }, { max_attempts: "1" }]) {
      expect((await queue.post("/lease", more)).status, JSON.stringify(more)).toBe(400);
    }
    for (const name of ["a.b", "x".repeat(65), "a%2Fb"]) {
      expect((await started.ask("POST", `/queue/${name}`, { json: { messages: [] } })).status, name).toBe(400);
    }
    expect(await queue.send()).toEqual([]);
  });
});
