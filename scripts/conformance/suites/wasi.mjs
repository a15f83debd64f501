// wasi-testsuite (github.com/WebAssembly/wasi-testsuite): services of WASI 0.3. The checkout is one of the branch
// `prod/testsuite-base`, which has the built programs (`http-*.wasm`) beside their specifications (`http-*.json`).
//
// Programs of `wasi:cli` are left out, because a server has no call for them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { launch } from "../server.mjs";

export async function* run(checkout, only, wasmtime) {
  const path = join(checkout, "tests/rust/testsuite/wasm32-wasip3");
  for (const file of readdirSync(path).filter((name) => /^http-.*\.wasm$/.test(name) && name.includes(only))) {
    const id = basename(file, ".wasm");
    const specification = join(path, `${id}.json`);
    const {
      world,
      servers = [],
      operations = [],
    } = existsSync(specification) ? JSON.parse(readFileSync(specification, "utf8")) : {};
    if (world !== "wasi:http/service") {
      yield { id, verdict: "skip", note: "a command and no service" };
      continue;
    }
    const peers = await Promise.all(servers.map(peer));
    const server = await serve(resolve(path, file), id, peers, wasmtime);
    try {
      const failures = [];
      for (const operation of operations.filter((operation) => operation.type === "request")) {
        const failure = await asked(server.url, operation);
        if (failure !== undefined) failures.push(`${operation.method} ${operation.path}: ${failure}`);
      }
      yield { id, verdict: failures.length === 0 ? "pass" : "fail", note: failures.join("; ") };
    } finally {
      await server.stop();
      for (const { stop } of peers) stop();
    }
  }
}

/** Sends a request of a specification. Returns the difference from the expected response, if there is one. */
async function asked(url, { method, path, headers = {}, body = "", response: expected }) {
  const { status = 200, headers: expectedHeaders = {}, body: expectedBody = "" } = expected;
  const sent = request(`${url}${path}`, { method, headers: { ...headers, "content-length": Buffer.byteLength(body) } });
  try {
    sent.end(body);
    const [received] = await once(sent, "response");
    const text = Buffer.concat(await received.toArray()).toString();
    if (received.statusCode !== status) return `status ${received.statusCode} instead of ${status}: ${text}`;
    for (const [name, value] of Object.entries(expectedHeaders)) {
      if (received.headers[name] !== value) return `${name}: ${received.headers[name]} instead of ${value}`;
    }
    if (text !== expectedBody) return `body ${JSON.stringify(text)} instead of ${JSON.stringify(expectedBody)}`;
  } catch (error) {
    return String(error);
  }
}

/** Starts a server that a program calls, by its specification. */
async function peer({ name, kind, endpoints = [] }) {
  const variable = `HTTP_SERVER_${name.toUpperCase()}`;
  const server =
    kind === "closed" ? createSocket() : createServer((request, response) => answer(endpoints, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const authority = `127.0.0.1:${server.address().port}`;
  if (kind === "closed") server.close();
  return { variable, authority, stop: () => kind === "closed" || server.close() };
}

async function answer(endpoints, request, response) {
  const body = Buffer.concat(await request.toArray());
  const endpoint = endpoints.find(({ method, path }) => method === request.method && path === request.url);
  response.setHeader("connection", "close");
  if (endpoint === undefined) return response.writeHead(404).end();
  if (endpoint.mode === "echo-body") return response.end(body);
  if (endpoint.mode === "echo-headers") {
    response.setHeader("x-request-method", request.method).setHeader("x-request-path", request.url);
    const fields = (prefix, values) => {
      for (const [name, value] of Object.entries(values)) response.setHeader(`${prefix}${name}`, value);
    };
    fields("x-echo-", request.headersDistinct);
    fields("x-trailer-", request.trailersDistinct);
    return response.end();
  }
  const {
    status = 200,
    headers = {},
    body: text = "",
    chunks,
    trailers,
  } = typeof endpoint.response === "string" ? { body: endpoint.response } : endpoint.response;
  if (trailers !== undefined) response.setHeader("trailer", Object.keys(trailers).join(", "));
  response.writeHead(status, headers);
  for (const chunk of chunks ?? []) response.write(chunk);
  if (trailers !== undefined) response.addTrailers(trailers);
  response.end(text);
}

/** Serves a program with the addresses of its peers: by `tenon run`, or by wasmtime when a program is given. */
async function serve(component, id, peers, wasmtime) {
  if (wasmtime !== undefined) return byWasmtime(component, peers, wasmtime);
  const folder = mkdtempSync(join(tmpdir(), "tenon-wasi-"));
  const allow = peers.map(({ authority }) => `"${authority}"`).join(", ");
  const env = peers.map(({ variable, authority }) => `${variable} = "${authority}"\n`).join("");
  const project = `[project]\nname = "suite"\n[outbound]\nallow = [${allow}]\n[env]\n${env}`;
  writeFileSync(join(folder, "tenon.toml"), project);
  const { url, stop } = await launch(component, folder);
  return {
    url: `${url.origin}/run/${id}`,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function byWasmtime(component, peers, wasmtime) {
  const variables = peers.flatMap(({ variable, authority }) => ["--env", `${variable}=${authority}`]);
  const flags = ["-W", "component-model-async=y", "-S", "p3=y,cli=y,http=y"];
  const args = ["serve", "--addr", "127.0.0.1:0", ...flags, ...variables, component];
  const child = spawn(wasmtime, args, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  const url = await new Promise((resolve, reject) => {
    child.stderr.on("data", (data) => {
      output += data;
      const url = /http:\/\/[\d.]+:\d+/.exec(output);
      if (url !== null) resolve(url[0]);
    });
    child.once("exit", (code) => reject(new Error(`wasmtime serve ended with ${code}: ${output}`)));
  });
  return {
    url,
    async stop() {
      child.kill("SIGINT");
      await once(child, "exit");
    },
  };
}
