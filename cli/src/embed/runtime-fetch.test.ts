/** Tests of `Runtime.fetch`: its arguments, and its end by `close`. */
import { expect, test } from "vitest";
import { Runtime } from "./runtime.ts";

const create = (options: Partial<Parameters<typeof Runtime.create>[0]> = {}) =>
  Runtime.create({ modules: [], maxConcurrent: 4, cacheFolder: false, logLevel: "off", ...options });

/** There is no such module, so the answer is 404. */
const post = (body: RequestInit["body"], init: RequestInit = {}) =>
  new Request("http://tenon.test/run/none/", { method: "POST", body, duplex: "half", ...init } as RequestInit);

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
    await expect(refused).rejects.toThrow("`fetch` expects a Request, or a URL and the options of `new Request`");
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
  await expect(runtime.fetch(post(texts))).rejects.toThrow("a piece of a body must be a Uint8Array");
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

test("a server that begins to listen while the runtime is closed does not stay", async () => {
  const runtime = await create();
  const listening = runtime.listen();
  const closed = runtime.close();
  await expect(listening).rejects.toMatchObject({ code: "LISTEN" });
  await closed;
});
