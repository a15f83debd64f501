/** Members, receivers and arguments of the classes, compared with those of Node's. */
import { describe, expect, it } from "vitest";
import { Headers as OwnHeaders } from "./headers.ts";
import { Request as OwnRequest } from "./request.ts";
import { Response as OwnResponse } from "./response.ts";

const node = { Headers, Request, Response };
const own = { Headers: OwnHeaders, Request: OwnRequest, Response: OwnResponse } as unknown as typeof node;
type Classes = typeof node;
type Name = keyof Classes;
const names: readonly Name[] = ["Headers", "Request", "Response"];

/** The properties that Web IDL defines: attributes, operations and their lengths. */
function shapeOf(Class: abstract new (...given: never[]) => object) {
  const membersOf = (target: object) =>
    Object.fromEntries(
      Object.getOwnPropertyNames(target)
        // Node has a constant of its own.
        .filter((name) => name !== "prototype" && name !== "attribute")
        .sort()
        .map((name) => {
          const { value, get, set, ...flags } = Object.getOwnPropertyDescriptor(target, name) as PropertyDescriptor;
          const member = typeof value === "function" ? [value.name, value.length] : (value ?? get?.name);
          return [name, [flags, member, set !== undefined]];
        }),
    );
  const parents = [Object.getPrototypeOf(Class), Object.getPrototypeOf(Class.prototype)];
  return [
    membersOf(Class),
    membersOf(Class.prototype),
    parents[0] === Function.prototype,
    parents[1] === Object.prototype,
  ];
}

const streamOf = (piece: unknown) =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(piece);
      controller.close();
    },
  });

const attempt = (work: () => unknown) => {
  try {
    return work();
  } catch (thrown) {
    return (thrown as Error).constructor.name;
  }
};

it.each(names)("the members of %s", (name) => expect(shapeOf(own[name])).toEqual(shapeOf(node[name])));

it.each(names)("members of %s throw for other receivers", async (name) => {
  const members = Object.entries(Object.getOwnPropertyDescriptors(own[name].prototype));
  for (const [member, { get, value }] of members) {
    if (member === "constructor") continue;
    const call = get ?? (value as () => unknown);
    for (const receiver of [{}, own[name].prototype]) {
      const outcome = (async () => Reflect.apply(call, receiver, ["a", "b"]))();
      await expect(outcome, member).rejects.toThrow(TypeError);
    }
  }
});

const uses: Readonly<Record<string, (of: Classes) => unknown>> = {
  "an iterator of headers": ({ Headers }) => {
    const headers = new Headers({ a: "1" });
    const iterator = headers.entries();
    const prototype = Object.getPrototypeOf(iterator);
    const parent = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
    return [
      ...[
        Object.prototype.toString.call(iterator),
        Object.getPrototypeOf(prototype) === parent,
        Object.keys(prototype),
      ],
      ...[iterator.next(), iterator.next(), headers[Symbol.iterator] === headers.entries],
    ];
  },
  "headers that change while they are iterated": ({ Headers }) => {
    const headers = new Headers({ a: "1", b: "2", c: "3" });
    const seen: string[] = [];
    for (const [name] of headers) {
      seen.push(name);
      headers.delete("b");
      headers.append("d", "1");
    }
    return seen;
  },
  "headers with an iterator of their own": ({ Headers }) => {
    const headers = new Headers({ a: "1" });
    Object.assign(headers, { [Symbol.iterator]: () => [["b", "2"]][Symbol.iterator]() });
    return [...new Headers(headers)];
  },
  "the order of reading a record": ({ Headers }) => {
    const log: string[] = [];
    const noting = <T>(line: string, value: T): T => {
      log.push(line);
      return value;
    };
    const record = new Proxy({ a: "b", c: "d" } as Record<string, string>, {
      get: (target, key) => noting(`get ${String(key)}`, Reflect.get(target, key)),
      has: (target, key) => noting(`has ${String(key)}`, Reflect.has(target, key)),
      ownKeys: (target) => noting("keys", Reflect.ownKeys(target)),
      getOwnPropertyDescriptor: (target, key) =>
        noting(`describe ${String(key)}`, Reflect.getOwnPropertyDescriptor(target, key)),
    });
    return [[...new Headers(record)], log];
  },
  "symbols are no texts": ({ Headers, Request, Response }) => [
    attempt(() => new Headers().set("a", Symbol() as never)),
    attempt(() => new Request("http://a/", { method: Symbol() as never })),
    attempt(() => new Response(Symbol() as never)),
  ],
  "arguments of a response": ({ Response }) =>
    [
      {},
      { status: 599 },
      { statusText: "ß" },
      { statusText: "€" },
      { status: 600 },
      { status: 101 },
      null,
      1,
      { status: "201" },
    ].map((init) =>
      attempt(() => {
        const { status, statusText } = new Response("x", init as never);
        return [status, statusText];
      }),
    ),
  "types of bodies": async ({ Response }) => {
    const bodies = ["", new Uint8Array([1]), new DataView(new ArrayBuffer(2)), new URLSearchParams("a=b"), 5, {}, null];
    const blobs = [new Blob(["q"], { type: "TEXT/PLAIN;a=b" }), new Blob(["q"])];
    return Promise.all(
      [...bodies, ...blobs].map(async (body) => {
        const response = new Response(body as never);
        return [response.headers.get("content-type"), response.body === null, await response.text()];
      }),
    );
  },
  "types of a body's blob": ({ Response }) =>
    Promise.all(
      ["text/plain", "TEXT/HTML;Charset=utf-8", "x", "", "text/plain;charset=UTF-8"].map(async (type) => {
        return (await new Response("x", { headers: { "content-type": type } }).blob()).type;
      }),
    ),
  "a body that is locked, released or cancelled": async ({ Response }) => {
    const [locked, released, cancelled] = [new Response("a"), new Response("a"), new Response("a")];
    locked.body?.getReader();
    released.body?.getReader().releaseLock();
    await cancelled.body?.cancel();
    const texts = [locked, released, cancelled].map((each) => each.text().catch((thrown) => thrown.name));
    return [...(await Promise.all(texts)), locked.bodyUsed, attempt(() => locked.clone())];
  },
  "reads into a buffer": async ({ Response }) => {
    const reader = new Response("hello").body?.getReader({ mode: "byob" }) as ReadableStreamBYOBReader;
    const reads = [await reader.read(new Uint8Array(3)), await reader.read(new Uint8Array(3))];
    return [...reads.map(({ value }) => [...(value ?? [])]), (await reader.read(new Uint8Array(3))).done];
  },
  "pieces that are not bytes": ({ Response }) =>
    Promise.all(
      [null, undefined, 1, "s", {}, [1]].map((piece) => new Response(streamOf(piece)).text().catch((e) => e.name)),
    ),
  "defaults of a request": ({ Request }) => {
    const request = new Request("http://a/") as unknown as Record<string, unknown>;
    const attributes = ["method", "url", "destination", "referrer", "referrerPolicy", "mode", "credentials", "cache"];
    const others = [
      "redirect",
      "integrity",
      "keepalive",
      "isReloadNavigation",
      "isHistoryNavigation",
      "duplex",
      "body",
    ];
    return [...attributes, ...others].map((name) => request[name]);
  },
  "signals of requests": ({ Request }) => {
    const controller = new AbortController();
    const request = new Request("http://a/", { signal: controller.signal });
    const { signal } = request;
    controller.abort("why");
    const others = [request.clone(), new Request(request), new Request(request, { signal: null })];
    return [signal.aborted, signal.reason, signal === request.signal, others.map((each) => each.signal.aborted)];
  },
  "wrong arguments of a request": ({ Request }) =>
    [
      ...[{ mode: "navigate" }, { window: "x" }, { window: null }, { cache: "only-if-cached" }, { duplex: "full" }],
      ...[
        { cache: "only-if-cached", mode: "same-origin" },
        { redirect: "x" },
        { signal: {} },
        { body: "", method: "HEAD" },
      ],
      ...[{ method: "POST", body: new ReadableStream() }, 1, null, { method: "track" }],
    ].map((init) => attempt(() => new Request("http://a/", init as never).url)),
  "a request whose body is given again": async ({ Request }) => {
    const make = () => new Request("http://a/", { method: "POST", body: "x" });
    const [moved, kept] = [make(), make()];
    const { body } = moved;
    const texts = [await new Request(moved, { body: null }).text(), await new Request(kept, { body: "y" }).text()];
    return [...texts, moved.bodyUsed, moved.body === body, kept.bodyUsed, await kept.text()];
  },
  "a request that could not be made leaves the body": ({ Request }) => {
    const request = new Request("http://a/", { method: "POST", body: "x" });
    for (const init of [{ method: "GET" }, { headers: { "a b": "1" } }, { mode: "navigate" }]) {
      attempt(() => new Request(request, init as never));
    }
    return request.bodyUsed;
  },
  "an encoded form": async ({ Response }) => {
    const form = new FormData();
    form.append('a\r\nb"', "1\n2");
    form.append("é", new File(["x"], 'q"\r\n.txt', { type: "a/b" }));
    form.append("b", new Blob(["y"]));
    const response = new Response(form);
    const [, boundary] = /boundary=(.*)$/.exec(response.headers.get("content-type") ?? "") as unknown as [
      string,
      string,
    ];
    return (await response.text()).replaceAll(boundary, "boundary");
  },
};

describe("does as Node's does", () => {
  it.each(Object.keys(uses))("%s", async (name) => {
    const use = uses[name] as (of: Classes) => unknown;
    expect(await use(own)).toEqual(await use(node));
  });
});

it("copies the pieces of a cloned stream", async () => {
  const piece = new Uint8Array([1]);
  const response = new own.Response(streamOf(piece));
  const copy = response.clone();
  const [first, second] = [await response.body?.getReader().read(), await copy.body?.getReader().read()];
  expect([first?.value === piece, second?.value === piece, second?.value]).toEqual([true, false, piece]);
});
