// Prints the resident memory of sidecars under requests that keep to each limit and want as much memory as they can:
//
//   DATABASE_URL=postgres://… node scripts/sidecar-memory.mjs [--cli <path of another clone's cli/bin/tenon.js>]
//
// Each line has a kind of request, the statuses of the answers, the peak in MiB of a sidecar that was started for it,
// and the longest time of a small request meanwhile. The bounds are in docs/sidecars.md. The JSON and the queue are on
// SQLite in a temporary folder. Linux only, because it reads /proc.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { argumentsOf } from "./usage.mjs";

const { values } = argumentsOf(import.meta.url, { options: { cli: { type: "string" } } });
const cli = values.cli ?? new URL("../cli/bin/tenon.js", import.meta.url).pathname;
const database = process.env.DATABASE_URL;
const folder = mkdtempSync(join(tmpdir(), "tenon-memory-"));

async function started(kind, url) {
  const args = [cli, "sidecar", kind, "--listen", "127.0.0.1:0", "--json", "-q"];
  const env = { ...process.env, DATABASE_URL: url };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await new Promise((done) => createInterface(child.stdout).once("line", (...lines) => done(lines)));
  return { child, address: JSON.parse(line).address };
}

/** Sends a request, and resolves to its status. */
function ask(address, path, body) {
  return new Promise((done) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const outgoing = request(`${address}${path}`, { method: "POST", agent: false, headers }, (answer) => {
      answer.resume().once("close", () => done(answer.statusCode));
    });
    outgoing.once("error", ({ code }) => done(code));
    outgoing.end(body);
  });
}

async function measure(name, { kind, url, path, bodies, small, before }) {
  const { child, address } = await started(kind, url);
  await before?.((path, body) => ask(address, path, body));
  let slowest = 0;
  let running = true;
  const others = (async () => {
    while (running && small !== undefined) {
      const begun = performance.now();
      await ask(address, path, small);
      slowest = Math.max(slowest, performance.now() - begun);
    }
  })();
  const statuses = await Promise.all(bodies.map((body) => ask(address, path, body)));
  running = false;
  await others;
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  child.kill();
  const counts = [...new Set(statuses)].map(
    (status) => `${statuses.filter((each) => each === status).length} × ${status}`,
  );
  const waited = small === undefined ? "" : `, a small request took up to ${Math.round(slowest)} ms`;
  process.stdout.write(`${name}: ${counts.join(", ")}: ${Math.round(peak / 1024)} MiB${waited}\n`);
}

const sql = (text, params = []) => JSON.stringify({ sql: text, params });
const sqlite = (name) => `sqlite:${join(folder, name)}`;
try {
  if (database !== undefined) {
    const postgres = { kind: "sql", url: database, path: "/sql/query", small: sql("SELECT 1") };
    await measure("nothing", { ...postgres, bodies: [] });
    const tree = sql(`SELECT 1${",1".repeat(500_000)}`);
    await measure("two statements of 1 MB", { ...postgres, bodies: [tree, tree] });
    const large = sql("SELECT repeat('x', 200000000) AS a");
    await measure("four values of 200 MB", { ...postgres, bodies: [large, large, large, large] });
  }
  const objects = `{"params":[${'{"":0},'.repeat(1_400_000)}0]}`;
  for (const count of [2, 25]) {
    const bodies = Array(count).fill(objects);
    await measure(`${count} bodies of 10 MB of {"":0}`, { kind: "sql", url: sqlite("a"), path: "/sql/query", bodies });
  }
  const message = JSON.stringify({ messages: [{ body: "x".repeat(9_900_000) }] });
  await measure("a lease of 100 × 9.9 MB", {
    ...{ kind: "queue", url: sqlite("b"), path: "/queue/q/lease", bodies: ['{"max":100}'] },
    before: async (send) => {
      for (let sent = 0; sent < 100; sent++) await send("/queue/q", message);
    },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
