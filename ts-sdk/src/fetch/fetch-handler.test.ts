import { Hono } from "hono";
import { afterEach, expect, it, vi } from "vitest";
import { streamKey } from "../abi.ts";
import { platform } from "../platform.ts";
import type { RawResponse } from "../raw.ts";
import { rehearse } from "../rehearse.ts";
import { fetchHandler } from "./fetch-handler.ts";

afterEach(() => vi.restoreAllMocks());

interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Answers a request as a component does. */
async function answer(app: (context: Context) => unknown, method = "GET"): Promise<RawResponse> {
  const fetch = (_request: object, _env: object, context: object) => app(context as Context);
  return fetchHandler({ fetch: fetch as never })({ method, pathWithQuery: "/", headers: [] });
}

const isStreamed = ({ headers }: RawResponse) => headers.at(-1)?.[0] === ":body";
const decode = (body: Uint8Array | undefined) => new TextDecoder().decode(body);

async function next(): Promise<string | number | undefined> {
  const piece = await platform[streamKey]?.next();
  return piece?.status === 200 ? decode(piece.body) : piece?.status;
}

/** A body of these pieces, with `ms` between two of them. */
function slow(ms: number, ...pieces: string[]) {
  let cancelled = false;
  const body = new ReadableStream({
    async pull(controller) {
      await sleep(ms);
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(piece));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  return { body, isCancelled: () => cancelled };
}

it("sends a body whole that is there at once", async () => {
  for (const body of ["text", new Uint8Array([116, 101, 120, 116]), new Response("text").body]) {
    const whole = await answer(() => new Response(body));
    expect([isStreamed(whole), decode(whole.body)]).toEqual([false, "text"]);
  }
  const chunks = new ReadableStream({
    start(controller) {
      for (const piece of ["a", "b", ""]) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const joined = await answer(() => new Response(chunks));
  expect([isStreamed(joined), decode(joined.body)]).toEqual([false, "ab"]);
  expect((await answer(() => new Response(null, { status: 204 }))).body).toBeUndefined();
});

it("streams a body that comes over time, and one that is larger than 1 MiB", async () => {
  const later = await answer(() => new Response(slow(2, "a", "b").body, { headers: { "content-length": "2" } }));
  expect([isStreamed(later), later.body, later.headers.length]).toEqual([true, undefined, 1]);
  expect([await next(), await next(), await next()]).toEqual(["a", "b", 204]);

  const large = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(400_000)) });
  expect(isStreamed(await answer(() => new Response(large)))).toBe(true);
  for (let i = 0; i < 5; i++) expect(await next()).toHaveLength(400_000);
  await platform[streamKey]?.cancel();
});

it("cancels the body when the client goes away, and for HEAD", async () => {
  const gone = slow(2, "a", "b");
  await answer(() => new Response(gone.body));
  expect(await next()).toBe("a");
  await platform[streamKey]?.cancel();
  expect(gone.isCancelled()).toBe(true);
  const head = slow(2, "a");
  const headed = await answer(() => new Response(head.body, { headers: { "content-length": "1" } }), "HEAD");
  expect([decode(headed.headers[0]?.[1]), headed.body, head.isCancelled()]).toEqual(["1", undefined, true]);
});

it("waits at the end of a stream for what waitUntil was given, which may write it", async () => {
  const done: string[] = [];
  const { readable, writable } = new TransformStream();
  await answer(({ waitUntil }) => {
    const write = async () => {
      const writer = writable.getWriter();
      await sleep(2);
      await writer.write(new TextEncoder().encode("a"));
      await writer.close();
      await sleep(5);
      done.push("written");
    };
    waitUntil(write());
    return new Response(readable);
  });
  expect([await next(), done]).toEqual(["a", []]);
  expect([await next(), done]).toEqual([204, ["written"]]);
});

it("answers 500 when the body fails at once, and breaks off when it fails later", async () => {
  const reported = vi.spyOn(console, "error").mockReturnValue();
  const failing = new ReadableStream({ start: (controller) => controller.error(new Error("no body")) });
  const failed = await answer(() => new Response(failing));
  expect(failed.status).toBe(500);
  expect(JSON.parse(decode(failed.body))).toEqual({
    type: "about:blank",
    title: "Internal Server Error",
    status: 500,
    detail: "The request failed.",
  });
  const later = new ReadableStream({
    async pull(controller) {
      await sleep(2);
      controller.error(new Error("half a body"));
    },
  });
  expect((await answer(() => new Response(later))).status).toBe(200);
  expect(await next()).toBe(500);
  expect(reported.mock.calls.map(([text]) => String(text).split("\n")[1])).toEqual([
    "Error: no body",
    "Error: half a body",
  ]);
});

it("rehearses an app without its handlers and middleware", async () => {
  const called: string[] = [];
  class Derived extends Hono {
    constructor() {
      super();
      called.push("constructor");
    }
  }
  for (const App of [Hono, Derived]) {
    const app = new App();
    app.use(async (_, next) => {
      called.push("middleware");
      await next();
    });
    app.all("/a/:id", (c) => c.text(c.req.param("id") ?? ""));
    const handle = fetchHandler(app as never);
    await rehearse();
    // The routes are compiled, which Hono does at the first request otherwise.
    expect(app.router.name).toBe("SmartRouter + RegExpRouter");
    const raw = { method: "GET", pathWithQuery: "/a/b", headers: [] };
    expect(decode((await handle(raw)).body)).toBe("b");
  }
  expect(called).toEqual(["middleware", "constructor", "middleware"]);
});

it("needs no promise for an answer that is there", () => {
  const handle = fetchHandler({ fetch: () => new Response("a") as never });
  expect(handle({ method: "GET", pathWithQuery: "/", headers: [] })).toMatchObject({ status: 200 });
});
