// Typical routes on Tenon in both isolations and on Node with Hono, pg and Zod, side by side in one run:
//   npm run build && cargo build --workspace --examples && node bench/routes/run.mjs [options] [row…]
// Needs wrk, curl and PostgreSQL. All servers restart in each round, and each row is measured on one server after
// another.
//   --seconds 3    time of one measurement, after a warm-up of a third of it
//   --rounds 3     number of rounds; the results are the median round's ratios
//   --record       writes the table, with the commit, into bench/RESULTS.md, and from there README.md and docs/routes.svg
// Words of their names select rows, which cannot be recorded; `plain` and `again` are always measured.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { connections, wrk } from "../programs.mjs";
import { conditions, record } from "../results.mjs";
import { publish } from "./published.mjs";
import { build, servers, startServices } from "./servers.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    record: { type: "boolean", default: false },
  },
});
if (values.record && positionals.length > 0) throw new Error("--record must measure all rows: leave the names out");
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
const here = fileURLToPath(new URL(".", import.meta.url));
/** Clock ticks per second in /proc/<pid>/stat. */
const ticks = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/**
 * Each row: its name, its path, wrk's additional arguments, whether the peer has it, and which servers it is for, if they
 * have another database's sidecar.
 */
const table = [
  ["plain JSON", "/plain"],
  ["a log line (`console.log`)", "/log"],
  ["`time.nowIso()` and `random.uuid()`", "/values"],
  ["a timer of 1 ms", "/timer"],
  ["one `httpClient.get` to a trivial service", "/call"],
  ["one `cache.get` (SQLite)", "/cached", [], false],
  ["one row by key from PostgreSQL", "/row/4711"],
  ["the same, sidecar in the process", "/row/4711", [], true, "in process"],
  ["the same on SQLite, in the process", "/row/4711", [], false, "on SQLite"],
  ["three such queries, `Promise.all`", "/rows/4711"],
  ["a body of 20 validated items", "/items", ["-s", join(here, "items.lua")]],
  ["HMAC-SHA-256 by `crypto.subtle`", "/hmac"],
  ["a list of 200 objects as JSON", "/objects"],
  ["6 KB of HTML", "/html"],
  ["a loop of 100,000 steps", "/loop"],
  ["plain JSON again, after all of these", "/plain"],
].map(([name, path, more = [], onPeer = true, servers]) => ({ name, path, more, onPeer, servers }));
const [first, last] = [table[0], table.at(-1)];
const wanted = positionals.length === 0 ? table : table.filter(({ name, path }) => named(name) || named(path));
const rows = [first, ...wanted.filter((row) => row !== first && row !== last), last];

function named(text) {
  return positionals.some((word) => text.includes(word));
}

build();
const services = await startServices();
// A signal also ends the started programs.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.once("exit", () => services.stop());

/** Measurements of each row: one per round for each server. */
const measured = new Map(rows.map((row) => [row, { request: [], shared: [], peer: [] }]));
for (let round = 0; round < rounds; round++) {
  const running = {};
  for (const [name, start] of Object.entries(servers)) running[name] = await start(services);
  try {
    for (const row of rows) {
      for (const name of Object.keys(measured.get(row))) {
        if (name === "peer" && !row.onPeer) continue;
        const server = running[row.servers !== undefined && name !== "peer" ? `${name}, ${row.servers}` : name];
        isAnswered(server.base + row.path, row);
        wrk(server.base + row.path, Math.ceil(seconds / 3), row.more);
        const before = processorTime(server.child.pid);
        const result = wrk(server.base + row.path, seconds, row.more);
        const spent = processorTime(server.child.pid) - before;
        measured.get(row)[name].push({ ...result, cost: (spent / result.count) * 1e6 });
      }
      const shown = Object.entries(measured.get(row)).map(([name, results]) => [
        name,
        Math.round(results.at(-1)?.rate),
      ]);
      console.error(`round ${round + 1}, ${row.name}: ${shown.map((pair) => pair.join(" ")).join(", ")}`);
    }
  } finally {
    for (const { child } of Object.values(running)) child.kill("SIGTERM");
  }
}
report();
process.exit();

/** Checks the route's status once, on a connection of its own. */
function isAnswered(url, { more }) {
  const items = /wrk\.body = '(.*)'/.exec(readFileSync(join(here, "items.lua"), "utf8"))[1];
  const post = more.length > 0 ? ["-H", "content-type: application/json", "-d", items] : [];
  const status = execFileSync("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", ...post, url], {
    encoding: "utf8",
  });
  if (status !== "200") throw new Error(`${url}: ${status}`);
}

/** Returns the processor time of a process, in seconds. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}

function report() {
  const of = (row, server, what) => median(measured.get(row)[server].map((result) => result[what]));
  // Ratios within each round; undefined if one of the two was not measured.
  const ratioOf = (above, below) => {
    const ratios = above.map((result, round) => result.rate / below[round]?.rate).filter(Number.isFinite);
    return ratios.length === 0 ? undefined : median(ratios);
  };
  const ratio = (above, below) => ratioOf(above, below)?.toFixed(2) ?? "";
  const lines = [
    "| route | request | shared | Node + Hono | request / Hono | shared / Hono | request / shared |",
    "|---|---:|---:|---:|---:|---:|---:|",
  ];
  for (const row of rows) {
    const { request, shared, peer } = measured.get(row);
    const rates = ["request", "shared", "peer"].map((server) =>
      measured.get(row)[server].length === 0 ? "" : Math.round(of(row, server, "rate")).toLocaleString("en"),
    );
    const ratios = [ratio(request, peer), ratio(shared, peer), ratio(request, shared)];
    lines.push(`| ${[row.name, ...rates, ...ratios].join(" | ")} |`);
  }
  lines.push(
    "",
    "| route | request, against plain | shared, against plain | request, µs of processor | shared, µs | request, p99 / p50 | shared, p99 / p50 |",
    "|---|---:|---:|---:|---:|---:|---:|",
  );
  for (const row of rows) {
    const against = ["request", "shared"].map((server) =>
      ratio(measured.get(row)[server], measured.get(first)[server]),
    );
    const costs = ["request", "shared"].map((server) => of(row, server, "cost").toFixed(0));
    const spread = ["request", "shared"].map((server) => (of(row, server, "p99") / of(row, server, "p50")).toFixed(1));
    lines.push(`| ${[row.name, ...against, ...costs, ...spread].join(" | ")} |`);
  }
  const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: here, encoding: "utf8" }).trim();
  const text = `Commit ${commit}, ${conditions}. ${connections} connections, ${rounds} rounds of ${seconds} s, the load generator, the
services and PostgreSQL on the same processors. Requests a second; a ratio is the median of the rounds' ratios. The processor time
is that of the server's process for one request.

${lines.join("\n")}`;
  if (!values.record) return console.log(text);
  record("bench/routes", text);
  publish();
}
