// Tests what build.mjs built, in a root with the target's own C library, by qemu where the processor is another:
//
//   node scripts/cross/test.mjs <target>... [--only load,install,image,units,suites,isolation] [--suites routes,streams] [--node <version of Node>]
//
// - load: the addon and the file itself (inspect.mjs), and the engine's revision.
// - install: `npm install` of the packed packages, `tenon new`, `build`, `run` and one request.
// - suites: end-to-end tests (suites.mjs).
// - image: the static program of deploy/Containerfile.static in a root of its own, from `build.mjs --server`; for musl.
// - units, isolation: the crates that depend on the system, and a short comparison of instances, from `build.mjs --tests`.
//
// Components are built on this machine, and so is machine code of the engine: both are the same for every system.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { publishedName } from "../names.mjs";
import { pack } from "../packed.mjs";
import { fail, root, run, say, setUp } from "../setup.mjs";
import { addNotices, notices } from "../third-party.mjs";
import { argumentsOf } from "../usage.mjs";
import { releasable } from "../version.mjs";
import { builtAddon, inspect } from "./inspect.mjs";
import { building, running, suites } from "./suites.mjs";
import { addonOf, checkTargets, crates, serverOf, suffixOf, targets } from "./targets.mjs";

const parts = { load, install, image, units, suites: endToEnd, isolation };
const { values, positionals } = argumentsOf(import.meta.url, {
  options: {
    only: { type: "string", default: Object.keys(parts).join(",") },
    suites: { type: "string", default: suites.join(",") },
    node: { type: "string" },
  },
  allowPositionals: true,
});
const chosen = values.only.split(",");
for (const part of chosen) if (!(part in parts)) fail(`${part} must be one of ${Object.keys(parts).join(", ")}`);
const wanted = values.suites.split(",");
for (const suite of wanted) if (!suites.includes(suite)) fail(`${suite} must be one of ${suites.join(", ")}`);
checkTargets(positionals);

for (const name of positionals) {
  const target = targets[name];
  const { machine } = await import(`./${target.family}.mjs`);
  if (machine === undefined) fail(`nothing here runs ${name}`);
  const here = await machine(name, values.node);
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

/** Compiles the engine for the target on this machine, so that no emulated program has to. */
async function prepare({ os, cpu }) {
  await setUp();
  run(process.execPath, ["cli/scripts/pack-engine.mjs", "--if-stale", `${os}-${cpu}`]);
}

async function endToEnd(name, target, here) {
  await prepare(target);
  run(process.execPath, building, { stdio: ["ignore", "ignore", "inherit"] });
  addonIn(here, name);
  must(here, "node", ["scripts/cross/engine.mjs"]);
  const { args, env } = running(wanted, target.os === "win32" ? "wine" : target.os, here.isEmulated);
  must(here, "node", args, { env });
}

/** Installs packed packages here for the other system, and uses them there as a newcomer does. */
async function install(name, { os, cpu, libc }, here) {
  const { version } = releasable();
  await prepare({ os, cpu });
  const folder = join(root, "target/cross-install", name);
  rmSync(folder, { recursive: true, force: true });
  const place = join(folder, "place");
  mkdirSync(place, { recursive: true });
  const tarballs = pack({ [suffixOf(name)]: builtAddon(name) }, join(folder, "packed"), version, addNotices);
  // npm looks at the options for another system only where a dependency is optional.
  const own = `@tenon/native-${suffixOf(name)}`;
  const { [own]: addon, ...others } = tarballs;
  const dependencies = Object.fromEntries(Object.entries(others).map(([each, file]) => [publishedName(each), file]));
  const manifest = { private: true, dependencies, optionalDependencies: { [publishedName(own)]: addon } };
  writeFileSync(join(place, "package.json"), JSON.stringify(manifest));
  const system = [`--os=${os}`, `--cpu=${cpu}`, ...(libc === undefined ? [] : [`--libc=${libc}`])];
  run("npm", ["install", ...system, "--no-audit", "--no-fund", "--loglevel=error"], { cwd: place });
  for (const file of notices)
    if (!existsSync(join(place, "node_modules", publishedName(own), file)))
      fail(`the addon's package must have ${file}`);
  must(here, "node", ["scripts/cross/newcomer.mjs", place, publishedName("tenon")]);
}

async function image(name, { libc }, here) {
  if (libc !== "musl") return say("only a program for musl is linked statically");
  const program = join(root, serverOf(name));
  if (!existsSync(program)) fail(`build the program first: node scripts/cross/build.mjs ${name} --server`);
  await setUp();
  const hello = join(root, "examples/hello");
  run(process.execPath, [join(root, "cli/bin/tenon.js"), "build", "-r", "--server"], { cwd: hello });
  const place = join(root, "target/cross-image", name);
  const path = "/run/hello/hello/Ada";
  must(here, "node", ["scripts/cross/image.mjs", program, join(hello, "dist/server"), place, path]);
}

/** The programs that `build.mjs --tests` made. */
function testsOf(name) {
  const folder = join(root, "target/cross-tests", name);
  if (!existsSync(folder))
    fail(`build the tests first: node scripts/cross/build.mjs ${name} --profile dev --tests ${crates}`);
  return readdirSync(folder).map((file) => join(folder, file));
}

function units(name, _target, here) {
  const failed = testsOf(name).filter((program) => {
    if (here.isEmulated && basename(program) === "tenon_runtime") {
      say("tenon_runtime is left out: an emulated processor misses its deadlines");
      return false;
    }
    say(basename(program));
    return here.run(program, ["--test-threads", "2"], { cwd: crateOf(program) }).status !== 0;
  });
  if (failed.length > 0) fail(`tests failed: ${failed.map((program) => basename(program)).join(", ")}`);
}

/** The folder that cargo runs a crate's tests in. */
function crateOf(program) {
  return join(
    root,
    "crates",
    basename(program)
      .replace(/^tenon_/, "")
      .replaceAll("_", "-"),
  );
}

function isolation(name, _target, here) {
  const program =
    testsOf(name).find((file) => file.endsWith("tenon_runtime")) ?? fail("build the tests of tenon-runtime");
  // Emulated compilers and handlers take longer.
  const timeout_ms = here.isEmulated ? "3000" : "150";
  const settings = {
    timeout_ms,
    requests: "300",
    condition: "none",
    seed: "1",
    modules: "4",
    round: "300",
    share: "4",
    leave: "",
  };
  const component = join(root, "scripts/isolation/dist/isolation.wasm");
  const env = { TENON_ISOLATION_JAVASCRIPT: existsSync(component) ? component : "" };
  for (const [key, value] of Object.entries(settings)) env[`TENON_ISOLATION_${key.toUpperCase()}`] = value;
  must(here, program, ["isolation::tests::campaign", "--exact", "--ignored", "--nocapture"], {
    env,
    cwd: crateOf(program),
  });
}
