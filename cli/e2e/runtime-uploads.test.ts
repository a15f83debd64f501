/** Request bodies that `Runtime.fetch` streams into a module, within the limits that uploads over HTTP have. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { fetchProject, helloProject } from "./servers.ts";

const MIB = 1024 * 1024;
const modules = [join(fetchProject, "dist/fetch.wasm"), join(helloProject, "dist/hello.wasm")];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await Runtime.create({ modules, maxUploadBytes: 512 * MIB, bodyTimeoutMs: 3000, logLevel: "off" });
});
afterAll(() => runtime.close());

const post = (path: string, body: RequestInit["body"], init: RequestInit = {}, to = runtime) =>
  to.fetch(`http://tenon.test/run/${path}`, { method: "POST", body, duplex: "half", ...init } as RequestInit);

/** A body of so many pieces, and what became of it. */
function pieces(count: number, piece: Uint8Array, before: (index: number) => unknown = () => {}) {
  const seen = { pulled: 0, cancelled: undefined as unknown };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await before(seen.pulled);
        if (seen.pulled === count) return controller.close();
        seen.pulled++;
        return controller.enqueue(piece);
      },
      cancel(reason) {
        seen.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, seen };
}

test("256 MiB are counted, and are never held as a whole", async () => {
  const { body } = pieces(1024, new Uint8Array(MIB / 4));
  await post("fetch/upload/count", pieces(8, new Uint8Array(MIB / 4)).body);
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  const answer = await post("fetch/upload/count", body);
  clearInterval(timer);
  expect(await answer.json()).toMatchObject({ bytes: 256 * MIB });
  expect(most - before).toBeLessThan(96 * MIB);
});

test("the answer comes while the body is sent, and each piece when it is read", async () => {
  const text = new TextEncoder();
  let release = () => {};
  const { body, seen } = pieces(2, text.encode("piece"), (index) => {
    if (index !== 1) return undefined;
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const answer = await post("fetch/upload/echo", body);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("piece");
  expect(seen.pulled).toBe(1);
  release();
  let rest = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) rest += Buffer.from(read.value);
  expect(rest).toBe("piece");
});

test("a body that nobody reads is cancelled", async () => {
  const { body, seen } = pieces(1_000_000, new Uint8Array(MIB / 4));
  expect((await post("fetch/upload/refused", body)).status).toBe(401);
  await expect.poll(() => seen.cancelled).toBeInstanceOf(Error);
  expect(seen.pulled).toBeLessThan(100);
});

test("a module that takes bodies as a whole gets it, up to maxBodyBytes", async () => {
  const [first, second] = ['{"name":', '"Ada"}'];
  const json = { headers: { "content-type": "application/json" } };
  const later = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const part of [first, second]) {
        controller.enqueue(new TextEncoder().encode(part));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      controller.close();
    },
  });
  const created = await post("hello/users", later, json);
  expect([created.status, await created.json()]).toEqual([201, { id: 51, name: "Ada" }]);
  const large = pieces(1_000, new Uint8Array(MIB / 4).fill(0x20));
  expect((await post("hello/users", large.body, json)).status).toBe(413);
  await expect.poll(() => large.seen.cancelled).toBeInstanceOf(Error);
  const text = pieces(1_000, new Uint8Array(MIB / 4).fill(0x20));
  expect((await post("fetch/upload/text", text.body)).status).toBe(413);
});

test("a body that stalls is 408, and one beyond maxUploadBytes is 413", async () => {
  const { body, seen } = pieces(2, new Uint8Array(5), (index) => index === 1 && new Promise(() => {}));
  expect((await post("hello/users", body)).status).toBe(408);
  await expect.poll(() => seen.cancelled).toBeInstanceOf(Error);
  await using small = await Runtime.create({ modules, maxUploadBytes: MIB, logLevel: "off" });
  const large = pieces(100, new Uint8Array(MIB / 4));
  expect((await post("fetch/upload/count", large.body, {}, small)).status).toBe(413);
  expect(large.seen.pulled).toBeLessThan(20);
});

test("a stream that fails ends the request with its error, and aborting cancels the stream", async () => {
  const fire = new Error("disk on fire");
  const failing = pieces(5, new Uint8Array(MIB / 4), (index) => {
    if (index === 3) throw fire;
  });
  await expect(post("fetch/upload/count", failing.body)).rejects.toBe(fire);
  const reason = new Error("changed my mind");
  const abort = new AbortController();
  const endless = pieces(1_000_000, new Uint8Array(MIB / 4), (index) => {
    if (index === 10) abort.abort(reason);
  });
  await expect(post("fetch/upload/count", endless.body, { signal: abort.signal })).rejects.toBe(reason);
  await expect.poll(() => endless.seen.cancelled).toBe(reason);
});

/** A body that never comes, not even when it is cancelled. */
function stalled() {
  const seen = { isRead: false, cancelled: undefined as unknown };
  const stream = new ReadableStream<Uint8Array>(
    {
      pull() {
        seen.isRead = true;
        return new Promise(() => {});
      },
      cancel(reason) {
        seen.cancelled = reason;
        return new Promise(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

test("a body that no module reads is left where it is", async () => {
  const { stream, seen } = stalled();
  expect((await post("none/", stream)).status).toBe(404);
  await expect
    .poll(() => seen.cancelled)
    .toMatchObject({ message: "the request was answered before its body had been read" });
});

test("aborting ends the reading of a body", async () => {
  const { stream, seen } = stalled();
  const abort = new AbortController();
  const answered = post("fetch/upload/count", stream, { signal: abort.signal });
  await expect.poll(() => seen.isRead).toBe(true);
  const reason = new Error("changed my mind");
  abort.abort(reason);
  await expect(answered).rejects.toBe(reason);
  await expect.poll(() => seen.cancelled).toBe(reason);
});

test("closing waits for what is being answered, and nothing begins after it", async () => {
  const runtime = await Runtime.create({ modules, logLevel: "off" });
  let finish = () => {};
  const slow = new ReadableStream({
    start(controller) {
      finish = () => controller.close();
    },
  });
  let isClosed = false;
  // The first call of a runtime, which is still loading its code when it is closed.
  const answered = post("fetch/upload/count", slow, {}, runtime);
  const closed = runtime.close().then(() => {
    isClosed = true;
  });
  await expect(runtime.fetch("http://tenon.test/health")).rejects.toMatchObject({
    name: "TenonError",
    code: "REQUEST",
    message: "the runtime is closed",
  });
  await expect(runtime.listen()).rejects.toMatchObject({ code: "LISTEN", message: "the runtime is closed" });
  // No condition tells that it still waits. One that does not wait would have ended by now.
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isClosed).toBe(false);
  finish();
  expect((await answered).status).toBe(200);
  await closed;
  await runtime.close();
  await expect(runtime.fetch("http://tenon.test/health")).rejects.toThrow("the runtime is closed");
});

test("what is not answered in time is cut off by closing", async () => {
  const runtime = await Runtime.create({ modules, logLevel: "off", shutdownTimeoutMs: 50 });
  const bodies = [stalled(), stalled()];
  const answered = bodies.map(({ stream }) => post("fetch/upload/count", stream, {}, runtime));
  const refused = answered.map((each) =>
    expect(each).rejects.toMatchObject({
      code: "RESPONSE",
      message: "the runtime was closed before the request was answered",
    }),
  );
  await runtime.close();
  await Promise.all(refused);
  for (const { seen } of bodies) await expect.poll(() => seen.cancelled).toMatchObject({ code: "RESPONSE" });
});
