/** The recipes for servers of Node, with modules and clients that break: the process lives, and answers afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import http2 from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { Runtime } from "../src/embed/runtime.ts";
import { raw, send } from "./http.ts";
import { descendants } from "./processes.ts";
import { RecipeFolder } from "./recipes.ts";
import { streamsProject } from "./servers.ts";

let folder: RecipeFolder;
beforeAll(async () => {
  folder = await RecipeFolder.create("handle");
  // The recipes serve a module of this name.
  await cp(join(streamsProject, "dist/streams.wasm"), join(folder.folder, "dist/hello.wasm"));
});
afterAll(() => folder.delete());

let server: ChildProcess;
let port: number;
let log: string;

async function start(file: string, change = (source: string) => source): Promise<void> {
  port = await freePort();
  log = "";
  await folder.writeServer(file, port);
  const path = join(folder.folder, file);
  await writeFile(path, change(await readFile(path, "utf8")));
  server = spawn(process.execPath, [file], { cwd: folder.folder, stdio: ["ignore", "inherit", "pipe"] });
  server.stderr?.on("data", (data) => {
    log += data;
  });
  while ((await served()) !== 200) {
    if (server.exitCode !== null) throw new Error(`${file} ended:\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The status of an answer by the module, or the failure. */
const served = () =>
  send(`http://127.0.0.1:${port}`, { path: "/run/hello/served" }).then(({ status }) => status, String);

/** Sends bytes on a connection, and calls a function with all that has come back, each time something does. */
function sending(bytes: string, seen: (text: string, socket: Socket) => void = () => {}): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(bytes));
    socket.on("data", (data) => {
      text += data.toString("latin1");
      seen(text, socket);
    });
    socket.on("error", () => {});
    socket.once("close", () => resolve(text));
  });
}

const request = (line: string, ...headers: string[]) => `${[line, "Host: a.test", ...headers].join("\r\n")}\r\n\r\n`;
const closing = (line: string, ...headers: string[]) => request(line, ...headers, "Connection: close");

describe.each(["http.js", "express.js", "fastify.js", "cluster.js"])("%s", (file) => {
  beforeAll(() => start(file));
  afterEach(async () => {
    // The process that answered is the one that answers.
    expect(log).not.toMatch(/worker \d+ ended/);
    expect(server.exitCode).toBe(null);
    expect(await served()).toBe(200);
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  test("a module that throws after it began to stream", async () => {
    const text = await sending(request("GET /run/hello/throws HTTP/1.1"));
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(text).toContain("before");
    // The last chunk is missing, so that no client takes this for the whole.
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test("an upload that is broken off", async () => {
    const head = request(
      "POST /run/hello/upload HTTP/1.1",
      "Content-Type: application/octet-stream",
      "Content-Length: 9000000",
    );
    for (const length of [0, 1_000, 500_000]) {
      await new Promise<void>((resolve) => {
        const socket = connect({ host: "127.0.0.1", port }, () => {
          socket.write(head + "x".repeat(length), () => setTimeout(() => socket.resetAndDestroy(), 50));
        });
        socket.once("close", () => resolve());
      });
    }
  });

  test("a host that is none", async () => {
    for (const host of ["[", "a b", "u@a", "a:99999", ""]) {
      const text = await raw(
        "127.0.0.1",
        port,
        `GET /run/hello/served HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect([host, text.split("\r\n")[0]]).toEqual([host, "HTTP/1.1 400 Bad Request"]);
      expect(text.toLowerCase()).toContain("content-type: application/problem+json");
    }
    const twice = "GET /run/hello/served HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n";
    expect(await raw("127.0.0.1", port, twice)).toMatch(/^HTTP\/1.1 400 /);
  });

  test("a client that leaves in the middle", async () => {
    await sending(request("GET /run/hello/endless HTTP/1.1"), (text, socket) => {
      if (text.includes("\n2\n")) socket.destroy();
    });
    await expect.poll(() => log).toContain("finally of endless");
    log = "";
    // Its answer waits behind another one, and has no connection yet.
    const both = request("GET /run/hello/stalls HTTP/1.1") + request("GET /run/hello/endless HTTP/1.1");
    await sending(both, async (text, socket) => {
      if (!text.includes("before")) return;
      await expect.poll(() => log).toContain("start of endless");
      socket.destroy();
    });
    await expect.poll(() => log).toContain("finally of endless");
  });

  test("HEAD", async () => {
    const text = await sending(closing("HEAD /run/hello/served HTTP/1.1"));
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(text.toLowerCase()).toContain("content-length: 12\r\n");
    expect(text).toMatch(/\r\n\r\n$/);
    expect(await sending(closing("HEAD /run/hello/large HTTP/1.1"))).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\n$/);
  });

  test("a request that asks for an upgrade", async () => {
    const headers = [
      "Connection: upgrade, close",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: eA==",
    ];
    expect(await sending(request("GET /run/hello/served HTTP/1.1", ...headers))).toContain('{"served":0}');
    expect(
      await sending(request("GET /run/hello/served HTTP/1.1", "Connection: upgrade, close", "Upgrade: h2c")),
    ).toContain("200 OK");
  });

  test("a transfer coding that nobody has decoded", async () => {
    const coded = closing("POST /run/hello/whole HTTP/1.1", "Transfer-Encoding: gzip, chunked");
    expect(await sending(`${coded}1\r\nx\r\n0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 501 /);
  });

  test("a huge header", async () => {
    const text = await raw(
      "127.0.0.1",
      port,
      closing("GET /run/hello/served HTTP/1.1", `X-Large: ${"x".repeat(100_000)}`),
    ).catch(String);
    expect(text).toMatch(/^HTTP\/1.1 431 |ECONNRESET|EPIPE/);
    expect(
      await raw("127.0.0.1", port, closing("GET /run/hello/served HTTP/1.1", `X-Large: ${"x".repeat(10_000)}`)),
    ).toMatch(/ 200 OK/);
  });

  test("a client that reads nothing holds the module up", async () => {
    const socket = connect({ host: "127.0.0.1", port }, () =>
      socket.write(request("GET /run/hello/large?count=2000 HTTP/1.1")),
    );
    socket.on("error", () => {});
    // The first bytes are read, so that the answer has begun.
    await new Promise((resolve) => socket.once("readable", resolve));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(log).not.toMatch(/made \d+ of 2000/);
    socket.destroy();
    await expect.poll(() => log).toMatch(/made \d+ of 2000/);
    expect(Number(/made (\d+) of 2000/.exec(log)?.[1])).toBeLessThan(1_000);
  });

  test("a slow client gets all of it", async () => {
    let bytes = 0;
    await new Promise<void>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port }, () =>
        socket.write(closing("GET /run/hello/large?count=60 HTTP/1.0")),
      );
      socket.on("data", (data) => {
        bytes += data.length;
        socket.pause();
        setTimeout(() => socket.resume(), 2);
      });
      socket.once("end", resolve);
    });
    expect(bytes).toBeGreaterThan(60 * 65_536);
  });

  test("pipelined requests are answered in order", async () => {
    const paths = ["pieces?count=3", "served", "pieces?count=2"];
    const text = await sending(
      paths.map((path, i) => (i === 2 ? closing : request)(`GET /run/hello/${path} HTTP/1.1`)).join(""),
    );
    expect(text.match(/HTTP\/1.1 200 OK|\n[0-2]\n|\{"served":0\}/g)).toEqual([
      "HTTP/1.1 200 OK",
      "\n0\n",
      "\n1\n",
      "\n2\n",
      "HTTP/1.1 200 OK",
      '{"served":0}',
      "HTTP/1.1 200 OK",
      "\n0\n",
      "\n1\n",
    ]);
  });

  test("a client that waits for 100 Continue", async () => {
    const headers = ["Content-Type: application/json", "Content-Length: 12", "Expect: 100-continue"];
    let isSent = false;
    const text = await sending(closing("POST /run/hello/whole HTTP/1.1", ...headers), (seen, socket) => {
      if (isSent || !seen.includes("100 Continue")) return;
      isSent = true;
      socket.write('{"text":"x"}');
    });
    expect(text).toContain('{"length":1}');
  });

  test("uploads are streamed, and bodies beyond the limit refused", async () => {
    const headers = [["content-type", "application/octet-stream"]] as const;
    const base = `http://127.0.0.1:${port}`;
    const upload = { method: "POST", path: "/run/hello/upload", headers, body: Buffer.alloc(3_000_000) };
    expect((await send(base, upload)).json()).toMatchObject({ bytes: 3_000_000 });
    expect((await send(base, { ...upload, chunks: 70_000 })).json()).toMatchObject({ bytes: 3_000_000 });
    const large = {
      ...upload,
      path: "/run/hello/whole",
      headers: [["content-type", "application/json"]] as const,
      body: Buffer.alloc(12_000_000),
    };
    expect((await send(base, large)).status).toBe(413);
  });
});

test.each([
  ["express.js", "Express"],
  ["fastify.js", "Fastify"],
])("%s answers what is for no module", async (file, text) => {
  await start(file);
  const base = `http://127.0.0.1:${port}`;
  expect((await send(base, { path: "/" })).body.toString()).toBe(text);
  for (const path of ["/run/unknown/x", "/run", "/health", "/metrics"]) {
    const answer = await send(base, { path });
    expect([path, answer.status, answer.header("x-request-id")]).toEqual([path, 404, undefined]);
  }
  server.kill("SIGKILL");
});

test("Fastify's own routes run once, and never for a module's request", async () => {
  const handlers = `
    let calls = 0;
    app.post("/once", async (request) => {
      calls++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { calls, body: request.body };
    });
    app.get("/calls", () => ({ calls }));
    app.all("/*", async () => { calls++; return "Fastify"; });`;
  await start("fastify.js", (source) => source.replace("await app.listen", `${handlers}\nawait app.listen`));
  const base = `http://127.0.0.1:${port}`;
  const headers = [["content-type", "application/json"]] as const;
  const own = await send(base, { method: "POST", path: "/once", headers, body: Buffer.from("[1]") });
  expect(own.json()).toEqual({ calls: 1, body: [1] });
  await sending(request("GET /run/hello/throws HTTP/1.1"));
  await sending(request("GET /run/hello/endless HTTP/1.1"), (_, socket) => socket.destroy());
  expect(await served()).toBe(200);
  expect((await send(base, { path: "/calls" })).json()).toEqual({ calls: 1 });
  server.kill("SIGKILL");
});

test("a response is ended when its client of HTTP/2 has left, so that no framework answers it", async () => {
  await using runtime = await Runtime.create({
    modules: { hello: join(streamsProject, "dist/streams.wasm") },
    logLevel: "off",
  });
  const ended: boolean[] = [];
  const listener = http2.createServer(async (request, response) => {
    await runtime.handle(request, response);
    ended.push(response.writableEnded);
  });
  const at = await new Promise<number>((resolve) => {
    listener.listen(0, "127.0.0.1", () => resolve((listener.address() as AddressInfo).port));
  });
  const client = http2.connect(`http://127.0.0.1:${at}`);
  const leave = (path: string, when: "ready" | "data", method = "GET") => {
    const stream = client.request(
      { ":path": `/run/hello/${path}`, ":method": method },
      { endStream: method === "GET" },
    );
    stream.on("error", () => {}).once(when, () => stream.close(http2.constants.NGHTTP2_CANCEL));
  };
  leave("endless", "data");
  leave("served", "ready");
  leave("upload", "ready", "POST");
  leave("throws", "data");
  await expect.poll(() => ended).toEqual([true, true, true, true]);
  client.destroy();
  listener.close();
});

describe("a cluster", () => {
  beforeEach(() => start("cluster.js"));
  afterEach(() => server.kill("SIGTERM"));

  test("starts a worker in the place of one that ended, and never ends by itself", async () => {
    const workers = async () => (await descendants(server.pid as number)).filter(({ parent }) => parent === server.pid);
    await expect.poll(async () => (await workers()).length).toBe(2);
    const first = await workers();
    for (const { pid } of first) process.kill(pid, "SIGKILL");
    await expect.poll(() => log).toMatch(/worker \d+ ended with SIGKILL/);
    await expect.poll(served).toBe(200);
    const pids = first.map(({ pid }) => pid);
    await expect.poll(async () => (await workers()).filter(({ pid }) => !pids.includes(pid)).length).toBe(2);
    expect(server.exitCode).toBe(null);
  });
});
