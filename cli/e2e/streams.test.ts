/** Answers that are streamed, on every server that streams them. `jco serve` is left out: it collects an answer first. */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../../testing/needs.ts";
import { Runtime } from "../src/embed/runtime.ts";
import { send } from "./http.ts";
import { fetchProject, type Running, startTenon, startWasmtime, streamsProject } from "./servers.ts";

/** An answer while it comes. */
interface Arriving {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readable;
  /** Goes away as a client does. */
  leave(): void;
}

type Open = (base: string, path: string, options?: { method?: string; headers?: object }) => Promise<Arriving>;

const http1: Open = async (base, path, { method = "GET", headers = {} } = {}) => {
  const outgoing: ClientRequest = request(base + path, { method, headers: { ...headers }, agent: false });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  outgoing.on("error", () => {});
  const leave = () => void outgoing.destroy();
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming, leave };
};

const http2: Open = async (base, path, { method = "GET", headers = {} } = {}) => {
  const { origin, pathname } = new URL(base + path);
  const session = connect(origin);
  const { search } = new URL(base + path);
  const stream = session.request({ ":method": method, ":path": pathname + search, ...headers });
  stream.on("close", () => session.close());
  const [head] = (await once(stream, "response")) as [Record<string, unknown>];
  return { status: Number(head[":status"]), headers: head, body: stream, leave: () => stream.destroy() };
};

async function textOf(body: Readable): Promise<string> {
  let text = "";
  for await (const piece of body) text += piece;
  return text;
}

/** The text that arrives before an answer breaks off. */
async function untilBroken(body: Readable): Promise<string> {
  let text = "";
  body.on("data", (piece) => {
    text += piece;
  });
  await expect(
    new Promise((resolve, reject) => body.once("end", () => resolve("a clean end")).once("error", reject)),
  ).rejects.toThrow();
  return text;
}

/** Waits until a body has come to a text. */
function arrived(body: Readable, wanted: string): Promise<void> {
  let text = "";
  return new Promise((resolve, reject) => {
    body.once("error", reject).once("end", () => reject(new Error(`ended with ${text}`)));
    body.on("data", (piece) => {
      text += piece;
      if (text.includes(wanted)) resolve();
    });
  });
}

const occurrences = (text: string, wanted: string) => text.split(wanted).length - 1;
const bare = join(streamsProject, "dist/streams.wasm");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-streams-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `tenon run` with `[server]` as given. */
async function serve(keys: string, component = bare, module = "streams"): Promise<Running> {
  const cwd = await mkdtemp(join(folder, "own-"));
  await writeFile(join(cwd, "tenon.toml"), `[project]\nname = "${module}"\n[server]\n${keys}`);
  return startTenon([component], module, cwd);
}

/** The tests that hold on every server. */
function everywhere(server: () => Running, open: Open): void {
  test("pieces arrive, and the end", async () => {
    const { status, headers, body } = await open(server().base, "/pieces?count=4");
    expect([status, headers["content-type"], headers["x-kind"], headers["content-length"]]).toEqual([
      200,
      "text/plain",
      "pieces",
      undefined,
    ]);
    expect(Object.keys(headers)).not.toContain(":body");
    expect(await textOf(body)).toBe("0\n1\n2\n3\n");
    expect(await textOf((await open(server().base, "/pieces?count=0")).body)).toBe("");
    expect(await textOf((await open(server().base, "/readable")).body)).toBe("from a ReadableStream");
  });

  test("a piece arrives while the next one is made, and finally runs when the client goes away", async () => {
    const before = occurrences(server().errors(), "finally of endless");
    const { body, leave } = await open(server().base, "/endless");
    await arrived(
      body.on("error", () => {}),
      "3\n",
    );
    leave();
    await expect.poll(() => occurrences(server().errors(), "finally of endless")).toBe(before + 1);
  });

  test("an event stream goes on after the last event that the client has", async () => {
    const first = await open(server().base, "/events");
    expect([first.headers["content-type"], first.headers["cache-control"]]).toEqual(["text/event-stream", "no-cache"]);
    const url = `${new URL(server().base).origin}/events`;
    const base = new URL(server().base).pathname.replace(/\/$/, "");
    const event = (id: number) => `event: tick\ndata: ${JSON.stringify({ id, url, base })}\nid: ${id}\n\n`;
    expect(await textOf(first.body)).toBe(event(1) + event(2));
    const again = await open(server().base, "/events", { headers: { "last-event-id": "2" } });
    expect(await textOf(again.body)).toBe(event(3) + event(4));
  });

  test("an exception breaks the answer off", async () => {
    const { status, body } = await open(server().base, "/throws");
    expect([status, await untilBroken(body)]).toEqual([200, "before"]);
    await expect.poll(() => server().errors()).toContain("thrown in a stream");
  });

  test("HEAD gets the headers alone", async () => {
    const { status, headers, body } = await open(server().base, "/endless", { method: "HEAD" });
    expect([status, headers["content-type"]]).toEqual([200, "application/octet-stream"]);
    expect(await textOf(body)).toBe("");
  });
}

describe.each(["request", "shared"])('tenon run with isolation = "%s"', (isolation) => {
  let server: Running;
  beforeAll(async () => {
    server = await serve(`isolation = "${isolation}"\nmax_response_bytes = 400_000_000\nmax_concurrent = 8\n`);
  });
  afterAll(() => server?.stop());
  const rss = async () => {
    const status = await readFile(`/proc/${server.process.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  };

  describe("over HTTP/1.1", () => everywhere(() => server, http1));
  describe("over HTTP/2", () => everywhere(() => server, http2));

  test("a stream as large as ten times the limit of buffers takes no more memory", async () => {
    let length = 0;
    const { body } = await http1(server.base, "/large?count=400");
    for await (const piece of body) length += (piece as Buffer).length;
    const before = await rss();
    for await (const piece of (await http1(server.base, "/large?count=3200")).body) length += (piece as Buffer).length;
    expect(length).toBe(3600 * 64 * 1024);
    expect((await rss()) - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("nothing is made for a client that does not read", async () => {
    const slow = await http1(server.base, "/large?count=3199");
    slow.body.once("readable", () => {});
    const other = await http1(server.base, "/large?count=800");
    for await (const _ of other.body);
    slow.leave();
    await expect.poll(() => server.errors()).toMatch(/made \d+ of 3199/);
    expect(Number(/made (\d+) of 3199/.exec(server.errors())?.[1])).toBeLessThan(400);
  });

  test("instances serve on", async () => {
    const path = `${new URL(server.base).pathname}/served`;
    for (let i = 0; i < 3; i++) {
      const answer = await send(server.base, { path });
      expect(answer.json()).toEqual({ served: isolation === "request" ? 0 : expect.any(Number) });
    }
    // A permit is back shortly after its answer.
    const metrics = async () => (await send(server.base, { path: "/metrics" })).body.toString();
    await expect.poll(metrics).toMatch(/^tenon_requests_running 0$/m);
  });
});

describe("limits", () => {
  test("the bytes of a stream, and the time between its pieces", async () => {
    const server = await serve("max_response_bytes = 1_000_000\nrequest_timeout_ms = 1000\n");
    onTestFinished(() => server.stop());
    for (const open of [http1, http2]) {
      const large = await untilBroken((await open(server.base, "/large?count=100")).body);
      expect(large.length).toBeLessThanOrEqual(1_000_000);
      expect(await untilBroken((await open(server.base, "/stalls")).body)).toBe("before");
      // Each piece has its time: all of them together take longer.
      expect(await textOf((await open(server.base, "/pieces?count=250")).body)).toContain("249\n");
    }
    await expect.poll(() => server.errors()).toContain("max_response_bytes");
  });

  test("a stream ends with the server, after the time that running requests have", async () => {
    const server = await serve("shutdown_timeout_ms = 300\n");
    const { body } = await http1(server.base, "/endless");
    await arrived(
      body.on("error", () => {}),
      "1\n",
    );
    await server.stop();
    expect(server.errors()).toContain("finally of endless");
  });
});

describeWith("wasmtime", "wasmtime serve", () => {
  let server: Running;
  beforeAll(async () => {
    server = await startWasmtime(join(streamsProject, "dist/streams-composed.wasm"));
  });
  afterAll(() => server?.stop());
  everywhere(() => server, http1);
});

describe("a Hono app", () => {
  test("streamSSE arrives event by event, and is told when the client goes away", async () => {
    const server = await serve("", join(fetchProject, "dist/fetch.wasm"), "fetch");
    onTestFinished(() => server.stop());
    const { headers, body, leave } = await http1(server.base, "/endless");
    expect(headers["content-type"]).toBe("text/event-stream");
    await arrived(
      body.on("error", () => {}),
      "data: 3\n\n",
    );
    leave();
    await expect.poll(() => server.errors()).toContain("the client of /endless is gone");
    expect((await http1(server.base, "/")).headers["content-length"]).toBe("11");
  });
});

describe("Runtime.fetch", () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await Runtime.create({ modules: { streams: bare }, maxConcurrent: 2 });
  });
  afterAll(() => runtime?.close());
  const ask = (path: string, init?: RequestInit) => runtime.fetch(`http://tenon.test/run/streams${path}`, init);

  test("the body is a stream", async () => {
    const answer = await ask("/pieces?count=3");
    expect([answer.status, answer.headers.get("x-kind")]).toEqual([200, "pieces"]);
    expect([...answer.headers.keys()]).toEqual(["content-type", "x-kind", "x-request-id"]);
    expect(await answer.text()).toBe("0\n1\n2\n");
    expect((await ask("/endless", { method: "HEAD" })).body).toBeNull();
  });

  test("a reader that leaves ends the stream, and so does an abort", async () => {
    // More than may run at a time.
    for (let i = 0; i < 5; i++) {
      for await (const piece of (await ask("/endless")).body as unknown as AsyncIterable<Uint8Array>) {
        expect(Buffer.from(piece).toString()).toBe("0\n");
        break;
      }
      const controller = new AbortController();
      const reader = (await ask("/endless", { signal: controller.signal })).body?.getReader();
      await reader?.read();
      controller.abort(new Error("enough"));
      await expect(reader?.read()).rejects.toThrow("enough");
    }
  });

  test("an exception breaks it off", async () => {
    await expect((await ask("/throws")).text()).rejects.toMatchObject({ code: "RESPONSE" });
  });

  test("closing the runtime cuts a stream off that nobody ends", async () => {
    const other = await Runtime.create({ modules: { streams: bare }, shutdownTimeoutMs: 100 });
    const answer = await other.fetch("http://tenon.test/run/streams/endless");
    const read = answer.text();
    await Promise.all([other.close(), expect(read).rejects.toMatchObject({ code: "RESPONSE" })]);
  });
});
