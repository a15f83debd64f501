// Runs a short program with each package of the list inside a component, compares its output with that in Node, and
// writes the table in docs/packages.md. A program that needs `Intl` exports the `locales` of its tenon.toml.
//
//   node scripts/packages/run.mjs [--only <package>] [--keep <folder>]
//
// The packages are installed into a temporary folder. `--keep` names a folder that is kept and reused. With --only the
// table is not written. The exit code is 1 when a package without a reason in reasons.mjs fails, or one with a reason
// passes.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installIn } from "../packages-in.mjs";
import { writeSection } from "../section.mjs";
import { root, setUp } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { packages } from "./list.mjs";
import { reasons } from "./reasons.mjs";
import { table } from "./table.mjs";

const { values } = argumentsOf(import.meta.url, { options: { only: { type: "string" }, keep: { type: "string" } } });
const tenon = join(root, "cli/bin/tenon.js");
const here = join(root, "scripts/packages");
const plain = (value) => JSON.stringify(value ?? null);
const fileOf = (name) => `${name.replace("@", "").replace("/", "-")}.mjs`;

await setUp();
const folder = values.keep ?? mkdtempSync(join(tmpdir(), "tenon-packages-"));
install();
const peer = await startPeer();
const results = [];
for (const [kind, names] of Object.entries(packages)) {
  for (const name of names) {
    if (values.only !== undefined && values.only !== name) continue;
    const result = { kind, name, version: versionOf(name), ...(await tried(name)) };
    results.push(result);
    console.log(`${result.works ? "works" : "fails"}  ${name} ${result.version}${result.why ? `: ${result.why}` : ""}`);
  }
}
peer.close();
if (values.keep === undefined) rmSync(folder, { recursive: true });
const passed = results.filter(({ works }) => works).length;
if (values.only === undefined) writeSection("docs/packages.md", "packages", table(results, reasons));
console.log(`${passed} passed, ${results.length - passed} failed`);
const unexpected = results.filter(({ name, works }) => works === Object.hasOwn(reasons, name));
for (const { name, works } of unexpected)
  console.log(`  ${name}: ${works ? "has a reason, but works" : "fails without a reason"}`);
process.exitCode = unexpected.length > 0 ? 1 : 0;

function install() {
  mkdirSync(join(folder, "programs"), { recursive: true });
  copyFileSync(join(here, "package.json"), join(folder, "package.json"));
  for (const name of Object.values(packages).flat())
    copyFileSync(join(here, "programs", fileOf(name)), join(folder, "programs", fileOf(name)));
  const listed = Object.keys(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies);
  installIn(folder, listed);
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}

/** Starts the peer: a server whose answers the program under test defines. */
async function startPeer() {
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { method, url, headers } = request;
    const answer = server.answer({ method, path: url, headers }, Buffer.concat(parts).toString());
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Returns whether a package's program has the same output in a component as in Node. */
async function tried(name) {
  const program = join(folder, "programs", fileOf(name));
  try {
    const module = await import(pathToFileURL(program).href);
    peer.answer = module.peer;
    const url = `http://127.0.0.1:${peer.address().port}`;
    const expected = plain(await module.default(url));
    const { locales } = module;
    const { given, warnings } = await inComponent(name, program, url, locales);
    if (given === expected) return { works: true, locales, warnings };
    return { works: false, warnings, why: `gives ${given.slice(0, 300)} instead of ${expected.slice(0, 300)}` };
  } catch (error) {
    return { works: false, warnings: [], why: error.message };
  }
}

async function inComponent(name, program, url, locales) {
  const project = join(folder, "projects", fileOf(name).replace(".mjs", ""));
  mkdirSync(join(project, "src"), { recursive: true });
  const named = locales === undefined ? "" : `locales = ${JSON.stringify(locales)}\n`;
  const settings = `[project]\nname = "tried"\n${named}[sidecars]\npeer = "${url}"\n`;
  writeFileSync(join(project, "tenon.toml"), settings);
  const handler = `import { env } from "@tenon/sdk";
import program from ${JSON.stringify(program)};
export default {
  async fetch() {
    return new Response(JSON.stringify((await program(env("SIDECAR_PEER_URL"))) ?? null));
  },
};
`;
  writeFileSync(join(project, "src/handler.ts"), handler);
  const built = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: project, encoding: "utf8" });
  if (built.status !== 0) throw new Error(firstError(built.stderr));
  const warnings = built.stderr.split("\n").filter((line) => line.startsWith("warning: "));
  const args = [tenon, "run", "--port", "0", "--json", "dist/tried.wasm"];
  const server = spawn(process.execPath, args, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  server.stderr.on("data", (data) => {
    errors += data;
  });
  try {
    const base = await new Promise((resolve, reject) => {
      let output = "";
      server.stdout.on("data", (data) => {
        output += data;
        if (output.includes("\n")) resolve(JSON.parse(output.slice(0, output.indexOf("\n"))).url);
      });
      server.once("exit", () => reject(new Error(errors)));
    });
    const response = await fetch(`${base.replace(/\/$/, "")}/run/tried/`);
    const given = await response.text();
    if (response.status !== 200) throw new Error(firstError(errors) || given);
    return { given, warnings };
  } finally {
    server.kill();
  }
}

function firstError(text) {
  const lines = text.split("\n").filter((line) => /error|exception|Error/i.test(line));
  return (lines[0] ?? text).slice(0, 300);
}
