// The cost of recordings: routes of bench/routes on servers without recordings, with those of failures, and with all.
//   npm run build && node bench/record/run.mjs [--requests 2000] [--rounds 3] [--routes plain,row,items,html] [--json file]
// It sends --requests to each server for each route in each round, in turns of 250, so that the servers share the machine's moods. It prints
// processor time per request, that of a second server without recordings as a measure of the noise, the part of the requests that was
// recorded, and the bytes of a recording. A run takes some two minutes. ext4 searches past the inodes of files that were removed in the last
// minutes, which costs a recording up to a millisecond: run it where little was removed, or with TMPDIR=/dev/shm.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { firstLine } from "../programs.mjs";
import { build } from "../routes/servers.mjs";
import { load } from "./load.mjs";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "2000" },
    rounds: { type: "string", default: "3" },
    routes: { type: "string", default: "plain,row,items,html" },
    json: { type: "string" },
  },
});
const [requests, rounds] = [Number(values.requests), Number(values.rounds)];
/** Requests in a turn. */
const turn = 250;
const root = fileURLToPath(new URL("../..", import.meta.url));
const tenon = join(root, "cli/bin/tenon.js");

const item = { sku: "A-1", name: "A pen, blue", quantity: 3, price: 1.5 };
const items = { method: "POST", body: JSON.stringify({ items: Array.from({ length: 20 }, () => item) }) };
const all = {
  plain: ["plain JSON", "/plain"],
  values: ["time and random values", "/values"],
  call: ["one call", "/call"],
  row: ["a row of SQLite", "/row/7"],
  items: ["a body of 20 validated items", "/items", items],
  objects: ["a list of 200 objects", "/objects"],
  html: ["HTML", "/html"],
};
const routes = values.routes.split(",").map((name) => {
  if (all[name] === undefined) throw new Error(`--routes must be some of ${Object.keys(all).join(", ")}`);
  return all[name];
});
const kinds = { none: "", control: "", failures: "failures = true", all: "share = 1.0" };

build();
const echo = createServer((_, answer) => answer.end("ok"));
const port = await new Promise((resolve) => echo.listen(0, "127.0.0.1", () => resolve(echo.address().port)));
const folder = mkdtempSync(join(tmpdir(), "tenon-record-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const measured = new Map(routes.map(([name]) => [name, { turns: [], recorded: 0, sent: 0, bytes: 0 }]));
for (let round = 1; round <= rounds; round++) {
  const running = {};
  for (const kind of Object.keys(kinds)) running[kind] = await start(kind);
  for (const [name, path, options = {}] of routes) {
    process.stderr.write(`round ${round} of ${rounds}: ${name}\n`);
    const found = measured.get(name);
    for (const [kind, { base }] of Object.entries(running)) {
      const before = recordings(kind);
      await load(base + path, { count: turn, ...options });
      await settled(kind, before + (kind === "all" ? turn : 0));
    }
    for (let sent = 0; sent < requests; sent += turn) {
      // Each kind is the first as often as the others.
      const order = Object.entries(running);
      order.push(...order.splice(0, (sent / turn) % order.length));
      const costs = {};
      for (const [kind, server] of order) {
        const [before, time] = [recordings(kind), processorTime(server.child.pid)];
        await load(server.base + path, { count: turn, ...options });
        const after = await settled(kind, before + (kind === "all" ? turn : 0));
        costs[kind] = (processorTime(server.child.pid) - time) / turn;
        if (kind !== "all") continue;
        found.recorded += after - before;
        found.sent += turn;
      }
      found.turns.push(costs);
    }
    found.bytes = newest("all");
  }
  for (const { child } of Object.values(running)) {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}

const quantile = (numbers, part) => [...numbers].sort((a, b) => a - b)[Math.floor(part * (numbers.length - 1))];
const percent = (ratio) => `${ratio < 1 ? "" : "+"}${((ratio - 1) * 100).toFixed(1)}`;
console.log(
  "| route | without, µs | again without, % | failures, % | all, % | all, µs | recorded, % | bytes of a recording |",
);
console.log("|---|---:|---:|---:|---:|---:|---:|---:|");
for (const [name, { turns, recorded, sent, bytes }] of measured) {
  const cell = (kind) => {
    const ratios = turns.map((costs) => costs[kind] / costs.none);
    return `${percent(quantile(ratios, 0.5))} (${percent(quantile(ratios, 0.25))} to ${percent(quantile(ratios, 0.75))})`;
  };
  const more = quantile(
    turns.map((costs) => costs.all - costs.none),
    0.5,
  );
  const none = quantile(
    turns.map((costs) => costs.none),
    0.5,
  );
  const cells = [name, none.toFixed(1), cell("control"), cell("failures"), cell("all"), `+${more.toFixed(1)}`];
  console.log(`| ${[...cells, Math.round((recorded / sent) * 100), bytes].join(" | ")} |`);
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(Object.fromEntries(measured)));
process.exit();

/** Starts a server. */
async function start(kind) {
  const own = join(folder, kind);
  rmSync(own, { recursive: true, force: true });
  mkdirSync(join(own, "migrations/sqlite"), { recursive: true });
  const record = kinds[kind] && `[record]\nfolder = "tapes"\nmax_bytes = 4_000_000_000\n${kinds[kind]}\n`;
  const sidecars = `[sidecars]\necho = "http://127.0.0.1:${port}"\ndb = { run = "sql", url = "sqlite:users.db" }\n`;
  writeFileSync(join(own, "tenon.toml"), `[project]\nname = "routes"\n\n[server]\nport = 0\n\n${sidecars}\n${record}`);
  writeFileSync(
    join(own, "migrations/sqlite/0001_users.sql"),
    `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age INTEGER NOT NULL);
INSERT INTO users WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
  SELECT i, 'user ' || i, 'user' || i || '@example.com', i % 90 FROM n;
`,
  );
  execFileSync(process.execPath, [tenon, "migrate"], { cwd: own, stdio: "ignore" });
  const args = [tenon, "run", "--json", join(root, "bench/routes/dist/routes.wasm")];
  const child = spawn(process.execPath, args, { cwd: own, stdio: ["ignore", "pipe", "ignore"] });
  const url = JSON.parse(await firstLine(child)).url;
  return { child, base: `${url}/run/routes` };
}

/** The number of recordings of a server. Its folder is read, because a question to the server would take its time. */
function recordings(kind) {
  return kinds[kind] === ""
    ? 0
    : readdirSync(join(folder, kind, "tapes")).filter((name) => name.endsWith(".tape")).length;
}

/** Waits until a server has written a number of recordings, or none for 200 ms, and returns how many there are. */
async function settled(kind, expected) {
  let [count, since] = [recordings(kind), performance.now()];
  while (count < expected && performance.now() - since < 200) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const now = recordings(kind);
    if (now > count) [count, since] = [now, performance.now()];
  }
  return count;
}

/** The size of the newest recording. */
function newest(kind) {
  const tapes = join(folder, kind, "tapes");
  const name = readdirSync(tapes).sort().at(-1);
  return name === undefined ? 0 : statSync(join(tapes, name)).size;
}

/** The processor time of all threads of a process, in microseconds. */
function processorTime(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((all, time) => all + time, 0) / 1000;
}
