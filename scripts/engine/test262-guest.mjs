// Runs test262 in the guest engine, a new instance for each test, in Node's WebAssembly:
//   node scripts/engine/test262-guest.mjs <checkout> [--every 5] [--jobs 2] [--filter <text>] [--failures <file>]
//     [--again <file>] [--engine <file>]
// Prints the figures, and a table of the features of the tests that fail. `--again` runs only the tests that a file of
// `--failures` names.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { build } from "esbuild";
import { argumentsOf } from "../usage.mjs";
import { test262 } from "./test262.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TIMEOUT_MS = 30_000;

/** Features that an engine has as a whole or not at all; other tests are counted by their folders. */
const wholeFeatures = [
  "Temporal",
  "ShadowRealm",
  "Atomics.waitAsync",
  "Atomics",
  "SharedArrayBuffer",
  "tail-call-optimization",
  "decorators",
  "import-defer",
  "source-phase-imports",
  "await-dictionary",
  "legacy-regexp",
  "canonical-tz",
  "immutable-arraybuffer",
];

if (isMainThread) await main();
else await work();

async function main() {
  const { values, positionals } = argumentsOf(import.meta.url, {
    options: {
      every: { type: "string", default: "1" },
      jobs: { type: "string", default: "2" },
      filter: { type: "string", default: "" },
      failures: { type: "string" },
      again: { type: "string" },
      engine: { type: "string", default: join(root, "crates/engine/engine.wasm") },
    },
    allowPositionals: true,
  });
  const checkout = resolve(positionals[0]);
  const { tests, leftOut } = test262(checkout);
  const again =
    values.again &&
    new Set(
      readFileSync(values.again, "utf8")
        .split("\n")
        .map((line) => line.split("\t")[0]),
    );
  const chosen = tests.filter(
    ({ id }, index) =>
      index % Number(values.every) === 0 && id.includes(values.filter) && (again === undefined || again.has(id)),
  );
  const data = { checkout, engine: resolve(values.engine), bundle: await bundled() };
  const reports = new Map(chosen.map((test) => [test, undefined]));
  const queue = [...chosen];
  await Promise.all(Array.from({ length: Number(values.jobs) }, () => runAll(queue, data, reports)));

  const failures = [];
  const groups = new Map();
  for (const [test, report] of reports) {
    const group = wholeFeatures.find((feature) => test.features.includes(feature)) ?? folderOf(test.id);
    const counts = groups.get(group) ?? { all: 0, failed: 0 };
    groups.set(group, counts);
    counts.all++;
    if (test.verdict(report) === "pass") continue;
    counts.failed++;
    failures.push(`${test.id}\t${report.slice(0, 600)}`);
  }
  const rows = [...groups].filter(([, { failed }]) => failed > 0).sort(([, a], [, b]) => b.failed - a.failed);
  console.log(`${chosen.length - failures.length} of ${chosen.length} tests pass`);
  console.log("| feature or folder | tests | fail |\n|---|---:|---:|");
  for (const [name, { all, failed }] of rows) console.log(`| \`${name}\` | ${all} | ${failed} |`);
  for (const [reason, count] of leftOut) console.log(`left out ${count}: ${reason}`);
  if (values.failures) writeFileSync(values.failures, failures.map((line) => `${line}\n`).join(""));
}

/** Returns the folder of the parts of the language, or of one built-in object. */
function folderOf(id) {
  const parts = id.split("/");
  if (parts[0] === "intl402") return parts[0];
  return parts.slice(0, parts[2] === "dynamic-import" ? 3 : 2).join("/");
}

/** Runs tests of the queue in one thread after another; a test that never ends takes its thread with it. */
async function runAll(queue, data, reports) {
  for (let worker; ; ) {
    const test = queue.shift();
    if (test === undefined) return worker?.terminate();
    worker ??= new Worker(fileURLToPath(import.meta.url), { workerData: data, resourceLimits: { stackSizeMb: 16 } });
    const current = worker;
    const report = await new Promise((resolve) => {
      const timer = setTimeout(() => end("timed out"), TIMEOUT_MS);
      const end = (text) => {
        clearTimeout(timer);
        current.off("message", end).off("error", fail);
        resolve(text);
      };
      const fail = (thrown) => end(`trapped: ${thrown}`);
      current.on("message", end).on("error", fail);
      current.postMessage(JSON.stringify(test.task()));
    });
    reports.set(test, report);
    if (queue.length % 1000 === 0) console.error(`${queue.length} tests are left`);
    if (!report.startsWith("{")) {
      await worker.terminate();
      worker = undefined;
    }
  }
}

/** The probe as a handler. */
async function bundled() {
  const { outputFiles } = await build({
    stdin: {
      contents: `
import { utf8Decode, utf8Encode } from "tenon:engine";
import { probe } from "./scripts/engine/probe.js";
export const handler = {
  handle: async ({ body }) => ({ status: 200, headers: [], body: utf8Encode(await probe(utf8Decode(body))) }),
};`,
      resolveDir: root,
    },
    // realm.js saves these classes of other engines, and tests of the language have nothing to do with them.
    banner: { js: "const URL = class {}, TextEncoder = class {}, TextDecoder = class {};" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    external: ["tenon:engine"],
    logLevel: "error",
  });
  return outputFiles[0].text;
}

async function work() {
  const { engine, bundle } = workerData;
  const { outputFiles } = await build({
    entryPoints: [join(root, "guest/testing/engine.ts")],
    write: false,
    format: "esm",
    logLevel: "error",
  });
  const { startEngine } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  parentPort.on("message", (task) => {
    try {
      const started = startEngine(engine, bundle);
      const { body } = started.handle({ body: new TextEncoder().encode(task) });
      const text = new TextDecoder().decode(body ?? new Uint8Array());
      parentPort.postMessage(text.startsWith("{") ? text : `no report: ${started.printed().slice(0, 500)}`);
    } catch (thrown) {
      parentPort.postMessage(`trapped: ${String(thrown).slice(0, 500)}`);
    }
  });
}
