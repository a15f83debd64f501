import { afterEach, describe, expect, it, vi } from "vitest";
import { streamKey } from "../abi.ts";
import {
  cors,
  env,
  etag,
  field,
  get,
  middleware,
  ok,
  respond,
  routes,
  secureHeaders,
  sse,
  stream,
  Type,
} from "../index.ts";
import { platform } from "../platform.ts";
import { testApp } from "../testing/index.ts";
import type { StreamSource } from "./stream.ts";

const decode = (piece: Uint8Array) => new TextDecoder().decode(piece);

/** The pieces of a streamed answer as texts. */
async function texts(pieces: AsyncIterable<Uint8Array>): Promise<string[]> {
  const all: string[] = [];
  for await (const piece of pieces) all.push(decode(piece));
  return all;
}

const streamed = (source: unknown, init = {}) =>
  testApp(routes({ index: get("/", () => stream(source as StreamSource<string>, init as object)) }), {
    checkResponses: false,
  });
const events = (...sent: unknown[]) => {
  async function* all() {
    yield* sent;
  }
  return testApp(routes({ index: get("/", () => sse(all as never)) }));
};

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("stream", () => {
  it("sends texts and bytes one by one, without the empty ones", async () => {
    const answer = await streamed(async function* () {
      yield "é";
      yield "";
      yield new Uint8Array();
      yield new Uint8Array([33]);
    }).get("/");
    expect([...answer.headers]).toEqual([["content-type", "application/octet-stream"]]);
    expect(answer.status).toBe(200);
    expect(() => answer.text()).toThrow("await answer.read() first");
    expect(await texts(answer.pieces)).toEqual(["é", "!"]);
    expect(answer.text()).toBe("é!");
  });

  it("takes a status and headers", async () => {
    const init = { status: 206, headers: { "Content-Type": "text/csv", "content-length": "5" } };
    const answer = await streamed(async function* () {
      yield "a,b";
    }, init).get("/");
    expect([answer.status, ...answer.headers]).toEqual([206, ["content-type", "text/csv"]]);
    expect((await answer.read()).text()).toBe("a,b");
  });

  it("takes an async iterable and a ReadableStream", async () => {
    const iterable = (async function* () {
      yield "a";
    })();
    expect((await (await streamed(iterable).get("/")).read()).text()).toBe("a");
    const readable = new ReadableStream({
      start(controller) {
        controller.enqueue("b");
        controller.enqueue(new Uint8Array([99]));
        controller.close();
      },
    });
    expect((await (await streamed(() => readable).get("/")).read()).text()).toBe("bc");
  });

  it.each([undefined, null, "text", new Uint8Array(), [], {}, 1])("refuses %j", (source) => {
    expect(() => stream(source as never)).toThrow("stream: expects an async generator function");
  });

  it("refuses a status and headers that can't be", () => {
    const source = async function* () {};
    expect(() => stream(source, { status: 101 })).toThrow("stream: 101 is not a final status");
    expect(() => stream(source, { headers: { ":body": "streamed" } })).toThrow('":body" is not a header name');
  });

  it("makes a piece only when it is asked for", async () => {
    let made = 0;
    const answer = await streamed(async function* () {
      for (;;) yield `${made++}`;
    }).get("/");
    expect(made).toBe(0);
    for await (const piece of answer.pieces) {
      expect(decode(piece)).toBe(String(made - 1));
      if (made === 3) break;
    }
    expect(made).toBe(3);
  });

  it("runs finally when the client goes away", async () => {
    const ended: string[] = [];
    const answer = await streamed(async function* () {
      try {
        for (;;) yield "a";
      } finally {
        await Promise.resolve();
        ended.push("finally");
      }
    }).get("/");
    for await (const _ of answer.pieces) break;
    expect(ended).toEqual(["finally"]);
  });

  it("cancels a ReadableStream when the client goes away, and when there is no body to send", async () => {
    const cancelled: string[] = [];
    const readable = (name: string) =>
      new ReadableStream({ pull: (controller) => controller.enqueue("a"), cancel: () => void cancelled.push(name) });
    const app = testApp(
      routes({
        gone: get("/gone", () => respond(200, { body: readable("gone") })),
        empty: get("/empty", { status: 204 }, () => stream(readable("empty"), { status: 204 })),
      }),
    );
    for await (const _ of (await app.get("/gone")).pieces) break;
    expect(cancelled).toEqual(["gone"]);
    const head = await app.head("/gone");
    expect([head.status, ...head.headers]).toEqual([200]);
    expect((await app.get("/empty")).bytes()).toHaveLength(0);
    expect(cancelled).toEqual(["gone", "gone", "empty"]);
  });

  it("does not start a generator for HEAD", async () => {
    const source = vi.fn(async function* () {
      yield "a";
    });
    const answer = await streamed(source).head("/");
    expect([...answer.headers]).toEqual([["content-type", "application/octet-stream"]]);
    expect(answer.bytes()).toHaveLength(0);
    expect(source).not.toHaveBeenCalled();
  });

  it("breaks off after an exception, and reports it", async () => {
    const reported = vi.spyOn(console, "error").mockReturnValue();
    const ended: string[] = [];
    const throwing = async function* () {
      try {
        yield "a";
        throw new Error("lost");
      } finally {
        ended.push("finally");
      }
    };
    const answer = await streamed(throwing).get("/");
    await expect(answer.read()).rejects.toThrow("the answer broke off");
    expect(answer.status).toBe(200);
    expect(reported.mock.calls[0]?.[0]).toMatch(/^Uncaught exception\nError: lost/);
    expect(ended).toEqual(["finally"]);
    expect(() => answer.bytes()).toThrow(TypeError);
  });

  it("breaks off at a piece that is neither text nor bytes, and ends the generator", async () => {
    const reported = vi.spyOn(console, "error").mockReturnValue();
    const ended: string[] = [];
    const wrong = async function* () {
      try {
        yield { a: 1 };
      } finally {
        ended.push("finally");
      }
    };
    await expect((await streamed(wrong).get("/")).read()).rejects.toThrow("broke off");
    expect(reported.mock.calls[0]?.[0]).toContain(
      "a piece of a streamed body must be a text or a Uint8Array, not an Object",
    );
    expect(ended).toEqual(["finally"]);
  });

  it("waits for a piece longer than a slice, and keeps it", async () => {
    vi.useFakeTimers();
    const answer = await streamed(async function* () {
      await new Promise((resolve) => setTimeout(resolve, 3500));
      yield "late";
    }).get("/");
    const read = texts(answer.pieces);
    await vi.advanceTimersByTimeAsync(4000);
    expect(await read).toEqual(["late"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("reads the headers before the host takes the request back", async () => {
    const source = (req: { headers: { get(name: string): string | undefined } }) =>
      async function* () {
        yield req.headers.get("x-a") ?? "none";
      };
    const app = routes({
      index: get("/", (_, req) => stream(source(req))),
      thrown: get("/thrown", (_, req) => {
        throw stream(source(req));
      }),
    });
    // `testApp` keeps the streams of its requests apart; a component does not.
    Reflect.deleteProperty(globalThis, streamKey);
    for (const pathWithQuery of ["/", "/thrown"]) {
      let isTaken = false;
      const raw = {
        method: "GET",
        pathWithQuery,
        get headers(): [string, Uint8Array][] {
          return isTaken ? [] : [["x-a", new Uint8Array([49])]];
        },
      };
      await app.handle(raw);
      isTaken = true;
      expect(decode((await platform[streamKey]?.next())?.body as Uint8Array)).toBe("1");
      await platform[streamKey]?.cancel();
    }
  });

  it("keeps the streams and environments of requests apart", async () => {
    const app = routes({
      index: get("/", () =>
        stream(async function* () {
          for (let n = 0; n < 3; n++) {
            await new Promise((resolve) => setTimeout(resolve, 1));
            yield `${env("NAME")}${n}`;
          }
        }),
      ),
    });
    const answers = await Promise.all(["a", "b"].map((NAME) => testApp(app, { env: { NAME } }).get("/")));
    const all = await Promise.all(answers.map(async (answer) => (await answer.read()).text()));
    expect(all).toEqual(["a0a1a2", "b0b1b2"]);
  });
});

describe("a streamed answer passes middleware", () => {
  it("takes headers, cookies and those of cors and secureHeaders; etag leaves it alone", async () => {
    const timed = middleware(async (_req, next) => (await next()).header("server-timing", "app"));
    const app = routes(
      {
        index: get("/", () =>
          stream(async function* () {
            yield "a";
          }).cookie("sid", "1", { sign: "key" }),
        ),
        tagged: get("/tagged", () => stream(async function* () {}, { headers: { etag: '"1"' } })),
      },
      { use: [cors({ origin: "*" }), secureHeaders(), etag(), timed] },
    );
    const answer = await testApp(app).get("/");
    const { headers } = answer;
    expect(headers.get("server-timing")).toBe("app");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("set-cookie")).toMatch(/^sid=1\./);
    expect([headers.has("etag"), headers.has(":body")]).toEqual([false, false]);
    expect((await answer.read()).text()).toBe("a");
    expect((await testApp(app).get("/tagged", { headers: { "if-none-match": '"1"' } })).status).toBe(304);
  });

  it("is refused where the route declares JSON, in development", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const T = Type("T", { a: field.u32() });
    const index = get("/", { response: T }, (() => stream(async function* () {})) as never);
    const answer = await testApp(routes({ index })).get("/");
    expect([answer.status, answer.json().detail]).toEqual([
      500,
      "index: declares a JSON body, but answered with respond(), stream() or sse()",
    ]);
  });

  it("leaves whole answers whole", async () => {
    const answer = await testApp(routes({ index: get("/", () => ok({})) })).get("/");
    expect(await texts(answer.pieces)).toEqual(["{}"]);
    expect((await answer.read()).json()).toEqual({});
  });
});

describe("sse", () => {
  it("writes events as the standard has them", async () => {
    const answer = await events(
      { data: "one" },
      { event: "tick", data: { n: 1 }, id: 7, retry: 1000 },
      { data: "a\r\nb\rc\n", id: "" },
      { data: "" },
      { data: null },
    ).get("/");
    expect([...answer.headers]).toEqual([
      ["content-type", "text/event-stream"],
      ["cache-control", "no-cache"],
    ]);
    expect(await texts(answer.pieces)).toEqual([
      "data: one\n\n",
      'event: tick\ndata: {"n":1}\nid: 7\nretry: 1000\n\n',
      "data: a\ndata: b\ndata: c\ndata: \nid: \n\n",
      "data: \n\n",
      "data: null\n\n",
    ]);
  });

  it("keeps the headers that are given", async () => {
    const headers = { "cache-control": "no-store", "x-accel-buffering": "no" };
    const answer = await testApp(routes({ index: get("/", () => sse(async function* () {}, { headers })) })).get("/");
    expect(answer.headers.getAll("cache-control")).toEqual(["no-store"]);
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
  });

  it.each([
    ["text", "sse: an event must be { event?, data, id?, retry? }, not a string"],
    [{ data: 1, event: "a\nb" }, '"event" must be one line'],
    [{ data: 1, id: "a\0" }, '"id" must be one line'],
    [{ data: 1, id: "a\r" }, '"id" must be one line'],
    [{ data: 1, retry: -1 }, '"retry" must be a whole number'],
    [{ data: undefined }, 'sse: "data" is undefined'],
    [{ data: () => 1 }, "a function can't be sent as JSON"],
  ])("breaks off at %j", async (event, said) => {
    const reported = vi.spyOn(console, "error").mockReturnValue();
    await expect((await events(event).get("/")).read()).rejects.toThrow("broke off");
    expect(reported.mock.calls[0]?.[0]).toContain(said);
  });

  it("sends a comment whenever nothing has come for 15 seconds", async () => {
    vi.useFakeTimers();
    const answer = await testApp(
      routes({
        index: get("/", () =>
          sse(async function* () {
            for (const wait of [14_500, 31_500]) {
              await new Promise((resolve) => setTimeout(resolve, wait));
              yield { data: wait };
            }
          }),
        ),
      }),
    ).get("/");
    const read = texts(answer.pieces);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await read).toEqual(["data: 14500\n\n", ":\n\n", ":\n\n", "data: 31500\n\n"]);
  });
});
