// A small call to a sidecar from inside a handler, over a Unix socket and over TCP, connections kept:
//   npm run build && (cd cli/e2e/fixtures/faults && node ../../../bin/tenon.js build -r) && node bench/sidecar/run.mjs
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Runtime } from "../../cli/dist/index.js";
import { conditions, record } from "../results.mjs";

const component = fileURLToPath(new URL("../../cli/e2e/fixtures/faults/dist/faults.wasm", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tenon-bench-"));
const socket = join(folder, "db.sock");
const sidecar = () => createServer((_, response) => response.end('{"rows":[]}'));
const [tcp, unix] = [sidecar(), sidecar()];
await new Promise((resolve) => tcp.listen(0, "127.0.0.1", resolve));
await new Promise((resolve) => unix.listen(socket, resolve));

const address = `http://127.0.0.1:${tcp.address().port}`;
const runtime = await Runtime.create({ modules: [component], sidecars: { tcp: address, unix: `unix://${socket}` } });
const urls = { tcp: `${address}/x`, unix: "http://unix.sidecar.internal/x" };
const CALLS = 40;

/** The time of one request that makes so many calls, in µs. */
async function time(url, calls) {
  const began = performance.now();
  const answer = await runtime.fetch(new Request(`http://x/run/faults/calls/${calls}?url=${encodeURIComponent(url)}`));
  if (answer.status !== 200) throw new Error(await answer.text());
  return (performance.now() - began) * 1000;
}

const samples = { tcp: [], unix: [] };
for (let round = 0; round < 60; round++) {
  for (const [name, url] of Object.entries(urls)) {
    // What the request itself costs is in both.
    const [many, one] = [await time(url, CALLS), await time(url, 1)];
    if (round >= 10) samples[name].push((many - one) / (CALLS - 1));
  }
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const [overTcp, overUnix] = [median(samples.tcp), median(samples.unix)];
record(
  "bench/sidecar",
  `${conditions}. The sidecar is Node's HTTP server; a call is \`httpClient.get\`, its share in a request of ${CALLS}.

| transport | median µs a call | ratio |
|---|---:|---:|
| TCP | ${overTcp.toFixed(0)} | 1.00 |
| Unix socket | ${overUnix.toFixed(0)} | ${(overUnix / overTcp).toFixed(2)} |`,
);
await runtime.close();
for (const server of [tcp, unix]) {
  server.close();
  server.closeAllConnections();
}
rmSync(folder, { recursive: true });
