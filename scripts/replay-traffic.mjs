// Records random requests for `examples/shop`, `examples/hono-app` and scripts/replay/jobs on one `tenon run`, with SQLite, keys, objects, a
// queue and a job; replays all of them, which must be equal; and looks in every recording for the secrets of the requests, also encoded. Then
// it changes single values in copies, which a replay must find.
//
//   npm run build && node scripts/replay-traffic.mjs [--requests 400] [--seed 1] [--at-once 8]
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { record } from "./replay/record.mjs";
import { sabotage } from "./replay/sabotage.mjs";
import { build, tenon } from "./replay/server.mjs";
import { randomOf } from "./sandbox-attack/grammar.mjs";
import { fail, root, say } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    requests: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    "at-once": { type: "string", default: "8" },
  },
});
const [count, seed, atOnce] = [Number(values.requests), Number(values.seed), Number(values["at-once"])];

const folder = join(root, "target/replay", `traffic-${seed}`);
mkdirSync(folder, { recursive: true });
say("Building the three apps");
const components = {
  shop: build("examples/shop", join(folder, "shop")),
  "hono-app": build("examples/hono-app", join(folder, "hono-app")),
  jobs: build("scripts/replay/jobs", join(folder, "jobs")),
};

say(`Recording ${count} requests`);
const project = join(folder, "server");
const began = performance.now();
const { server, requests, statuses, lines, sent } = await record(project, components, {
  count,
  seed,
  atOnce,
});
const seconds = (performance.now() - began) / 1_000;
const files = server.files();
const ids = new Set(
  files.map((name) =>
    name
      .replace(/\.tape$/, "")
      .split("-")
      .slice(3)
      .join("-"),
  ),
);
const missing = Array.from({ length: sent }, (_, n) => `sent-${n}`).filter(
  (id) => !ids.has(id) && !server.leftOut.has(id),
);
const jobs =
  files.length - (sent - missing.length - [...server.leftOut.keys()].filter((id) => id.startsWith("sent-")).length);
console.log(
  `${sent} requests in ${seconds.toFixed(1)} s, with ${jobs} deliveries and runs besides; ${files.length} recordings`,
);
console.log(
  [...statuses]
    .sort()
    .map(([key, n]) => `  ${key}: ${n}`)
    .join("\n"),
);
const reasons = new Map();
for (const [id, why] of server.leftOut) reasons.set(why, [...(reasons.get(why) ?? []), lines.get(id) ?? id]);
for (const [why, all] of reasons)
  console.log(`  not recorded: ${all.length}, because ${why}: ${[...new Set(all)].slice(0, 3).join(", ")}`);
if (missing.length > 0) console.log(`  without a recording and a reason: ${missing.slice(0, 10).join(" ")}`);

say("Looking for secrets");
const forms = [...requests.canaries].flatMap((value) => formsOf(value).map((form) => [value, form]));
// By their beginnings: each place of a file is looked up once, however many secrets there are.
const START = 8;
const byStart = new Map();
for (const [value, form] of forms) {
  const start = form.slice(0, START);
  byStart.set(start, [...(byStart.get(start) ?? []), [value, form]]);
}
const leaksIn = (text) =>
  Array.from({ length: text.length }, (_, at) => byStart.get(text.slice(at, at + START)) ?? []).flatMap((found, at) =>
    found.filter(([, form]) => text.startsWith(form, at)),
  );
const missed = forms.filter(([value, form]) => !leaksIn(`x${form}x`).some(([found]) => found === value));
if (missed.length > 0) fail(`the search does not find ${missed[0].join(" as ")}`);
let bytes = 0;
const leaks = [];
for (const name of files) {
  const text = readFileSync(join(server.recordings, name)).toString("latin1");
  bytes += text.length;
  for (const [value, form] of leaksIn(text)) leaks.push(`${name} has ${value} as ${form}`);
}
console.log(`${forms.length} forms of ${requests.canaries.size} secrets in ${bytes} bytes: ${leaks.length} found`);
if (leaks.length > 0) fail(`secrets are in recordings:\n${leaks.slice(0, 10).join("\n")}`);

say("Replaying");
const replayed = new Map();
const others = [];
const starts = performance.now();
for await (const { file, verdict, found, comparedMemory } of replay(["recordings", "--json"])) {
  const key = `${verdict}${verdict === "same" && !comparedMemory ? ", without a digest of the memory" : ""}`;
  replayed.set(key, (replayed.get(key) ?? 0) + 1);
  if (verdict !== "same") others.push(`${file}: ${JSON.stringify(found)}`);
}
console.log([...replayed].map(([key, n]) => `  ${key}: ${n}`).join("\n"));
console.log(`  in ${((performance.now() - starts) / 1_000).toFixed(1)} s`);
if (others.length > 0) fail(`${others.length} recordings differ (--seed ${seed}):\n${others.slice(0, 10).join("\n")}`);
if (missing.length > 0) fail("requests have no recording, and the log has no reason");

say("Changing single values");
const changedFolder = join(folder, "changed");
rmSync(changedFolder, { recursive: true, force: true });
mkdirSync(changedFolder, { recursive: true });
const changed = sabotage(server.recordings, files, changedFolder, randomOf(seed));
const ways = new Map();
const unseen = [];
for await (const { file, verdict, found } of replay([changedFolder, "--json"])) {
  const { way, event } = changed.get(basename(file));
  const counts = ways.get(way) ?? { all: 0, found: 0, placed: 0 };
  ways.set(way, counts);
  counts.all++;
  if (verdict === "differs") counts.found++;
  // A changed input shows in a later event; a changed output, in its own event.
  if (verdict === "differs" && found.event >= event) counts.placed++;
  else unseen.push(`${way} at event ${event} of ${file}: ${verdict}`);
}
for (const [way, { all, found, placed }] of ways)
  console.log(`  ${way}: ${all}, found ${found}, ${placed} at a place after it`);
if (unseen.length > 0) fail(`changes were not found (--seed ${seed}):\n${unseen.slice(0, 10).join("\n")}`);

/** The lines of `tenon replay`. */
async function* replay(args) {
  const child = spawn(process.execPath, [tenon, "replay", ...args], {
    cwd: project,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    yield* lines.map((line) => JSON.parse(line));
  }
}

/** A value as it is, in hexadecimal digits, percent-encoded, and in base 64 at each offset, as bytes in Latin-1. */
function formsOf(value) {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const forms = [
    bytes.toString("latin1"),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(value),
    encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
    JSON.stringify(value).slice(1, -1),
  ];
  for (const offset of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const text = padded.toString("base64").slice([0, 2, 3][offset], Math.floor(padded.length / 3) * 4);
    forms.push(text, text.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...new Set(forms)];
}
