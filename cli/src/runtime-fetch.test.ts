/** Tests of `Runtime.fetch`: its arguments, its reading of bodies, and its end by `close`. */
import { expect, test } from "vitest";
import { Runtime } from "./runtime.ts";

const create = (options: Partial<Parameters<typeof Runtime.create>[0]> = {}) =>
  Runtime.create({ modules: [], maxConcurrent: 4, cacheFolder: false, logLevel: "off", ...options });

/** There is no such module, so the answer is 404 after the body has been read. */
const post = (body: RequestInit["body"], init: RequestInit = {}) =>
  new Request("http://tenon.test/run/none/", { method: "POST", body, duplex: "half", ...init } as RequestInit);

/** A body that never comes, not even when it is cancelled. */
function stalled() {
  const seen = { cancelled: undefined as unknown };
  const stream = new ReadableStream<Uint8Array>({
    pull: () => new Promise(() => {}),
    cancel(reason) {
      seen.cancelled = reason;
      return new Promise(() => {});
    },
  });
  return { stream, seen };
}

test("it takes what the global fetch takes", async () => {
  const runtime = await create();
  expect((await runtime.fetch("http://tenon.test/health")).status).toBe(200);
  expect((await runtime.fetch(new URL("http://tenon.test/health"))).status).toBe(200);
  expect((await runtime.fetch("http://tenon.test/health", { method: "POST" })).status).toBe(405);
  const request = new Request("http://tenon.test/health", { headers: { "x-request-id": "mine" } });
  const put = await runtime.fetch(request, { method: "PUT" });
  expect([put.status, put.headers.get("x-request-id")]).toEqual([405, "mine"]);
  await expect(runtime.fetch("/health")).rejects.toThrow(TypeError);
  for (const other of [undefined, null, 3000, { url: "http://tenon.test/health" }]) {
    const refused = runtime.fetch(other as never);
    await expect(refused).rejects.toMatchObject({ name: "TenonError", code: "CONFIG" });
    await expect(refused).rejects.toThrow("`fetch` takes a Request, or a URL and what `new Request` takes besides");
  }
  const aborted = AbortSignal.abort(new Error("no more"));
  await expect(runtime.fetch("http://tenon.test/health", { signal: aborted })).rejects.toThrow("no more");
  await runtime.close();
});

test("an answer to HEAD has no body", async () => {
  const runtime = await create();
  runtime.setPage("/page", { contentType: "text/html", body: "<p>" });
  for (const path of ["/health", "/page"]) {
    const answer = await runtime.fetch(`http://tenon.test${path}`, { method: "HEAD" });
    expect([answer.status, answer.body, await answer.text()]).toEqual([200, null, ""]);
    const got = await runtime.fetch(`http://tenon.test${path}`);
    expect(answer.headers.get("content-type")).toBe(got.headers.get("content-type"));
    expect(await got.text()).not.toBe("");
  }
  await runtime.close();
});

test("a body that does not come in time is answered as the server does", async () => {
  const runtime = await create({ bodyTimeoutMs: 50 });
  for (const id of ["mine", ""]) {
    const { stream, seen } = stalled();
    const answer = await runtime.fetch(post(stream, { headers: { "x-request-id": id } }));
    const told = answer.headers.get("x-request-id");
    expect(told).toMatch(id === "" ? /^[0-9a-f]{32}$/ : /^mine$/);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([408, "application/problem+json"]);
    expect(await answer.json()).toEqual({
      type: "about:blank",
      title: "Request Timeout",
      status: 408,
      detail: "the request body did not come within 50 ms",
      request_id: told,
    });
    expect(seen.cancelled).toBeInstanceOf(Error);
  }
  await runtime.close();
});

test("aborting ends the reading of a body", async () => {
  const runtime = await create();
  const { stream, seen } = stalled();
  const abort = new AbortController();
  const answered = runtime.fetch(post(stream, { signal: abort.signal }));
  await new Promise(setImmediate);
  const reason = new Error("changed my mind");
  abort.abort(reason);
  await expect(answered).rejects.toBe(reason);
  expect(seen.cancelled).toBe(reason);
  expect(runtime.recentRequests()).toEqual([]);
  await runtime.close();
});

test("a body that fails, or is none of bytes, or was read before", async () => {
  const runtime = await create();
  const failing = new ReadableStream({ pull: (controller) => controller.error(new Error("disk on fire")) });
  await expect(runtime.fetch(post(failing))).rejects.toThrow("disk on fire");
  let cancelled: unknown;
  const texts = new ReadableStream({
    pull: (controller) => controller.enqueue("text"),
    cancel(reason) {
      cancelled = reason;
    },
  });
  await expect(runtime.fetch(post(texts))).rejects.toThrow("a body consists of Uint8Arrays");
  expect(cancelled).toBeInstanceOf(TypeError);
  const used = post("x");
  await runtime.fetch(used);
  expect(used.bodyUsed).toBe(true);
  await expect(runtime.fetch(used)).rejects.toThrow(TypeError);
  const locked = post("x");
  locked.body?.getReader();
  await expect(runtime.fetch(locked)).rejects.toThrow(TypeError);
  await runtime.close();
});

test("closing waits for what is being answered, and nothing begins after it", async () => {
  const runtime = await create();
  let finish = () => {};
  const slow = new ReadableStream({
    start(controller) {
      finish = () => controller.close();
    },
  });
  let isClosed = false;
  // The first call of a runtime, which is still loading its code when it is closed.
  const answered = runtime.fetch(post(slow));
  const closed = runtime.close().then(() => {
    isClosed = true;
  });
  await expect(runtime.fetch("http://tenon.test/health")).rejects.toMatchObject({
    name: "TenonError",
    code: "REQUEST",
    message: "the runtime is closed",
  });
  await expect(runtime.listen()).rejects.toMatchObject({ code: "LISTEN", message: "the runtime is closed" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isClosed).toBe(false);
  finish();
  expect((await answered).status).toBe(404);
  await closed;
  await runtime.close();
  await expect(runtime.fetch("http://tenon.test/health")).rejects.toThrow("the runtime is closed");
});

test("what is not answered in time is cut off by closing", async () => {
  const runtime = await create({ shutdownTimeoutMs: 50 });
  const bodies = [stalled(), stalled()];
  const answered = bodies.map(({ stream }) => runtime.fetch(post(stream)));
  const refused = answered.map((each) =>
    expect(each).rejects.toMatchObject({
      code: "RESPONSE",
      message: "the runtime was closed before the request was answered",
    }),
  );
  await runtime.close();
  await Promise.all(refused);
  for (const { seen } of bodies) expect(seen.cancelled).toMatchObject({ code: "RESPONSE" });
});

test("a server that begins to listen while the runtime is closed does not stay", async () => {
  const runtime = await create();
  const listening = runtime.listen();
  const closed = runtime.close();
  await expect(listening).rejects.toMatchObject({ code: "LISTEN" });
  await closed;
});
