// Tests isolation: sends random requests to random handlers and to one in JavaScript, and compares each instance with a
// fresh one (crates/runtime/src/isolation; docs/design.md, "Isolation is compared").
//
//   node scripts/isolation.mjs [--requests 10000] [--condition none | no-scan | pressure | fork] [--seed 1]
//                              [--modules 24] [--round 10000] [--share 4] [--no-javascript] [--kept] [--leave "page 255"] [--record]
//
// `--kept` uses the random modules of the repository, and makes no others; `.ci/run` uses it.
// `--leave` leaves something out when an instance is restored, which the comparison must find: a page or a global of the engine by its
// number, "field" for one of the host's, or "object" for one of the collector's.
// `--record` records every request, and replays it at the end of its round.
// One in `share` requests goes to JavaScript. `pressure` pages memory out; without swap space that affects files only.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fail, isStale, root, run, say, setUp } from "./setup.mjs";
import { argumentsOf } from "./usage.mjs";

const conditions = ["none", "no-scan", "pressure", "fork"];
const { values } = argumentsOf(import.meta.url, {
  options: {
    requests: { type: "string", default: "10000" },
    condition: { type: "string", default: "none" },
    seed: { type: "string", default: "1" },
    modules: { type: "string", default: "24" },
    round: { type: "string", default: "10000" },
    share: { type: "string", default: "4" },
    "no-javascript": { type: "boolean", default: false },
    kept: { type: "boolean", default: false },
    leave: { type: "string", default: "" },
    record: { type: "boolean", default: false },
  },
});
if (!conditions.includes(values.condition)) fail(`there is no condition ${values.condition}: ${conditions.join(", ")}`);

const project = join(root, "scripts/isolation");
const component = join(project, "dist/isolation.wasm");
if (!values["no-javascript"]) {
  await setUp();
  const sources = [
    "scripts/isolation/src",
    "scripts/isolation/tenon.toml",
    "ts-sdk/dist",
    "cli/dist",
    "guest/dist",
    "wit",
  ];
  if (isStale("scripts/isolation/dist/isolation.wasm", sources)) {
    say("Building the handler in JavaScript");
    run(process.execPath, [join(root, "cli/bin/tenon.js"), "build", "-r"], { cwd: project });
  }
}

// Enough for a campaign of a million requests to use other modules in each round.
const random = join(root, "target/isolation", values.seed);
if (!values.kept && !existsSync(random)) {
  say("Making random modules");
  const rounds = Math.ceil(Number(values.requests) / Number(values.round));
  const count = String(Math.min(5_000, Math.max(200, rounds * Number(values.modules))));
  run("cargo", ["run", "--quiet", "--release", "--", values.seed, count, random], { cwd: join(root, "crates/smith") });
}

say(`Comparing instances for ${values.requests} requests (${values.condition})`);
const env = { ...process.env, TENON_ISOLATION_JAVASCRIPT: values["no-javascript"] ? "" : component };
env.TENON_ISOLATION_RECORD = String(values.record);
if (!values.kept) env.TENON_ISOLATION_FOLDER = random;
for (const name of ["requests", "condition", "seed", "modules", "round", "share", "leave"]) {
  env[`TENON_ISOLATION_${name.toUpperCase()}`] = values[name];
}
const test = ["isolation::tests::campaign", "--exact", "--ignored", "--nocapture"];
const { status } = spawnSync("cargo", ["test", "--workspace", "--quiet", "--lib", "--", ...test], {
  cwd: root,
  env,
  stdio: ["ignore", "ignore", "inherit"],
});
if (status !== 0) fail(`an instance differs from a fresh one (--seed ${values.seed})`);
