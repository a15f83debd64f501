/** Request bodies that an app takes while they arrive, on every server that streams them. `jco serve` collects them first. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { fetchProject, type Kind, kinds, type Running, startTenon, streamsProject } from "./servers.ts";

const bare = join(fetchProject, "dist/fetch.wasm");
const piece = Buffer.alloc(64 * 1024, "a");

/** A request whose body is written by and by; its length is not announced. */
function upload(base: string, path: string, headers: Record<string, string> = {}): ClientRequest {
  const outgoing = request(base + path, { method: "POST", headers, agent: false });
  outgoing.on("error", () => {});
  return outgoing;
}

async function answered(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return incoming;
}

/** Sends pieces as fast as they are taken, and resolves with status and text of the answer. */
async function sendAll(base: string, path: string, pieces: number, headers: Record<string, string> = {}) {
  const outgoing = upload(base, path, headers);
  const answer = answered(outgoing);
  for (let i = 0; i < pieces; i++) if (!outgoing.write(piece)) await Promise.race([once(outgoing, "drain"), answer]);
  outgoing.end();
  const incoming = await answer;
  return { status: incoming.statusCode, text: await text(incoming) };
}

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A folder with a `tenon.toml` whose `[server]` has these lines. */
async function configured(lines: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tenon-uploads-"));
  folders.push(folder);
  await writeFile(join(folder, "tenon.toml"), `[project]\nname = "fetch"\n[server]\n${lines}`);
  return folder;
}

const servers: readonly Kind[] = [
  ...kinds.filter(({ name }) => !name.includes("componentize-js") && !name.includes("jco")),
  {
    name: "tenon run, shared",
    start: async (project, module) => {
      const cwd = await configured('isolation = "shared"\n');
      return startTenon([join(project, "dist", `${module}.wasm`)], module, cwd);
    },
  },
];

describeEach("uploads to a Hono app on $name", servers, (kind) => {
  let server: Running;
  beforeAll(async () => {
    server = await kind.start(fetchProject, "fetch");
  });
  afterAll(() => server?.stop());

  test("more than max_body_bytes arrives in pieces, with its length announced or not", async () => {
    const bytes = 320 * piece.length;
    const unknown = await sendAll(server.base, "/upload/count", 320);
    expect(JSON.parse(unknown.text)).toEqual({ bytes, pieces: expect.any(Number) });
    expect(JSON.parse(unknown.text).pieces).toBeGreaterThan(10);
    const known = await sendAll(server.base, "/upload/count", 320, { "content-length": String(bytes) });
    expect(JSON.parse(known.text).bytes).toBe(bytes);
  });

  test("an answer can be sent while its request's body arrives", async () => {
    const outgoing = upload(server.base, "/upload/echo");
    outgoing.write("one");
    const incoming = await answered(outgoing);
    const pieces = incoming[Symbol.asyncIterator]();
    expect(String((await pieces.next()).value)).toBe("one");
    outgoing.write("two");
    expect(String((await pieces.next()).value)).toBe("two");
    outgoing.end();
    expect((await pieces.next()).done).toBe(true);
    const large = await sendAll(server.base, "/upload/echo", 48);
    expect(large.text).toBe("a".repeat(48 * piece.length));
  });

  test("a body that is read as a whole is subject to max_body_bytes", async () => {
    const within = await sendAll(server.base, "/upload/text", 16);
    expect(JSON.parse(within.text)).toEqual({ length: 16 * piece.length, used: true });
    expect((await sendAll(server.base, "/upload/text", 200)).status).toBe(413);
    const announced = { "content-length": String(200 * piece.length) };
    expect((await sendAll(server.base, "/upload/text", 200, announced)).status).toBe(413);
    expect(JSON.parse((await sendAll(server.base, "/upload/twice", 8)).text)).toEqual([8 * piece.length, "TypeError"]);
    expect(JSON.parse((await sendAll(server.base, "/upload/text", 0)).text).length).toBe(0);
  });

  test("an answer before the end of the body reaches a client that sends on", async () => {
    expect(await sendAll(server.base, "/upload/refused", 64)).toEqual({ status: 401, text: "no" });
  });

  test("timers run while nothing arrives", async () => {
    const outgoing = upload(server.base, "/upload/timers");
    const answer = answered(outgoing);
    outgoing.write("a");
    await sleep(700);
    outgoing.end("b");
    const { ticks } = (await json(await answer)) as { ticks: number };
    expect(ticks).toBeGreaterThanOrEqual(3);
  });

  test("a client that goes away breaks the body off", async () => {
    const outgoing = upload(server.base, "/upload/broken");
    outgoing.write(piece);
    await expect.poll(() => server.errors()).toContain("the upload begins");
    outgoing.destroy();
    await expect.poll(() => server.errors()).toContain("the upload broke off");
    expect(JSON.parse((await sendAll(server.base, "/upload/count", 16)).text).bytes).toBe(16 * piece.length);
  });
});

describe("uploads to tenon run", () => {
  let server: Running;
  beforeAll(async () => {
    const limits =
      "max_upload_bytes = 1000000\nbody_timeout_ms = 3000\nqueue_timeout_ms = 300\nmax_concurrent = 4\nmax_body_bytes = 500000\n";
    server = await startTenon([bare], "fetch", await configured(limits));
  });
  afterAll(() => server?.stop());

  test("over HTTP/2", async () => {
    const { origin, pathname } = new URL(`${server.base}/upload/echo`);
    const session = connect(origin);
    const stream = session.request({ ":method": "POST", ":path": pathname });
    stream.write("one");
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(head[":status"]).toBe(200);
    const pieces = stream[Symbol.asyncIterator]();
    expect(String((await pieces.next()).value)).toBe("one");
    stream.end("two");
    expect(String((await pieces.next()).value)).toBe("two");
    expect((await pieces.next()).done).toBe(true);
    session.close();
  });

  test("end at max_upload_bytes: 413, whether the length is announced or not", async () => {
    for (const headers of [{}, { "content-length": String(20 * piece.length) }]) {
      const { status, text } = await sendAll(server.base, "/upload/count", 20, headers as Record<string, string>);
      expect([status, JSON.parse(text).detail]).toEqual([413, "the request body is larger than 1000000 bytes"]);
    }
  });

  test("end when nothing arrives for body_timeout_ms: 408", async () => {
    const outgoing = upload(server.base, "/upload/count");
    const answer = answered(outgoing);
    outgoing.write(piece);
    await sleep(2000);
    // Each piece begins the time anew.
    outgoing.write(piece);
    expect((await answer).statusCode).toBe(408);
  });

  test("take half of the places at most", async () => {
    const slow = [0, 1].map(() => upload(server.base, "/upload/count"));
    const answers = slow.map(answered);
    for (const outgoing of slow) outgoing.write(piece);
    const metrics = async () => (await fetch(new URL("/metrics", server.base))).text();
    await expect.poll(metrics).toContain("\ntenon_requests_running 2\n");
    expect((await sendAll(server.base, "/upload/count", 1)).status).toBe(503);
    const other = await fetch(`${server.base}/`);
    expect([other.status, await other.text()]).toEqual([200, "Hello Hono!"]);
    for (const outgoing of slow) outgoing.end();
    for (const answer of answers) expect(((await json(await answer)) as { bytes: number }).bytes).toBe(piece.length);
  });
});

describeEach("a route that takes its body by octetStream, on $name", servers.slice(0, 3), (kind) => {
  let server: Running;
  beforeAll(async () => {
    server = await kind.start(streamsProject, "streams");
  });
  afterAll(() => server?.stop());

  test("reads it while it arrives", async () => {
    const { text } = await sendAll(server.base, "/upload", 320, { "content-type": "application/octet-stream" });
    expect(JSON.parse(text)).toEqual({ bytes: 320 * piece.length, pieces: expect.any(Number) });
    expect(JSON.parse(text).pieces).toBeGreaterThan(10);
    const short = await fetch(`${server.base}/upload`, { method: "POST", body: new Uint8Array(3) });
    expect(await short.json()).toEqual({ bytes: 3, pieces: 1 });
    const none = await fetch(`${server.base}/upload`, { method: "POST" });
    expect(await none.json()).toEqual({ bytes: 0, pieces: 0 });
  });

  test("refuses other media types, and more than its bound", async () => {
    const other = await sendAll(server.base, "/upload", 8, { "content-type": "text/plain" });
    expect([other.status, JSON.parse(other.text).detail]).toEqual([415, "The body must be application/octet-stream."]);
    const large = await sendAll(server.base, "/upload", 500);
    expect([large.status, JSON.parse(large.text).detail]).toEqual([413, "The body is larger than 30000000 bytes."]);
  });

  test("other routes get long bodies as a whole", async () => {
    const body = JSON.stringify({ text: "a".repeat(300_000) });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${server.base}/whole`, { method: "POST", headers, body });
    expect(await answer.json()).toEqual({ length: 300_000 });
    expect((await sendAll(server.base, "/whole", 200, headers)).status).toBe(413);
  });
});
