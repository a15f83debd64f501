// Checks that Tenon's engine behaves like the original: runs test262 and the Web Platform Tests that StarlingMonkey
// lists on the unmodified engine and on Tenon's, and compares the result of each test.
//
//   node scripts/engine-equality.mjs                                        Tenon's own tests, some seconds
//   node scripts/engine-equality.mjs test262 <checkout> [--every 10]        all of test262, or every tenth test
//   node scripts/engine-equality.mjs wpt <checkout> --starlingmonkey <checkout>
//
// Options: `--legs unmodified,ours,…` (scripts/engine/legs.mjs), `--filter <text>` runs tests whose name contains it,
// `--jobs <n>` concurrent requests for each leg, `--timeout <ms>` for a test, `--results <file>` every test's verdicts,
// tab-separated, `--wasmtime <program>` serves the unmodified engine with `wasmtime serve`, so that no part of Tenon is
// in that leg, `--component <file>` replaces the built component of `ours`, for example with one that was broken on
// purpose. It ends with 1 when reports differ, or when one of Tenon's own tests fails.
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compare } from "./engine/compare.mjs";
import { known, startLeg } from "./engine/legs.mjs";
import { sample } from "./engine/sample.mjs";
import { test262 } from "./engine/test262.mjs";
import { outbound, startWptServer, wpt } from "./engine/wpt.mjs";
import { fail, root, say } from "./setup.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    legs: { type: "string", default: "unmodified,ours" },
    every: { type: "string", default: "1" },
    filter: { type: "string", default: "" },
    jobs: { type: "string", default: "2" },
    timeout: { type: "string", default: "30000" },
    starlingmonkey: { type: "string" },
    wasmtime: { type: "string" },
    component: { type: "string" },
    results: { type: "string" },
    show: { type: "string", default: "20" },
    width: { type: "string", default: "400" },
  },
});
const [suite = "sample", checkout] = positionals;
const names = values.legs.split(",");
const unknown = names.find((name) => !Object.hasOwn(known, name));
if (unknown !== undefined) fail(`there is no leg ${unknown}; use ${Object.keys(known).join(", ")}`);
if (!["sample", "test262", "wpt"].includes(suite)) fail(`there is no suite ${suite}; use sample, test262 or wpt`);
if (suite !== "sample" && checkout === undefined) fail(`${suite} is read from a checkout: name its folder`);
if (suite === "wpt" && values.starlingmonkey === undefined)
  fail("its list is in StarlingMonkey: --starlingmonkey <checkout>");

const scratch = join(root, "target/engine");
// The servers end with this process, even after a signal.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
mkdirSync(scratch, { recursive: true });
const stopServer = suite === "wpt" ? await startWptServer(resolve(checkout), scratch) : undefined;
const legs = [];
try {
  const { tests, leftOut } = await read();
  const options = { timeoutMs: Number(values.timeout), outbound: suite === "wpt" ? outbound : [] };
  for (const name of names) {
    const { wasmtime, component } = values;
    legs.push(await startLeg(name, { ...options, wasmtime, component: component && resolve(component) }));
  }
  say(`${suite}: ${tests.length} tests on ${legs.map(({ name, server }) => `${name} (${server})`).join(" and ")}`);
  const results = values.results === undefined ? undefined : openResults(values.results);
  const begun = performance.now();
  const compared = await compare(tests, legs, {
    jobs: Number(values.jobs),
    onProgress: (done) => {
      if (done % 5000 === 0)
        console.error(`${done} of ${tests.length}, ${Math.round((performance.now() - begun) / 1000)} s`);
    },
    onResult: (id, verdicts, reports) => results?.write(`${id}\t${verdicts.join("\t")}\t${reports[0].slice(0, 500)}\n`),
  });
  results?.end();
  await report(compared, leftOut, (performance.now() - begun) / 1000);
  const isGood = suite !== "sample" || compared.verdicts.get("pass") === compared.ran;
  process.exitCode = compared.different.length === 0 && compared.ran > 0 && isGood ? 0 : 1;
} finally {
  await Promise.all(legs.map((leg) => leg.stop()));
  await stopServer?.();
}

async function read() {
  const { tests, leftOut } =
    suite === "sample"
      ? sample()
      : suite === "test262"
        ? test262(resolve(checkout))
        : await wpt(resolve(values.starlingmonkey));
  const every = Number(values.every);
  return { tests: tests.filter(({ id }, index) => index % every === 0 && id.includes(values.filter)), leftOut };
}

function openResults(file) {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  return createWriteStream(file);
}

async function report({ ran, verdicts, different, unsteady, digest, folders }, leftOut, seconds) {
  const counts = Object.entries(folders).map(([name, count]) => `, ${name} ${count}`);
  console.log(`ran ${ran} tests in ${Math.round(seconds)} s${suite === "sample" ? "" : counts.join("")}`);
  if (suite === "wpt") {
    const sum = (at) => [...verdicts].reduce((all, [verdict, n]) => all + n * Number(verdict.split(" of ")[at]), 0);
    console.log(`subtests of the first leg: ${sum(0)} of ${sum(1)} pass`);
  } else {
    console.log(`verdicts of the first leg: ${[...verdicts].map(([name, n]) => `${name} ${n}`).join(", ")}`);
  }
  for (const [reason, count] of leftOut) console.log(`left out ${count}: ${reason}`);
  for (const leg of legs) console.log(`${leg.name}: ${await leg.used()}`);
  console.log(`digest of the verdicts: ${digest}`);
  print("unsteady, with a verdict in common", unsteady);
  print("DIFFERENT", different);
}

function print(title, found) {
  console.log(`${title}: ${found.length}`);
  for (const { id, reports, verdicts } of found.slice(0, Number(values.show))) {
    console.log(`  ${id}`);
    for (const [name, all] of Object.entries(reports)) {
      for (const each of new Set(all))
        console.log(`    ${name} (${verdicts[name]}): ${each.slice(0, Number(values.width))}`);
    }
  }
}
