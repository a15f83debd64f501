// The cost of recordings: routes of bench/routes on three servers, without recordings, with those of failures, and with all.
//   npm run build && node bench/record/run.mjs [--seconds 3] [--rounds 3]
// Needs wrk. It prints processor time per request as a ratio to the server without recordings, the part of the requests that was
// recorded, and the bytes of a recording.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { firstLine, wrkLater } from "../programs.mjs";
import { build } from "../routes/servers.mjs";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "3" }, rounds: { type: "string", default: "3" } },
});
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
/** Clock ticks per second in /proc/<pid>/stat. */
const ticks = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const root = fileURLToPath(new URL("../..", import.meta.url));
const rows = [
  ["plain JSON", "/plain"],
  ["time and random values", "/values"],
  ["one call", "/call"],
  ["a body of 20 validated items", "/items", ["-s", join(root, "bench/routes/items.lua")]],
  ["a list of 200 objects", "/objects"],
];
const kinds = { none: "", failures: "failures = true", all: "share = 1.0" };

build();
const echo = createServer((_, answer) => answer.end("ok"));
const port = await new Promise((resolve) => echo.listen(0, "127.0.0.1", () => resolve(echo.address().port)));
const folder = mkdtempSync(join(tmpdir(), "tenon-record-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const measured = new Map(rows.map(([name]) => [name, { none: [], failures: [], all: [] }]));
for (let round = 0; round < rounds; round++) {
  const running = {};
  for (const kind of Object.keys(kinds)) running[kind] = await start(kind);
  for (const [name, path, more = []] of rows) {
    for (const [kind, { child, base }] of Object.entries(running)) {
      await wrkLater(base + path, Math.ceil(seconds / 3), more);
      const files = recordings(kind);
      const before = processorTime(child.pid);
      // Not blocking, because the called service runs here.
      const result = await wrkLater(base + path, seconds, more);
      const cost = ((processorTime(child.pid) - before) / result.count) * 1e6;
      const made = recordings(kind);
      measured.get(name)[kind].push({ cost, share: (made.count - files.count) / result.count, size: made.newest });
    }
  }
  for (const { child } of Object.values(running)) {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}
console.log("| route | without, µs | failures | all | recorded | bytes of a recording |");
console.log("|---|---:|---:|---:|---:|---:|");
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
for (const [name, { none, failures, all }] of measured) {
  const ratio = (some) => median(some.map(({ cost }, round) => cost / none[round].cost)).toFixed(2);
  const share = `${Math.round(median(all.map(({ share }) => share)) * 100)} %`;
  const cells = [name, Math.round(median(none.map(({ cost }) => cost))), ratio(failures), ratio(all), share];
  console.log(`| ${[...cells, Math.round(median(all.map(({ size }) => size)))].join(" | ")} |`);
}
process.exit();

/** Starts a server. */
async function start(kind) {
  const own = join(folder, kind);
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own);
  const record = kinds[kind] && `[record]\nfolder = "tapes"\nmax_bytes = 4_000_000_000\n${kinds[kind]}\n`;
  const sidecars = `[sidecars]\necho = "http://127.0.0.1:${port}"\n`;
  writeFileSync(join(own, "tenon.toml"), `[project]\nname = "routes"\n\n[server]\nport = 0\n\n${sidecars}\n${record}`);
  const args = [join(root, "cli/bin/tenon.js"), "run", "--json", join(root, "bench/routes/dist/routes.wasm")];
  const child = spawn(process.execPath, args, { cwd: own, stdio: ["ignore", "pipe", "ignore"] });
  return { child, base: `${JSON.parse(await firstLine(child)).url}/run/routes` };
}

/** Counts the recordings of a server. The newest is taken as an example of its route. */
function recordings(kind) {
  if (kinds[kind] === "") return { count: 0, newest: 0 };
  const tapes = join(folder, kind, "tapes");
  const names = readdirSync(tapes).filter((name) => name.endsWith(".tape"));
  const newest = names.sort().at(-1);
  return { count: names.length, newest: newest === undefined ? 0 : statSync(join(tapes, newest)).size };
}

/** Returns the processor time of a process, in seconds. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}
