// The processor time that meters attribute to requests and evaluations, beside that of the process's threads:
//   npm run build && (cd bench/meters && npx tenon build -r) && node bench/meters/run.mjs [evaluations] [requests]
// Linux only: /proc has the time of each thread. The base is the time of the threads that compute for no request: Node's event loop with
// this program, V8's own, and the clock of epochs. The work of the runtime's threads has to be in the sum of the meters.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Runtime, tool } from "../../cli/dist/index.js";
import { firstLine } from "../programs.mjs";
import { conditions, record } from "../results.mjs";

const [evaluations, requests] = [Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 40_000)];
const AT_ONCE = 16;
const here = fileURLToPath(new URL(".", import.meta.url));

/** The processor time of each thread in ms, by its number. */
function threads() {
  const all = new Map();
  for (const id of readdirSync("/proc/self/task")) {
    try {
      const name = readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim();
      const ms = Number(readFileSync(`/proc/self/task/${id}/schedstat`, "latin1").split(" ")[0]) / 1e6;
      all.set(id, { name: id === String(process.pid) ? "Node's event loop" : name, ms });
    } catch {
      // It has ended.
    }
  }
  return all;
}

const big = "x".repeat(20_000);
const sources = [
  (n) => `1 + ${n % 100}`,
  (n) => `let n = 0; for (let i = 0; i < ${2_000 + (n % 50) * 100}; i++) n += i % 7; n`,
  () => "for (let i = 0; i < 5; i++) await ping(i)",
  () => "console.log('a line'); console.error('another'); JSON.stringify(Array(200).fill({ a: 1 })).length",
  () => "await new Promise((r) => setTimeout(r, 2)); input.big.length",
  () => "(await ping(input.big)).length",
  () => "for (;;);",
  () => "const all = []; for (let i = 0; i < 40; i++) all.push(new Uint8Array(65_536)); all.length",
];

// The database is a process of its own, so that its time is not in the measurement.
const folder = mkdtempSync(join(tmpdir(), "tenon-meters-"));
const sidecar = spawn(
  process.execPath,
  [
    join(here, "../../cli/bin/tenon.js"),
    "sidecar",
    "sql",
    "--url",
    `sqlite:${folder}/users.db`,
    "--listen",
    "127.0.0.1:0",
    "--json",
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
process.once("exit", () => sidecar.kill());
const database = JSON.parse(await firstLine(sidecar)).address;
for (const sql of [
  "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)",
  "INSERT INTO users VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Mary')",
]) {
  const body = JSON.stringify({ sql, params: [] });
  const headers = { "content-type": "application/json" };
  const { ok } = await fetch(`${database}/sql/execute`, { method: "POST", headers, body });
  if (!ok) throw new Error(`${sql} failed`);
}

const runtime = await Runtime.create({
  modules: { app: join(here, "dist/meters.wasm") },
  sidecars: { db: database },
  logLevel: "off",
});
const sandbox = await runtime.sandbox({
  tools: { ping: tool({ run: (x) => x }) },
  limits: { cpuMs: 20, wallMs: 60_000 },
});

let attributedUs = 0;
let told = 0;
runtime.on("usage", ({ cpuUs }) => {
  attributedUs += cpuUs;
  told++;
});
const server = await runtime.listen({ port: 0 });

async function evaluate(count) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const n = next++;
      // A loop takes the time of many others.
      const source = sources[n % 64 === 0 ? 6 : n % 8 === 6 ? 0 : n % 8](n);
      const done = await sandbox.evaluate(source, { input: { big } });
      attributedUs += done.usage.cpuUs;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Evaluations and requests beside one another, until all are over and told. */
async function run(evaluated, requested) {
  [attributedUs, told] = [0, 0];
  const [threadsBefore, before] = [threads(), process.cpuUsage()];
  const clients = [join(here, "clients.mjs"), `${server.url}/run/app`, String(requested), String(AT_ONCE)];
  await Promise.all([evaluate(evaluated), promisify(execFile)(process.execPath, clients)]);
  while (told < requested) await new Promise((resolve) => setTimeout(resolve, 10));
  return { before: threadsBefore, after: threads(), used: process.cpuUsage(before) };
}

await run(1_000, 1_000);
const { before, after, used } = await run(evaluations, requests);

const byName = new Map();
for (const [id, { name, ms }] of after) byName.set(name, (byName.get(name) ?? 0) + ms - (before.get(id)?.ms ?? 0));
const wholeMs = (used.user + used.system) / 1000;
const isRuntime = (name) => name === "tenon-guest" || name.startsWith("tokio");
const runtimeMs = [...byName].reduce((sum, [name, ms]) => sum + (isRuntime(name) ? ms : 0), 0);
const rows = [...byName].filter(([, ms]) => ms >= 1).sort(([, one], [, other]) => other - one);
const attributedMs = attributedUs / 1000;
record(
  "bench/meters",
  `${conditions}. ${evaluations} mixed evaluations, ${AT_ONCE} at once: short ones, loops, calls of tools, logs, timers, large values, memory. Beside
them ${requests} requests over HTTP, ${AT_ONCE} at once: half plain, three eighths with a row of a database in another process, an eighth
streams. The process used ${wholeMs.toFixed(0)} ms of processor time. The meters attribute ${attributedMs.toFixed(0)} ms, which is ${((attributedMs / runtimeMs) * 100).toFixed(1)} % of the
${runtimeMs.toFixed(0)} ms of the runtime's threads. The base is the rest: Node, with this program, and V8.

| threads | ms |
|---|---:|
${rows.map(([name, ms]) => `| ${name} | ${ms.toFixed(0)} |`).join("\n")}`,
);
await runtime.close();
sidecar.kill();
rmSync(folder, { recursive: true });
