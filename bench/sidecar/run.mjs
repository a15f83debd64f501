// Measures a small call to a sidecar over a Unix socket and over TCP, on kept connections. The sidecar is a bare hyper
// or Node server:
//   npm run build && (cd cli/e2e/fixtures/faults && node ../../../bin/tenon.js build -r)
//   cargo build --workspace --examples && node bench/sidecar/run.mjs
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Runtime } from "../../cli/dist/index.js";
import { examples } from "../programs.mjs";
import { conditions, record } from "../results.mjs";

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const component = path("cli/e2e/fixtures/faults/dist/faults.wasm");
const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
const CALLS = 40;
const ends = [];

/** Starts a bare hyper server and returns its address. */
async function hyper(...socket) {
  const child = spawn(join(examples, "sidecar"), socket, { stdio: ["ignore", "pipe", "inherit"] });
  ends.push(() => child.kill());
  return String(await new Promise((resolve) => child.stdout.once("data", resolve))).trim();
}

/** Starts a Node server and returns its address. */
async function node(...socket) {
  const server = createServer((_, response) => response.end('{"rows":[]}'));
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await new Promise((resolve) => server.listen(...(socket.length > 0 ? socket : [0, "127.0.0.1"]), resolve));
  return socket.length > 0 ? `unix://${socket[0]}` : `http://127.0.0.1:${server.address().port}`;
}

const sidecars = {
  "hyper-tcp": await hyper(),
  "hyper-unix": await hyper(join(folder, "hyper.sock")),
  "node-tcp": await node(),
  "node-unix": await node(join(folder, "node.sock")),
};
const runtime = await Runtime.create({ modules: [component], sidecars });

/** Measures one request that makes this many calls, in µs. */
async function time(name, calls) {
  const address = sidecars[name];
  const url = address.startsWith("unix:") ? `http://${name}.sidecar.internal` : address;
  const request = new Request(`http://x/run/faults/calls/${calls}?url=${encodeURIComponent(`${url}/x`)}`);
  const began = performance.now();
  const answer = await runtime.fetch(request);
  const took = (performance.now() - began) * 1000;
  if (answer.status !== 200) throw new Error(await answer.text());
  return took;
}

const samples = Object.fromEntries(Object.keys(sidecars).map((name) => [name, []]));
for (let round = 0; round < 110; round++) {
  for (const name of Object.keys(sidecars)) {
    // Both include the cost of the request itself.
    const [many, one] = [await time(name, CALLS), await time(name, 1)];
    if (round >= 10) samples[name].push((many - one) / (CALLS - 1));
  }
}
const inHandler = (name) => samples[name].sort((a, b) => a - b)[samples[name].length >> 1];
const hypers = [sidecars["hyper-tcp"], sidecars["hyper-unix"]];
const alone = execFileSync(join(examples, "calls"), hypers, { encoding: "utf8" }).trim().split("\n").map(Number);
const row = (what, [tcp, unix]) => `| ${what} | ${tcp.toFixed(0)} | ${unix.toFixed(0)} | ${(unix / tcp).toFixed(2)} |`;
record(
  "bench/sidecar",
  `${conditions}. A call is \`httpClient.get\` inside a handler, its share in a request of ${CALLS}; or the same call of
crates/transport without a guest. The sidecar is a bare hyper server, or Node's HTTP server in the process that measures.

| median µs a call | TCP | Unix socket | ratio |
|---|---:|---:|---:|
${row("in a handler, sidecar in hyper", [inHandler("hyper-tcp"), inHandler("hyper-unix")])}
${row("in a handler, sidecar in Node", [inHandler("node-tcp"), inHandler("node-unix")])}
${row("the transport alone, sidecar in hyper", alone)}`,
);
await runtime.close();
for (const end of ends) end();
rmSync(folder, { recursive: true });
