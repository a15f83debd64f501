// Serves the handler of examples/hello with several servers, side by side in one run on one machine:
//   (cd examples/hello && npx tenon build -rc) && npm --prefix bench/serve ci && node bench/serve/run.mjs
// Needs wrk and wasmtime 48 (or WASMTIME with its path). A server without its program is skipped. With names of servers as arguments it starts these alone, and records nothing. Prints a table and writes it into bench/RESULTS.md.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connections, wrk } from "../programs.mjs";
import { conditions, record } from "../results.mjs";
import { honoBaseline, root, servers, stop } from "./servers.mjs";

const seconds = Number(process.env.SECONDS ?? 5);
/** Number of starts of each server; the first start fills the caches for the others. */
const starts = 4;
const post = join(root, "bench/serve/post.lua");
const routes = {
  "GET /hello/{name}": ["/hello/Ada"],
  "POST /users": ["/users", "-s", post],
  "GET /search": ["/search?q=ada&page=2&limit=5"],
};

const rows = [];
const wanted = process.argv.slice(2);
for (const [name, start] of Object.entries(servers)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const times = [];
  let server;
  try {
    for (let count = 0; count < starts; count++) {
      if (server) await stop(server);
      const began = performance.now();
      server = await start();
      await answers(server);
      times.push(performance.now() - began);
    }
  } catch (error) {
    console.error(`${name} is left out: ${error.message}`);
    continue;
  }
  const [, ...cached] = times;
  const row = { name, first: cached.sort((a, b) => a - b)[Math.floor(cached.length / 2)] };
  for (const [route, [path, ...more]] of Object.entries(routes)) {
    const load = () => {
      loaded(server.base + path, 1, more);
      return loaded(server.base + path, seconds, more);
    };
    try {
      row[route] = load();
    } catch (error) {
      console.error(`${name} is started again: ${error.message}`);
      await stop(server);
      server = await start();
      await answers(server);
      row[route] = load();
    }
  }
  row.memory = resident(server);
  rows.push(row);
  console.error(`${name}: ${JSON.stringify(row)}`);
  await stop(server);
}
report(rows);

async function answers({ child, base }) {
  while (child.exitCode === null) {
    const status = await fetch(`${base}/hello/Ada`).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 200) return;
    if (status !== undefined) throw new Error(`it answers ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`it ended with ${child.exitCode}`);
}

/** Does the same as {@link wrk}, and requires more than a few answers. */
function loaded(url, duration, more) {
  const result = wrk(url, duration, more);
  // After a load with bodies, wasmtime serve may accept connections and answer almost nothing.
  if (result.count < 100) throw new Error(`${url}: hardly a request was answered`);
  return result;
}

/** Returns the resident memory of the process and its children, in MiB. */
function resident({ child, group }) {
  const pids = group
    ? execFileSync("pgrep", ["-g", String(child.pid)], { encoding: "utf8" })
        .trim()
        .split("\n")
    : [child.pid];
  const of = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  return pids.reduce((sum, pid) => sum + of(pid), 0) / 1024;
}

function report(measured) {
  const find = (wanted) => measured.find(({ name }) => name === wanted);
  const baseOf = ({ name }) => find(name.startsWith("Hono on Tenon") ? honoBaseline : "wasmtime serve");
  const node = find("Node + Hono");
  const lines = [];
  for (const route of Object.keys(routes)) {
    lines.push(
      `### ${route}`,
      "",
      "| server | requests/s | × wasmtime serve | × Node + Hono | p50 ms | p99 ms |",
      "|---|---:|---:|---:|---:|---:|",
    );
    for (const row of measured) {
      const { rate, p50, p99 } = row[route];
      const ratio = (to) => (to === undefined ? "" : (rate / to[route].rate).toFixed(2));
      lines.push(
        `| ${row.name} | ${Math.round(rate)} | ${ratio(baseOf(row))} | ${ratio(node)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} |`,
      );
    }
    lines.push("");
  }
  lines.push(
    "| server | resident MiB after load | start to first answer ms, median of three, cached |",
    "|---|---:|---:|",
  );
  for (const { name, memory, first } of measured)
    lines.push(`| ${name} | ${Math.round(memory)} | ${Math.round(first)} |`);
  if (wanted.length > 0) return console.log(lines.join("\n"));
  record(
    "bench/serve",
    `${connections} connections, ${seconds} s each, ${conditions}. The load generator runs on the same processors.\n\n${lines.join("\n")}`,
  );
}
