/** `fetch` with bodies that arrive piece by piece, in both directions, in both isolations and on another server. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import type { ProgramName } from "../../testing/programs.ts";
import { type Running, root, startTenon, startWasmtime, tenon } from "./servers.ts";

const MIB = 1024 * 1024;
const LARGE = 100 * MIB;

const proxyProject = join(root, "cli/e2e/fixtures/proxy");
const component = (name: string) => join(proxyProject, "dist", `${name}.wasm`);

/** The server that is called. */
let peer: Server;
let at: string;
let folder: string;
/** Requests whose connection was closed before they were answered. */
let closed = 0;
/** Waits until the test lets an answer go on. */
let goOn: (() => void) | undefined;
/** Bytes of requests that have arrived. */
let arrived = 0;
/** Texts of the answers of `after` that their clients have left. */
const left = new Set<string>();

const acts: Record<string, (incoming: IncomingMessage, outgoing: ServerResponse, query: string) => Promise<void>> = {
  async json(_, outgoing) {
    outgoing.end('{"a":1}');
  },
  async events(_, outgoing) {
    outgoing.setHeader("content-type", "text/event-stream");
    outgoing.flushHeaders();
    for (let id = 0; id < 3; id++) {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      outgoing.write(`data: ${id}\n\n`);
    }
    outgoing.end();
  },
  async large(_, outgoing) {
    const piece = Buffer.alloc(MIB, "x");
    const pieces = Array.from({ length: LARGE / MIB }, () => piece);
    // A client may leave before the end.
    await pipeline(pieces, outgoing).catch(() => {});
  },
  async count(incoming, outgoing) {
    for await (const piece of incoming) arrived += piece.length;
    outgoing.end(String(arrived));
  },
  async stall(_, outgoing) {
    outgoing.write("first");
  },
  /** Goes on when the client has left the answer with another text. */
  async after(_, outgoing, query) {
    const [before, text] = query.split("&") as [string, string];
    outgoing.on("close", () => left.add(text));
    outgoing.flushHeaders();
    if (before) await vi.waitUntil(() => left.has(before), { timeout: 10_000 });
    outgoing.write(text);
  },
  async early(_, outgoing) {
    outgoing.writeHead(413).end("too much");
  },
  async broken(_, outgoing) {
    outgoing.write("first");
    await pause(50);
    outgoing.destroy();
  },
};

beforeAll(async () => {
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "proxy-"));
  const build = spawnSync(process.execPath, [tenon, "build", "-rc"], { cwd: proxyProject, encoding: "utf8" });
  expect(build.status, build.stderr).toBe(0);
  peer = createServer((incoming, outgoing) => {
    const [path, query = ""] = (incoming.url ?? "").slice(1).split("?");
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) closed++;
    });
    acts[path as string]?.(incoming, outgoing, query).catch(() => {});
  });
  peer.listen(0, "127.0.0.1");
  await once(peer, "listening");
  at = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
}, 120_000);
afterAll(async () => {
  peer?.closeAllConnections();
  peer?.close();
  await rm(folder, { recursive: true });
});

const onTenon = async (isolation: string, file: string) => {
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]\nname = "proxy"\n[outbound]\nallow = ["${at}"]\n[server]\nisolation = "${isolation}"\n` +
      `max_response_bytes = ${2 * LARGE}\nmax_outbound_body_bytes = ${2 * LARGE}\nmax_buffered_bytes = ${8 * LARGE}\n`,
  );
  return startTenon([component(file)], "proxy", folder);
};

const served: readonly { name: string; needs?: ProgramName; start(): Promise<Running> }[] = [
  { name: "tenon run, an instance each", start: () => onTenon("request", "proxy") },
  { name: "tenon run, composed", start: () => onTenon("request", "proxy-composed") },
  { name: "tenon run, shared instances", start: () => onTenon("shared", "proxy") },
  { name: "wasmtime serve", needs: "wasmtime", start: () => startWasmtime(component("proxy-composed")) },
];

/** The most memory of a process since `forget`, in bytes. */
async function peakOf({ process: { pid } }: Running): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

describeEach("streams of fetch on $name", served, ({ start }) => {
  let server: Running;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());

  const url = (act: string, path: string) => `${server.base}/${act}?to=${encodeURIComponent(at + path)}`;
  const json = async (act: string, path: string) => {
    const answer = await fetch(url(act, path));
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return JSON.parse(text);
  };
  /** The calls that are closed meanwhile. */
  const closing = async (act: () => Promise<unknown>, count = 1) => {
    const before = closed;
    await act();
    await vi.waitUntil(() => closed === before + count, { timeout: 10_000 });
  };

  test("a short answer", async () => {
    expect(await json("json", "/json")).toEqual({ a: 1 });
  });

  test("events arrive one by one", async () => {
    const answer = await fetch(url("get", "/events"));
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let id = 0; id < 3; id++) {
      await vi.waitUntil(() => goOn !== undefined, { timeout: 10_000 });
      goOn?.();
      goOn = undefined;
      // The next one is sent when this has come.
      expect(await reader?.read()).toEqual({ done: false, value: `data: ${id}\n\n` });
    }
    expect((await reader?.read())?.done).toBe(true);
  });

  test("100 MB pass in little memory", async () => {
    await json("json", "/json");
    await writeFile(`/proc/${server.process.pid}/clear_refs`, "5");
    const before = await peakOf(server);
    expect(await json("length", "/large")).toBe(LARGE);
    const answer = await fetch(url("get", "/large"));
    let length = 0;
    for await (const piece of answer.body ?? []) length += piece.length;
    expect(length).toBe(LARGE);
    expect((await peakOf(server)) - before).toBeLessThan(48 * MIB);
  }, 120_000);

  test("an upload passes in little memory, piece by piece", async () => {
    await writeFile(`/proc/${server.process.pid}/clear_refs`, "5");
    const before = await peakOf(server);
    arrived = 0;
    const outgoing = request(url("put", "/count"), { method: "PUT", headers: { "transfer-encoding": "chunked" } });
    const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
    const piece = Buffer.alloc(MIB, "x");
    outgoing.write(piece);
    // The first piece has come before the last one is sent.
    await vi.waitUntil(() => arrived === MIB, { timeout: 10_000 });
    for (let sent = MIB; sent < LARGE; sent += MIB) {
      if (!outgoing.write(piece)) await once(outgoing, "drain");
    }
    outgoing.end();
    const [incoming] = await answered;
    let text = "";
    for await (const part of incoming) text += part;
    expect(text).toBe(String(LARGE));
    expect((await peakOf(server)) - before).toBeLessThan(48 * MIB);
  }, 120_000);

  test("a client that goes away ends the call", async () => {
    await closing(async () => {
      const controller = new AbortController();
      const answer = await fetch(url("get", "/stall"), { signal: controller.signal });
      await answer.body?.getReader().read();
      controller.abort();
    });
  });

  test("signals and readers end the call", async () => {
    await closing(async () => expect(await json("abort", "/stall")).toEqual(["first", "RangeError: enough"]));
    await closing(async () => expect(await json("timeout", "/stall")).toBe("TimeoutError"));
    await closing(async () => (await fetch(url("cancel", "/stall"))).text());
    await closing(async () => (await fetch(url("abandon", "/stall"))).text());
  });

  test("several arrive at once", async () => {
    left.clear();
    await closing(async () => expect(await json("race", "")).toEqual(["a", "b", "c"]), 3);
  });

  test("an answer before the end of the request ends it", async () => {
    const [first, second] = await json("endless", "/early");
    // The connection may be closed before the answer was read.
    expect([413, "TypeError"]).toContain(String(first).startsWith("TypeError") ? "TypeError" : first);
    expect(["too much"].includes(second) || typeof second === "number").toBe(true);
  });

  test("an answer that breaks off fails", async () => {
    expect(await json("broken", "/broken")).toEqual(["TypeError", "broken"]);
  });
});
