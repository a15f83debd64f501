// Streams of 1 GiB in both directions, and clients that leave: what the server's memory does meanwhile.
//   npm run build && node bench/streams/run.mjs [options]
//   --mib 1024        the size of each stream
//   --leave 10000     the clients that leave in the middle
//   --isolation shared
//   --record          writes the table, with the commit, into bench/RESULTS.md
// Exits with 1 when a bound is not met.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { firstLine } from "../programs.mjs";
import { conditions, record } from "../results.mjs";

const { values } = parseArgs({
  options: {
    mib: { type: "string", default: "1024" },
    leave: { type: "string", default: "10000" },
    isolation: { type: "string", default: "request" },
    record: { type: "boolean", default: false },
  },
});
const [mib, leave] = [Number(values.mib), Number(values.leave)];
const MIB = 1024 * 1024;
const here = fileURLToPath(new URL(".", import.meta.url));
const cli = join(here, "../../cli/bin/tenon.js");
const piece = Buffer.alloc(64 * 1024, ".");
/**
 * Memory that the server may need in addition, in MiB: an instance's garbage, for a stream of any size. The engine collects it when
 * there are some 60 MB, and later when there are some 120.
 */
const FLAT_MIB = 160;

const folder = mkdtempSync(join(tmpdir(), "tenon-streams-"));
execFileSync(process.execPath, [cli, "build", "-r"], { cwd: here, stdio: "inherit" });
writeFileSync(
  join(folder, "tenon.toml"),
  `[project]\nname = "streams"\n\n[server]\nport = 0\nisolation = "${values.isolation}"
max_response_bytes = ${2 * mib * MIB}\nmax_buffered_bytes = ${8 * mib * MIB}\nmax_upload_bytes = ${2 * mib * MIB}\n`,
);
const args = [cli, "run", "--json", join(here, "dist/streams.wasm")];
const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
let ended = 0;
child.stderr.on("data", (data) => {
  ended += String(data).split("finally").length - 1;
});
const base = `${JSON.parse(await firstLine(child)).url}/run/streams`;

const rssMib = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1024;
const descriptors = () => readdirSync(`/proc/${child.pid}/fd`).length;

const rows = [];
let failed = false;
function check(what, value, bound, unit = "") {
  failed ||= value > bound;
  rows.push(
    `| ${what} | ${Number(value.toPrecision(3))}${unit} | ≤ ${bound}${unit} | ${value > bound ? "**no**" : "yes"} |`,
  );
  console.error(rows.at(-1));
}

/** Runs a function, and records its peak of additional memory and its duration. */
async function flat(what, run) {
  const before = rssMib();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, rssMib());
  }, 20);
  const began = performance.now();
  await run();
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  check(
    `${what}, ${(mib / seconds).toFixed(0)} MiB/s: memory at its peak, beyond before`,
    most - before,
    FLAT_MIB,
    " MiB",
  );
}

function open(method, path) {
  const outgoing = request(base + path, { method, agent: false });
  outgoing.on("error", () => {});
  return outgoing;
}

async function answered(outgoing) {
  const [incoming] = await once(outgoing, "response");
  return incoming;
}

async function sendAll(outgoing) {
  for (let sent = 0; sent < mib * 16; sent++) if (!outgoing.write(piece)) await once(outgoing, "drain");
  outgoing.end();
}

/** Reads a response; with `pause`, slowly: it waits so many milliseconds after each MiB. */
async function readAll(incoming, pause = 0) {
  let bytes = 0;
  let paused = 0;
  for await (const data of incoming) {
    bytes += data.length;
    if (pause > 0 && bytes - paused >= MIB) {
      paused = bytes;
      await sleep(pause);
    }
  }
  if (bytes !== mib * MIB) throw new Error(`${bytes} bytes came`);
}

async function down(pause) {
  const outgoing = open("GET", `/down?mib=${mib}`);
  outgoing.end();
  await readAll(await answered(outgoing), pause);
}

/** Has 50 clients ask for an endless stream, and leave when it has begun. */
async function leaveAll(count) {
  let left = 0;
  const clients = Array.from({ length: 50 }, async () => {
    while (left < count) {
      left += 1;
      const outgoing = open("GET", "/left");
      outgoing.end();
      const incoming = await answered(outgoing);
      await once(incoming, "data");
      outgoing.destroy();
    }
  });
  await Promise.all(clients);
  return left;
}

try {
  for (const warm of ["/down?mib=4", "/left"]) {
    const outgoing = open("GET", warm);
    outgoing.end();
    (await answered(outgoing)).destroy();
  }
  await sleep(500);
  await flat(`${mib} MiB to a client`, () => down(0));
  await flat(`${mib} MiB to a client that pauses 5 ms after each MiB`, () => down(5));
  await flat(`${mib} MiB from a client`, async () => {
    const outgoing = open("POST", "/up");
    const answer = answered(outgoing);
    await sendAll(outgoing);
    const { bytes } = await json(await answer);
    if (bytes !== mib * MIB) throw new Error(`${bytes} bytes came`);
  });
  await flat(`${mib} MiB to the server and back at once`, async () => {
    const outgoing = open("POST", "/back");
    const answer = answered(outgoing);
    const sent = sendAll(outgoing);
    await readAll(await answer);
    await sent;
  });

  // Their instances stay for a while, so the first ones are before.
  await leaveAll(Math.min(leave, 500));
  await sleep(500);
  ended = 0;
  const [before, open0] = [rssMib(), descriptors()];
  const left = await leaveAll(leave);
  for (let waited = 0; ended < left && waited < 100; waited++) await sleep(100);
  const metrics = await (await fetch(new URL("/metrics", base))).text();
  const running = Number(/^tenon_requests_running (\d+)$/m.exec(metrics)[1]);
  check(`${left} clients that leave in the middle: generators whose \`finally\` did not run`, left - ended, 0);
  check("requests that still run after them", running, 0);
  check("descriptors that are open after them, beyond before", descriptors() - open0, 4);
  check("memory after them, beyond before", rssMib() - before, FLAT_MIB, " MiB");
} finally {
  child.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
}

const table = ["| what | measured | bound | met |", "|---|---:|---:|---|", ...rows].join("\n");
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: here, encoding: "utf8" }).trim();
const text = `Commit ${commit}, isolation \`${values.isolation}\`, ${conditions}.\n\n${table}`;
if (values.record) record("bench/streams", text);
else console.log(text);
process.exit(failed ? 1 : 0);
