/** Calls as a whole, timers and log lines of real components, on Tenon's runtime and, by the adapter inside of them, on other servers. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeEach } from "../../testing/needs.ts";
import { send } from "./http.ts";
import { callsProject, type Running, startJco, startTenon, startWasmtime } from "./servers.ts";

let folder: string;
let sidecar: Server;
let url: string;
/** Connections of calls that nobody waits for any more. */
let gone = 0;
const open = new Set<Socket>();
/** Answers of `together`, which come when as many calls wait for them. */
const together: (() => void)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-calls-"));
  sidecar = createServer(async (request, response) => {
    const [, what, number] = (request.url ?? "").split("/");
    if (what === "after") {
      request.socket.once("close", () => gone++);
      await new Promise((done) => setTimeout(done, Number(number)));
      return void response.end(number);
    }
    if (what === "together") {
      together.push(() => response.end(number));
      if (together.length === Number(number)) for (const answer of together.splice(0)) answer();
      return;
    }
    if (what === "bytes") return void response.end(Buffer.alloc(Number(number)));
    if (what === "kv") return void response.end(`${request.method} ${request.url} ${request.headers.authorization}`);
    if (what === "status") return void response.writeHead(Number(number)).end();
    if (what === "broken") return void request.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.writeHead(201, {
      "x-url": request.url ?? "",
      "x-text": request.headers["x-text"] ?? "",
      "x-egress": String(request.headers["tenon-egress"]),
      "set-cookie": ["a=1", "b=2"],
    });
    response.end(Buffer.concat(chunks));
  });
  sidecar.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((listening) => sidecar.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(sidecar.address() as AddressInfo).port}`;
});
afterAll(async () => {
  sidecar?.close();
  for (const socket of open) socket.destroy();
  await rm(folder, { recursive: true, force: true });
});

const tenonWith = (isolation: string) => async () => {
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]\nname = "calls"\n[server]\nisolation = "${isolation}"\n[sidecars]\nslow = "${url}"\ncache = "${url}"\n` +
      `db = "unix://${folder}/nobody.sock"\n[env]\nSIDECAR_CACHE_TOKEN = "t0ken"\n`,
  );
  return startTenon([join(callsProject, "dist/calls.wasm")], "calls", folder);
};

/** The same for other servers, whose user gives the addresses. */
const variables = () => ({
  SIDECAR_SLOW_URL: url,
  SIDECAR_CACHE_URL: `${url}/`,
  SIDECAR_CACHE_TOKEN: "t0ken",
  SIDECAR_DB_URL: "http://127.0.0.1:1",
});

interface Case {
  readonly name: string;
  readonly needs?: "wasmtime";
  readonly start: () => Promise<Running>;
}

const composed = join(callsProject, "dist/calls-composed.wasm");
const servers: readonly Case[] = [
  { name: "tenon run, isolation = request", start: tenonWith("request") },
  { name: "tenon run, isolation = shared", start: tenonWith("shared") },
  { name: "wasmtime serve", needs: "wasmtime", start: () => startWasmtime(composed, variables()) },
  { name: "jco serve", start: () => startJco(composed, variables()) },
];

describeEach("$name", servers, ({ name, start }) => {
  const isTenon = name.startsWith("tenon");
  let server: Running;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());
  const ask = async (path: string) => {
    const answer = await send(server.base, { path: isTenon ? `/run/calls${path}` : path });
    expect(answer.status, answer.body.toString()).toBe(200);
    return answer.json();
  };

  test("calls run at once", async () => {
    // The first one is answered when the last one has come.
    for (const n of [1, 3, 20]) expect(await ask(`/together/${n}`)).toEqual({ texts: n });
  });

  test("calls and timers end in the order of time, whichever began first", async () => {
    const ended = ["timer of 0", "call of 250", "timer of 500", "call of 750", "timer of 1000"];
    for (let i = 0; i < 3; i++) expect(await ask("/order")).toEqual({ ended });
  });

  test("sidecars are found by their names, and get their token", async () => {
    expect(await ask("/sidecars")).toMatchObject({
      cached: "GET /kv/a%20b%2F%C3%BC Bearer t0ken",
      down: expect.stringMatching(/^(?:refused|unreachable)$/),
      missing: "missing",
    });
  });

  test("calls of the client and of fetch run beside each other", async () => {
    const ended = ["timer of 0", "fetch of 250", "call of 500", "fetch of 750"];
    expect(await ask("/mixed")).toEqual({ ended });
    expect(await ask("/order")).toMatchObject({ ended: expect.arrayContaining(["call of 750"]) });
  });

  test("a call that a handler left is ended, and the next request is not told", async () => {
    const before = gone;
    for (let i = 0; i < 5; i++) await ask("/left");
    await ask("/together/3");
    if (isTenon) await expect.poll(() => gone - before).toBeGreaterThanOrEqual(5);
  });

  test("the longest timers are timers, and longer ones are over at once", async () => {
    expect(await ask("/longest")).toEqual({ ended: ["timer of 2 ** 31", "call of 50"] });
  });

  test("timers by the hundreds", async () => {
    expect(await ask("/timers/1000")).toEqual({ over: 666 });
    expect(await ask("/timers/10")).toEqual({ over: 6 });
  });

  test("each failure has its code", async () => {
    const { codes } = (await ask("/failures")) as { codes: string[] };
    expect(codes.slice(0, 5)).toEqual(["timeout", "too_large", "200", "503", "unreachable"]);
    expect(codes[5]).toBe(isTenon ? "refused" : "unreachable");
  });

  test("a request and a response arrive whole", async () => {
    expect(await ask("/whole")).toEqual({
      status: 201,
      same: true,
      headers: [
        ["x-url", "/echo?a=%20b"],
        ["x-text", "e"],
        ["x-egress", "undefined"],
      ],
    });
  });

  // preview2-shim 0.26 decodes the values of headers as UTF-8, and joins those that repeat.
  test.skipIf(name === "jco serve")("headers keep their bytes, and stay apart", async () => {
    expect(await ask("/headers")).toEqual({ text: "\xe9", cookies: ["a=1", "b=2"] });
  });

  test("a streamed answer makes calls between its pieces", async () => {
    const answer = await send(server.base, { path: isTenon ? "/run/calls/stream/5" : "/stream/5" });
    expect(answer.body.toString()).toBe("0:20 1:20 2:20 3:20 4:20 ");
    await ask("/together/1");
  });

  test("what is printed is logged, and errors are told from the rest", async () => {
    await ask("/print");
    if (isTenon) {
      await expect.poll(server.errors).toMatch(/INFO.*to the output: é/);
      await expect.poll(server.errors).toMatch(/ERROR.*to the errors/);
    } else {
      await expect.poll(server.errors).toMatch(/to the errors/);
    }
  });
});
