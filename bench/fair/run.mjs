// Effect of one module's load on another module, on `/health` and on clients that are refused:
//   npm run build && node bench/fair/run.mjs [options] [name…]
// Needs wrk. Each program restarts `tenon run` with one component as two modules. It prints its figures and whether
// each bound is met. Words of their names select programs.
//   --seconds 5          time of one measurement
//   --isolation shared   isolation of both modules; `request` by default
//   --record             writes the table, with the commit, into bench/RESULTS.md
// Exits with 1 when a bound is not met.
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { firstLine, wrkLater } from "../programs.mjs";
import { conditions, record } from "../results.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    isolation: { type: "string", default: "request" },
    record: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const here = fileURLToPath(new URL(".", import.meta.url));
const cli = join(here, "../../cli/bin/tenon.js");
const folder = mkdtempSync(join(tmpdir(), "tenon-fair-"));
const QUEUE_TIMEOUT_MS = 1000;
/** Loop iterations that take some 7 ms. */
const SEVEN_MS = 200_000;

/** Each program: its name, and the function that measures it with a server. */
const programs = {
  "two endless loops": (server) => loops(server, 2),
  "eight endless loops": (server) => loops(server, 8),
  "64 endless loops": (server) => loops(server, 64),
  "1,000 clients on a handler of 7 ms": refusals,
  "1,000 clients on a sidecar that hangs": hanging,
  "a sidecar that returns": returning,
  "128 clients of 20 MB": memory,
};

const rows = [];
let failed = false;

/** Records a figure, and whether it is within its bound. */
function check(what, value, is, bound, unit = "") {
  const met = is === "≥" ? value >= bound : value <= bound;
  failed ||= !met;
  const shown = (number) => `${Number(number.toPrecision(3))}${unit}`;
  rows.push(`| ${what} | ${shown(value)} | ${is} ${shown(bound)} | ${met ? "yes" : "**no**"} |`);
  console.error(rows.at(-1));
}

async function start() {
  const sidecar = join(folder, "other.sock");
  writeFileSync(
    join(folder, "tenon.toml"),
    `[project]\nname = "fair"\n\n[server]\nport = 0\nisolation = "${values.isolation}"
queue_timeout_ms = ${QUEUE_TIMEOUT_MS}\n\n[sidecars]\nother = "unix://${sidecar}"\n`,
  );
  const modules = ["busy.wasm", "other.wasm"].map((name) => join(folder, name));
  for (const module of modules) copyFileSync(join(here, "dist/fair.wasm"), module);
  const args = [cli, "run", "--json", ...modules];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  const { url } = JSON.parse(await firstLine(child));
  return { child, url, busy: `${url}/run/busy`, other: `${url}/run/other`, sidecar };
}

/** Starts clients. `end` ends them and returns their results. */
function clients(url, count, pause = 0) {
  const args = [join(here, "clients.mjs"), url, String(count), "600", String(pause)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  // Ends them even when a program fails.
  process.once("exit", () => child.kill("SIGKILL"));
  const line = firstLine(child);
  const end = async () => {
    child.kill("SIGTERM");
    return JSON.parse(await line);
  };
  return { end };
}

/** Requests `/health` every 10 ms while `load` runs, and checks the latencies. */
async function withHealth(server, what, load) {
  const asking = clients(`${server.url}/health`, 1, 10);
  const result = await load();
  const { 200: health } = await asking.end();
  check(`\`/health\`, ${what}: p99`, health.p99, "≤", 20, " ms");
  return result;
}

const plain = (server) => wrkLater(`${server.other}/plain`, seconds, []);

async function loops(server, count) {
  const alone = await plain(server);
  const busy = clients(`${server.busy}/endless`, count);
  await sleep(500);
  const beside = await withHealth(server, `${count} endless loops`, () => plain(server));
  await busy.end();
  check(`another module's rate beside ${count} endless loops, to that alone`, beside.rate / alone.rate, "≥", 0.45);
  check(`its p99 beside ${count} endless loops`, beside.p99, "≤", 10, " ms");
}

async function refusals(server) {
  const busy = clients(`${server.busy}/loop/${SEVEN_MS}`, 1000);
  await sleep(500);
  await withHealth(server, "1,000 clients on a handler of 7 ms", () => sleep(seconds * 1000));
  const { 503: refused } = await busy.end();
  check(
    "a refusal, 1,000 clients on a handler of 7 ms: the last",
    refused?.max ?? 0,
    "≤",
    QUEUE_TIMEOUT_MS + 50,
    " ms",
  );
}

/** Serves the sidecar's socket. If `hung`, it accepts requests and does not answer. */
async function serve(path, hung) {
  rmSync(path, { force: true });
  const server = createServer((_, response) => {
    if (!hung) response.end("ok");
  });
  await new Promise((resolve) => server.listen(path, resolve));
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

async function hanging(server) {
  const close = await serve(server.sidecar, true);
  try {
    const alone = await plain(server);
    const busy = clients(`${server.busy}/call`, 1000);
    await sleep(500);
    const beside = await withHealth(server, "1,000 clients on a sidecar that hangs", () => plain(server));
    await busy.end();
    check("a route's rate that calls no sidecar, to that alone", beside.rate / alone.rate, "≥", 0.9);
    check("its requests that are refused", beside.failed, "≤", 0);
  } finally {
    close();
  }
}

async function returning(server) {
  const ask = async () => {
    const answer = await fetch(`${server.busy}/call`);
    await answer.arrayBuffer();
    return answer.status;
  };
  // Away for longer than the breaker's first pauses.
  const away = performance.now() + 9000;
  while (performance.now() < away) {
    await ask();
    await sleep(10);
  }
  const close = await serve(server.sidecar, false);
  const back = performance.now();
  let last = 0;
  while (performance.now() < back + 3000) {
    if ((await ask()) !== 200) last = performance.now() - back;
    await sleep(5);
  }
  close();
  check("after a sidecar returns, its routes serve within", last, "≤", 500, " ms");
}

async function memory(server) {
  const resident = () =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))[1]) / 1024;
  // Memory that the first requests make resident, such as code, does not count for one load.
  await plain(server);
  await sleep(3000);
  const before = resident();
  const busy = clients(`${server.busy}/large/20000000`, 128);
  let most = 0;
  for (const ends = performance.now() + seconds * 1000; performance.now() < ends; await sleep(50)) {
    most = Math.max(most, resident());
  }
  await busy.end();
  await sleep(5000);
  console.error(
    `resident: ${before.toFixed(0)} MiB before, ${most.toFixed(0)} at most, ${resident().toFixed(0)} after`,
  );
  check("resident memory after 128 clients of 20 MB, more than before", resident() - before, "≤", 64, " MiB");
}

execFileSync(process.execPath, [cli, "build", "-r"], { cwd: here, stdio: ["ignore", "ignore", "inherit"] });
const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: here, encoding: "utf8" }).trim();
const wanted = Object.keys(programs).filter(
  (name) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
);
try {
  for (const name of wanted) {
    const server = await start();
    try {
      await programs[name](server);
    } finally {
      server.child.kill("SIGKILL");
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const text = `Commit ${commit}, ${conditions}, \`isolation = "${values.isolation}"\`, measurements of ${seconds} s, the clients on the
same processors.

| figure | measured | bound | met |
|---|---:|---:|---|
${rows.join("\n")}`;
if (values.record) record("bench/fair", text);
else console.log(text);
process.exit(failed ? 1 : 0);
