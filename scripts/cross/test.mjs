// Tests what build.mjs built, in a root with the target's own C library, by qemu where the processor is another:
//
//   node scripts/cross/test.mjs <target>... [--only load,units,suites,isolation]
//
// - load: the addon and the file itself (inspect.mjs), and the engine's revision.
// - suites: end-to-end tests of routes, exchange, streams, faults and embedding.
// - units, isolation: the crates that depend on the system, and a short comparison of instances, from `build.mjs --tests`.
//
// Components are built on this machine, and so is machine code of the engine: both are the same for every system.
import { cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, run, say, setUp } from "../setup.mjs";
import { builtAddon, inspect } from "./inspect.mjs";
import { addonOf, targets } from "./targets.mjs";

/** The crates whose tests are about the system. */
export const crates = ["tenon-code", "tenon-memory", "tenon-trusted-folder", "tenon-snapshot", "tenon-runtime"];

const suites = ["routes", "exchange", "streams", "faults", "embedding"].map((name) => `cli/e2e/${name}.test.ts`);

const parts = { load, units, suites: endToEnd, isolation };
const { values, positionals } = parseArgs({
  options: { only: { type: "string", default: Object.keys(parts).join(",") } },
  allowPositionals: true,
});
const chosen = values.only.split(",");
for (const part of chosen) if (!(part in parts)) fail(`${part} must be one of ${Object.keys(parts).join(", ")}`);
if (positionals.length === 0) fail(`name a target: ${Object.keys(targets).join(", ")}`);

for (const name of positionals) {
  const target = targets[name] ?? fail(`${name} must be one of ${Object.keys(targets).join(", ")}`);
  const { machine } = await import(`./${target.family}.mjs`);
  if (machine === undefined) fail(`nothing here runs ${name}`);
  const here = await machine(name);
  for (const part of chosen) {
    const began = Date.now();
    say(`${name}: ${part}`);
    await parts[part](name, target, here);
    say(`${name}: ${part}: ${Math.round((Date.now() - began) / 1000)} s`);
  }
}

/** Runs a program on the target's machine, and ends this process when it fails. */
function must(here, program, args, options) {
  const { status } = here.run(program, args, options);
  if (status !== 0) fail(`${[program, ...args].join(" ")} failed (${status})`);
}

function load(name, _target, here) {
  if (!existsSync(builtAddon(name))) fail(`${name} must be built first: node scripts/cross/build.mjs ${name}`);
  console.log(JSON.stringify(inspect(name)));
  const program = `
    const { engineRevision, engineFunctions } = require("./bindings/index.js");
    if (engineFunctions(true).length === 0) throw new Error("the engine must have functions");
    console.log(process.version, process.platform, process.arch, engineRevision());`;
  addonIn(here, name);
  must(here, "node", ["-e", program]);
}

/** Puts the addon of the target where the loader looks for it, in the view that the machine has of the tree. */
function addonIn(here, name) {
  const place = join(here.changes, "bindings", addonOf(name));
  mkdirSync(join(here.changes, "bindings"), { recursive: true });
  cpSync(builtAddon(name), place);
}

/** Builds the components on this machine, and compiles the engine for the target, so that no emulated program has to. */
function prepareSuites(name, { os, cpu }, here) {
  setUp();
  run("npx", ["vitest", "run", "--project", "e2e", "--passWithNoTests", "-t", "none of them", suites[0]], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  addonIn(here, name);
  const platform = `${os}-${cpu}`;
  run(process.execPath, ["cli/scripts/pack-engine.mjs", "--if-stale", platform]);
}

function endToEnd(name, target, here) {
  prepareSuites(name, target, here);
  // Other servers than Tenon's, and components with another engine, are not the target's.
  const ours = "^(?!.*(?:jco serve|wasmtime serve|made by componentize-js))";
  must(here, "node", ["node_modules/vitest/vitest.mjs", "run", "--project", "e2e", "-t", ours, ...suites], {
    env: { CI: "true", TENON_LEAVE_OUT: "wasmtime", NO_COLOR: "1" },
  });
}

/** The programs that `build.mjs --tests` made. */
function testsOf(name) {
  const folder = join(root, "target/cross-tests", name);
  if (!existsSync(folder))
    fail(`build the tests first: node scripts/cross/build.mjs ${name} --profile dev --tests ${crates}`);
  return readdirSync(folder).map((file) => join(folder, file));
}

function units(name, _target, here) {
  for (const program of testsOf(name)) {
    say(program.split("/").at(-1));
    must(here, program, ["--test-threads", "2"], { cwd: crateOf(program) });
  }
}

/** The folder that cargo runs a crate's tests in. */
function crateOf(program) {
  return join(
    root,
    "crates",
    program
      .split("/")
      .at(-1)
      .replace(/^tenon_/, "")
      .replaceAll("_", "-"),
  );
}

function isolation(name, _target, here) {
  const program =
    testsOf(name).find((file) => file.endsWith("tenon_runtime")) ?? fail("build the tests of tenon-runtime");
  const settings = { requests: "300", condition: "none", seed: "1", modules: "4", round: "300", share: "4", leave: "" };
  const component = join(root, "scripts/isolation/dist/isolation.wasm");
  const env = { TENON_ISOLATION_JAVASCRIPT: existsSync(component) ? component : "" };
  for (const [key, value] of Object.entries(settings)) env[`TENON_ISOLATION_${key.toUpperCase()}`] = value;
  must(here, program, ["isolation::tests::campaign", "--exact", "--ignored", "--nocapture"], {
    env,
    cwd: crateOf(program),
  });
}
