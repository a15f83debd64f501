// Runs a third-party conformance suite against `tenon run`, and prints the number of cases that pass.
//
//   node scripts/conformance/run.mjs <suite> <path> [--verbose] [--only <part of a case's name>] [--target
//   <host:port[/path]>] [--wasmtime <program>]
//
// The path is that of a checkout of the suite; for h2spec it is that of its program. A failed case must be listed as a
// known deviation (known.mjs) with a reason. An unlisted case that fails, or a listed one that passes, makes the exit
// code 1. `--target` selects another server, and `--wasmtime` has `wasmtime serve` run the programs of wasi. Neither has
// known deviations.
import { fail, setUp } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { known } from "./known.mjs";
import { build, use } from "./server.mjs";

const suites = ["h1spec", "h2spec", "http11probe", "llhttp", "nginx", "node", "json", "json-schema", "wasi"];

const { values, positionals } = argumentsOf(import.meta.url, {
  allowPositionals: true,
  options: {
    verbose: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    target: { type: "string" },
    wasmtime: { type: "string" },
  },
});
const [name, path] = positionals;
if (!suites.includes(name) || path === undefined) {
  fail(`usage: node scripts/conformance/run.mjs <${suites.join(" | ")}> <path of its checkout>`);
}
if (name === "wasi") {
  if (values.wasmtime === undefined) await setUp();
} else if (values.target === undefined) await build();
else use(...split(values.target));
const suite = await import(`./suites/${name}.mjs`);
const isOurs = values.target === undefined && values.wasmtime === undefined;
const reasons = (isOurs && known[name]) || {};
const counts = { pass: 0, warn: 0, fail: 0, skip: 0 };
const failed = [];
const unexpected = [];
const seen = new Set();
for await (const result of suite.run(path, values.only, values.wasmtime)) {
  counts[result.verdict]++;
  seen.add(result.id);
  const reason = reasons[result.id];
  const isListed = reason !== undefined;
  if (result.verdict === "fail") failed.push(`${result.id}: ${reason ?? `UNEXPECTED: ${result.note}`}`);
  if ((result.verdict === "fail") !== isListed) unexpected.push(result.id);
  if (values.verbose || (result.verdict === "fail" && !isListed)) {
    console.log(`${result.verdict}  ${result.id}  ${result.note ?? ""}`);
  }
}
const absent = values.only === "" ? Object.keys(reasons).filter((id) => !seen.has(id)) : [];
const parts = [`${counts.pass} passed`];
if (counts.warn > 0) parts.push(`${counts.warn} passed with a warning of the suite`);
parts.push(`${counts.fail} failed`);
if (counts.skip > 0) parts.push(`${counts.skip} do not apply`);
console.log(`${name}: ${parts.join(", ")}`);
for (const line of failed) console.log(`  ${line}`);
for (const id of unexpected.filter((id) => reasons[id] !== undefined)) console.log(`  ${id}: is listed, but passes`);
for (const id of absent) console.log(`  ${id}: is listed, but does not exist`);
if (seen.size === 0) fail(`no case was found in ${path}`);
process.exitCode = unexpected.length + absent.length > 0 ? 1 : 0;

function split(target) {
  const slash = target.indexOf("/");
  return slash < 0 ? [target, ""] : [target.slice(0, slash), target.slice(slash)];
}
