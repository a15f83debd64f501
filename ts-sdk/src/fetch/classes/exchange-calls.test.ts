/** `fetch` over calls of the host. */
import { expect, it } from "vitest";
import type { CallOutcome, CallPiece, CallStreams, OutgoingCall } from "../../platform.ts";
import { exchangeByCalls } from "./exchange-calls.ts";
import { fetchWith } from "./fetch.ts";

const text = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(value) as Uint8Array<ArrayBuffer>;
const read = (value: Uint8Array | string | undefined) =>
  typeof value === "string" ? value : new TextDecoder().decode(value);

type Answer = CallOutcome | Promise<CallOutcome>;

/** A `fetch` whose calls are answered by a function, the calls that it made, and what it did with their streams. */
function fetching(answer: (call: OutgoingCall) => Answer, host: Partial<CallStreams> = {}) {
  const calls: OutgoingCall[] = [];
  const heads: Answer[] = [];
  const written: (string | undefined)[] = [];
  const cancelled: number[] = [];
  const streams: CallStreams = {
    start(call) {
      heads[calls.push(call)] = answer(call);
      return calls.length;
    },
    head: (handle) => heads[handle] as Answer,
    read: () => undefined,
    write(_, piece) {
      written.push(piece && read(piece));
      return piece?.length ?? 0;
    },
    room: async () => {},
    cancel: (handle) => void cancelled.push(handle),
    ...host,
  };
  const fetch = fetchWith((hop, signal) => exchangeByCalls(streams, hop, signal));
  return { fetch, calls, written, cancelled };
}

/** A function that gives the values one after the other, and `undefined` at last. */
const inTurn =
  (...values: (CallPiece | Promise<CallPiece>)[]) =>
  () =>
    values.shift();

const fine = (body = "", ...headers: [string, string][]): CallOutcome => ({
  status: 200,
  headers: headers.map(([name, value]) => [name, text(value)]),
  body: text(body),
});
const redirect = (location: string, status = 302): CallOutcome => ({
  status,
  headers: [["location", text(location)]],
  body: text("moved"),
});

it("sends a request as one call", async () => {
  const { fetch, calls } = fetching(() => fine("hä", ["Content-Type", "text/plain"], ["set-cookie", "a=1"]));
  const response = await fetch("http://a/b?c#d", { method: "post", body: "x", headers: { "x-a": "ä" } });
  expect(calls).toEqual([
    {
      method: "POST",
      url: "http://a/b?c",
      headers: [
        ["x-a", new Uint8Array([0xe4])],
        ["content-type", text("text/plain;charset=UTF-8")],
      ],
      body: text("x"),
      timeoutMs: 0,
      maxBytes: 0,
    },
  ]);
  expect([response.status, response.ok, response.type, response.url]).toEqual([200, true, "basic", "http://a/b?c"]);
  expect(response.headers.get("content-type")).toBe("text/plain");
  expect(() => response.headers.set("a", "b")).toThrow(TypeError);
  expect(await response.text()).toBe("hä");
});

it.each([
  [200, "OK"],
  [404, "Not Found"],
  [599, ""],
])("gives the status %d its phrase", async (status, phrase) => {
  const { fetch } = fetching(() => ({ status, headers: [], body: text("") }));
  expect((await fetch("http://a/")).statusText).toBe(phrase);
});

it("refuses a body after its signal has aborted", async () => {
  const { fetch } = fetching(() => fine("a"));
  const controller = new AbortController();
  const { signal } = controller;
  const [response, before, streamed] = await Promise.all([1, 2, 3].map(() => fetch("http://a/", { signal })));
  const copy = response?.clone();
  expect(await before?.text()).toBe("a");
  const reader = streamed?.body?.getReader();
  controller.abort();
  await expect(response?.text()).rejects.toBe(signal.reason);
  await expect(copy?.arrayBuffer()).rejects.toBe(signal.reason);
  await expect(reader?.read()).rejects.toBe(signal.reason);
});

it("leaves the headers of the connection to the host", async () => {
  const { fetch, calls } = fetching(() => fine());
  await fetch("http://a/", { headers: { Host: "b", connection: "close", te: "trailers", "x-host": "c" } });
  expect(calls[0]?.headers).toEqual([["x-host", text("c")]]);
});

it("reads an empty body after its signal has aborted", async () => {
  const { fetch } = fetching(() => fine());
  const controller = new AbortController();
  const response = await fetch("http://a/", { signal: controller.signal });
  controller.abort();
  expect(await response.text()).toBe("");
});

const streamOf = (...pieces: string[]) =>
  new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(text(piece));
    },
  });

it("writes a body that is a stream piece by piece", async () => {
  const room: number[] = [];
  let isFull = false;
  const accepted: string[] = [];
  let answer = (_: CallOutcome) => {};
  const write = (_: number, piece: Uint8Array | undefined) => {
    isFull = !isFull;
    const taken = piece?.subarray(0, isFull ? 1 : 100);
    accepted.push(taken === undefined ? "end" : read(taken));
    if (taken === undefined) answer(fine());
    return taken?.length ?? 0;
  };
  const head = new Promise<CallOutcome>((resolve) => {
    answer = resolve;
  });
  const { fetch, calls } = fetching(() => head, { write, room: async (handle) => void room.push(handle) });
  await fetch("http://a/", { method: "PUT", body: streamOf("abc", "d"), duplex: "half" });
  expect([calls[0]?.body, accepted, room]).toEqual([undefined, ["a", "bc", "d", "end"], [1]]);
});

it("ends a body that is a stream when nobody wants more of it", async () => {
  const cancelled: unknown[] = [];
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(text("a")),
    cancel: (reason) => void cancelled.push(reason),
  });
  const { fetch } = fetching(() => fine("early"), { write: () => undefined });
  const response = await fetch("http://a/", { method: "PUT", body, duplex: "half" });
  await expect.poll(() => cancelled.length).toBeGreaterThan(0);
  expect(await response.text()).toBe("early");
});

it("fails with the error of a body that is a stream", async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.error(new RangeError("why"));
    },
  });
  const { fetch, cancelled } = fetching(() => new Promise(() => {}));
  await expect(fetch("http://a/", { method: "PUT", body, duplex: "half" })).rejects.toThrow(RangeError);
  expect(cancelled).toEqual([1]);
});

it("reads a response piece by piece", async () => {
  const later = Promise.resolve(text("b"));
  const { fetch } = fetching(() => fine("a"), { read: inTurn(later, text("c")) });
  const pieces: string[] = [];
  for await (const piece of (await fetch("http://a/")).body as unknown as ReadableStream<Uint8Array>) {
    pieces.push(read(piece));
  }
  expect(pieces).toEqual(["a", "b", "c"]);
});

it("reads a whole response from pieces", async () => {
  const { fetch } = fetching(() => fine('{"a"'), { read: inTurn(Promise.resolve(text(":1")), text("}")) });
  const response = await fetch("http://a/");
  const copy = response.clone();
  expect([await response.json(), await copy.text()]).toEqual([{ a: 1 }, '{"a":1}']);
});

it("fails where a response breaks off", async () => {
  const broken = { reason: 5, detail: "it broke off" };
  const { fetch } = fetching(() => fine("a"), { read: inTurn(text("b"), broken) });
  const response = await fetch("http://a/");
  await expect(response.text()).rejects.toMatchObject({ name: "TypeError", cause: { code: "broken" } });
});

it("ends a response that nobody reads to its end", async () => {
  const { fetch, cancelled } = fetching(() => fine("a"), { read: () => text("b") });
  const body = async () => (await fetch("http://a/")).body as unknown as ReadableStream<Uint8Array>;
  await (await body()).cancel();
  const reader = (await body()).getReader();
  await reader.read();
  await reader.cancel();
  expect(cancelled).toEqual([1, 2]);
});

it("ends a response whose signal aborts", async () => {
  const { fetch, cancelled } = fetching(() => fine("a"), { read: () => new Promise(() => {}) });
  const controller = new AbortController();
  const { signal } = controller;
  const [streamed, whole] = [await fetch("http://a/", { signal }), await fetch("http://a/", { signal })];
  const reader = streamed.body?.getReader();
  expect(read((await reader?.read())?.value as Uint8Array)).toBe("a");
  controller.abort(new RangeError("why"));
  await expect(reader?.read()).rejects.toThrow(RangeError);
  await expect(whole.text()).rejects.toThrow(RangeError);
  expect(cancelled).toEqual([1, 2]);
});

it("follows redirects, and drops what is for one origin", async () => {
  const { fetch, calls } = fetching(({ url }) => (url === "http://a/1" ? redirect("http://b/2") : fine("end")));
  const headers = { authorization: "secret", cookie: "c", "x-own": "1" };
  const response = await fetch("http://a/1", { method: "POST", body: "x", headers });
  expect([response.url, response.redirected, await response.text()]).toEqual(["http://b/2", true, "end"]);
  expect([calls[1]?.method, calls[1]?.body, calls[1]?.headers]).toEqual(["GET", undefined, [["x-own", text("1")]]]);
});

it("ends after twenty redirects", async () => {
  const { fetch, calls } = fetching(() => redirect("/again"));
  await expect(fetch("http://a/")).rejects.toThrow(TypeError);
  expect(calls.length).toBe(21);
});

it("names the reason of a failure", async () => {
  const { fetch } = fetching(() => ({ reason: 2, detail: "the call took too long" }));
  await expect(fetch("http://a/")).rejects.toMatchObject({
    name: "TypeError",
    message: "fetch failed: the call took too long",
    cause: { code: "timeout" },
  });
});

it("ends the host's call when the signal aborts", async () => {
  const { fetch, calls, cancelled } = fetching(() => new Promise(() => {}));
  const controller = new AbortController();
  const pending = fetch("http://a/", { signal: controller.signal });
  await expect.poll(() => calls.length).toBeGreaterThan(0);
  controller.abort(new RangeError("why"));
  await expect(pending).rejects.toThrow(RangeError);
  expect(cancelled).toEqual([1]);
});

it("makes no call when the signal aborts before it", async () => {
  const { fetch, calls } = fetching(() => fine());
  const controller = new AbortController();
  const pending = fetch("http://a/", { signal: controller.signal });
  controller.abort("why");
  await expect(pending).rejects.toBe("why");
  expect(calls).toEqual([]);
});

it("makes no call for a signal that has aborted", async () => {
  const { fetch, calls } = fetching(() => fine());
  await expect(fetch("http://a/", { signal: AbortSignal.abort("why") })).rejects.toBe("why");
  expect(calls).toEqual([]);
});

it("answers data: URLs without a call", async () => {
  const { fetch, calls } = fetching(() => fine());
  const cases = {
    "data:,a%20b": ["text/plain;charset=US-ASCII", "a b"],
    "data:text/html,%C3%A4#x": ["text/html", "ä"],
    "data:;charset=utf-8,x": ["text/plain;charset=utf-8", "x"],
    "data:text/plain;base64,aGk=": ["text/plain", "hi"],
    "data:text/plain ; base64, a G k": ["text/plain", "hi"],
  };
  for (const [url, expected] of Object.entries(cases)) {
    const response = await fetch(url);
    expect([response.headers.get("content-type"), await response.text()], url).toEqual(expected);
  }
  for (const url of ["data:", "data:text/plain", "data:;base64,*", "about:blank", "blob:http://a/b", "ftp://a/"]) {
    await expect(fetch(url), url).rejects.toThrow(TypeError);
  }
  expect(calls).toEqual([]);
});
