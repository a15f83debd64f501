/** Limits of a module's effects outside itself, TLS, and the end of the server: the real `tenon run`, over sockets. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { testWith } from "../../testing/needs.ts";
import { type Exchange, raw, send } from "./http.ts";
import { faultsProject, type Running, startTenon } from "./servers.ts";

let folder: string;
let sidecar: Server;
let url: string;
let server: Running;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-limits-"));
  sidecar = createServer((incoming, outgoing) => {
    incoming.resume().on("end", () => outgoing.end("good"));
  });
  await new Promise<void>((resolve) => sidecar.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(sidecar.address() as AddressInfo).port}`;
  url = encodeURIComponent(`${address}/x`);
  await writeFile(
    join(folder, "tenon.toml"),
    `[project]
name = "faults"
[server]
max_concurrent = 16
max_outbound_calls = 5
max_outbound_body_bytes = 1000
max_fields_bytes = 4096
max_resources = 64
max_log_bytes = 2000
shutdown_timeout_ms = 5000
request_timeout_ms = 1000
[sidecars]
good = "${address}"
`,
  );
  server = await start(folder);
});
afterAll(async () => {
  await server?.stop();
  sidecar?.close();
  await rm(folder, { recursive: true, force: true });
});

const start = (cwd: string) => startTenon([join(faultsProject, "dist/faults.wasm")], "faults", cwd);
const get = (path: string, id = "r", of = server) =>
  send(of.base, { path: `/run/faults${path}`, headers: [["x-request-id", id]] });

/** A server of its own, with `[server]` as given; ends with the test. */
async function served(keys: string): Promise<Running & { hostname: string; port: number }> {
  const cwd = await mkdtemp(join(folder, "own-"));
  await writeFile(join(cwd, "tenon.toml"), `[project]\nname = "faults"\n[server]\nmax_concurrent = 16\n${keys}`);
  const running = await start(cwd);
  onTestFinished(() => running.stop());
  const { hostname, port } = new URL(running.base);
  return { ...running, hostname, port: Number(port) };
}

test.each([
  ["a path and query", "max_url_bytes = 64", { path: "/good/1?", padding: 64 }, 414],
  ["a header", "max_header_bytes = 1000", { headers: [["x-long", "x".repeat(1000)]] }, 431],
  ["many headers", "max_headers = 8", { headers: Array.from({ length: 9 }, (_, i) => [`x-${i}`, "x"]) }, 431],
  ["a body", "max_body_bytes = 1000", { method: "POST", path: "/echo", body: "x".repeat(1001) }, 413],
  [
    "a body in chunks",
    "max_body_bytes = 1000",
    { method: "POST", path: "/echo", body: "x".repeat(1001), chunks: 100 },
    413,
  ],
  ["a response", "max_response_bytes = 1000", { method: "POST", path: "/echo", body: "x".repeat(1001) }, 502],
] as const)("%s beyond %s", async (_, key, asked, status) => {
  const {
    path = "/good/1",
    padding = 0,
    ...more
  } = { padding: 0, ...asked } as Partial<Exchange> & { padding?: number };
  const { base } = await served(key);
  const answer = await send(base, { ...more, path: `/run/faults${path}${"x".repeat(padding)}` });
  expect(answer.status).toBe(status);
  expect(answer.json()).toMatchObject({ status, request_id: answer.header("x-request-id") });
  expect((await send(base, { path: "/run/faults/good/3" })).json()).toEqual({ n: 3, square: 9 });
});

test("clients that are slow with a head or a body", async () => {
  const { hostname, port } = await served("header_timeout_ms = 200\nbody_timeout_ms = 200");
  expect(await raw(hostname, port, "GET /run/faults/good/1 HTTP/1.1\r\nhost: x\r\n")).toBe("");
  const half = "POST /run/faults/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf";
  expect(await raw(hostname, port, half)).toMatch(/^HTTP\/1.1 408 /);
});

test("a request with two lengths is refused, and its connection closed", async () => {
  const { hostname, port } = new URL(server.base);
  const both = "POST /run/faults/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n";
  const answer = await raw(hostname, Number(port), `${both}0\r\n\r\nGET /health HTTP/1.1\r\nhost: x\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1);
});

test("uploads that stall stay within max_buffered_bytes, and other clients are served", async () => {
  const keys =
    "max_body_bytes = 1000000\nmax_response_bytes = 1000000\nmax_buffered_bytes = 5000000\nqueue_timeout_ms = 100";
  const { base } = await served(keys);
  const metric = async (name: string) => {
    const text = (await send(base, { path: "/metrics" })).body.toString();
    return Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
  };
  // The limit of memory in Node's client, 10 MB by default, beyond which it reads no answer.
  const session = connectHttp2(new URL(base).origin, { maxSessionMemory: 1000 });
  const statuses: unknown[] = [];
  for (let i = 0; i < 60; i++) {
    const stream = session.request({ ":method": "POST", ":path": "/run/faults/echo" });
    stream.on("error", () => {}).on("response", (head) => statuses.push([head[":status"], head["retry-after"]]));
    stream.resume().write(Buffer.alloc(900_000));
  }
  await expect.poll(() => statuses.length).toBeGreaterThan(10);
  expect(new Set(statuses.map(String))).toEqual(new Set(["503,1"]));
  expect(await metric("tenon_buffered_bytes")).toBeLessThan(2_500_000);
  expect(await metric("tenon_buffer_refusals_total")).toBeGreaterThan(10);
  expect((await send(base, { path: "/run/faults/good/3" })).status).toBe(200);
  session.destroy();
  await expect.poll(() => metric("tenon_buffered_bytes")).toBeLessThan(200_000);
});

test("more requests than may run and wait, in one module; idle connections take no place", async () => {
  const keys = "max_concurrent_per_module = 2\nmax_queued = 1\nqueue_timeout_ms = 2000\nrequest_timeout_ms = 6000";
  const { base, hostname, port } = await served(keys);
  const idle = Array.from({ length: 20 }, () => connect(port, hostname));
  const ask = () => send(base, { path: "/run/faults/sleep" });
  const metrics = async () => (await send(base, { path: "/metrics" })).body.toString();
  const running = [ask(), ask()];
  await expect.poll(metrics).toContain("tenon_requests_running 2");
  const waiting = ask();
  await expect.poll(metrics).toContain("tenon_requests_queued 1");
  const refused = await ask();
  expect([refused.status, refused.header("retry-after")]).toEqual([503, "1"]);
  expect([(await waiting).status, (await waiting).header("retry-after")]).toEqual([503, "1"]);
  for (const each of running) expect((await each).status).toBe(504);
  expect((await send(base, { path: "/run/faults/good/3" })).status).toBe(200);
  for (const each of idle) each.destroy();
});

test("a request makes no more outbound calls than it may, and the next one may again", async () => {
  for (let i = 0; i < 3; i++) expect((await get(`/calls/5?url=${url}`)).json()).toEqual({ calls: 5 });
  expect((await get(`/calls/6?url=${url}`, "too-many")).status).toBe(500);
  await expect
    .poll(server.errors)
    .toMatch(/at most 5 outbound calls \(max_outbound_calls\).*too-many|too-many.*max_outbound_calls/);
});

test("an outbound body is no longer than it may be", async () => {
  expect((await get(`/upload/1000?url=${url}`)).json()).toEqual({ status: 200, code: "" });
  expect((await get(`/upload/1001?url=${url}`)).json()).toEqual({ status: 0, code: "invalid" });
  await expect.poll(server.errors).toContain("max_outbound_body_bytes");
});

test("headers that a module holds on the host are bounded", async () => {
  expect((await get(`/heads/1000?url=${url}`)).status).toBe(200);
  expect((await get(`/heads/10000?url=${url}`)).status).toBe(500);
});

test("resources that a module holds on the host are bounded", async () => {
  expect((await get(`/resources/3?url=${url}`)).json()).toEqual({ statuses: [200, 200, 200] });
  expect((await get(`/resources/100?url=${url}`)).status).toBe(500);
  expect((await get(`/calls/5?url=${url}`)).status).toBe(200);
});

test("what a module logs for one request is bounded", async () => {
  const lines = (id: string) =>
    server
      .errors()
      .split("\n")
      .filter((line) => line.includes(id));
  await get("/log/19", "few-lines");
  await get("/log/1000", "many-lines");
  await expect.poll(() => lines("many-lines").join("\n")).toContain("max_log_bytes");
  expect(lines("many-lines").length).toBeLessThanOrEqual(22);
  expect(lines("few-lines").length).toBeGreaterThanOrEqual(19);
  expect(lines("few-lines").join("\n")).not.toContain("max_log_bytes");
});

test("SIGTERM lets a running request finish, and ends with 0", async () => {
  const other = await start(folder);
  const running = get("/sleep", "r", other);
  await expect
    .poll(async () => (await send(other.base, { path: "/metrics" })).body.toString())
    .toContain("tenon_requests_running 1");
  const exited = once(other.process, "exit");
  other.process.kill("SIGTERM");
  // The server is about to stop; the running request ends at its own timeout.
  expect((await running).status).toBe(504);
  expect(await exited).toEqual([0, null]);
  await expect(get("/good/1", "r", other)).rejects.toThrow();
});

testWith("openssl", "with a certificate it serves HTTPS", async () => {
  const secure = await mkdtemp(join(folder, "tls-"));
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost";
  const made = spawnSync("openssl", [...args.split(" "), "-keyout", "key.pem", "-out", "cert.pem"], { cwd: secure });
  expect(made.status, String(made.stderr)).toBe(0);
  await writeFile(
    join(secure, "tenon.toml"),
    '[project]\nname = "faults"\n[server]\ntls_certificate = "cert.pem"\ntls_key = "key.pem"\n',
  );
  const served = await start(secure);
  expect(served.base).toMatch(/^https:/);
  const answer = await new Promise<string>((resolve, reject) => {
    const outgoing = request(`${served.base}/good/12`, { rejectUnauthorized: false }, async (incoming) => {
      let text = "";
      for await (const piece of incoming) text += piece;
      resolve(text);
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
  expect(JSON.parse(answer)).toEqual({ n: 12, square: 144 });

  // Clients that choose HTTP/2 get that.
  const session = connectHttp2(served.base, { rejectUnauthorized: false });
  const stream = session.request({ ":path": "/run/faults/good/13" });
  const [head] = (await once(stream, "response")) as [Record<string, unknown>];
  expect(head[":status"]).toBe(200);
  expect(await json(stream)).toEqual({ n: 13, square: 169 });
  expect(session.alpnProtocol).toBe("h2");
  session.close();
  await served.stop();
});
