// Compares the `Intl` of a component, which the build adds from packages of formatjs, with that of Node, and writes the
// table in docs/conformance.md.
//
//   node scripts/intl/run.mjs [--keep <folder>] [--verbose]
//
// The packages are installed into a temporary folder; `--keep` names one that is kept and reused. Each result that differs
// must have a reason in reasons.mjs; otherwise the exit code is 1.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { installIn } from "../packages-in.mjs";
import { fail, root, setUp } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { locales, results } from "./cases.mjs";
import { reasonFor } from "./reasons.mjs";
import { writeTable } from "./table.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: { keep: { type: "string" }, verbose: { type: "boolean", default: false } },
});
if (process.env.TZ !== "UTC") {
  // The default time zone of a component is UTC.
  execFileSync(process.execPath, process.argv.slice(1), { env: { ...process.env, TZ: "UTC" }, stdio: "inherit" });
  process.exit();
}
await setUp();
const { Runtime } = await import(join(root, "cli/dist/index.js"));
const { intlClasses } = await import(join(root, "cli/dist/build/intl/classes.js"));
const folder = resolve(values.keep ?? mkdtempSync(join(tmpdir(), "tenon-intl-")));
install();
const zones = Intl.supportedValuesOf("timeZone");
const component = build("compared", 'import { results } from "./cases.mjs";', `results(${JSON.stringify(zones)})`);
const given = await answerOf(component);
const expected = results(zones);
const differences = expected.flatMap(([kind, locale, name, text], index) => {
  const [, , otherName, other] = given[index] ?? [];
  if (otherName !== name) fail(`the component has another table: ${otherName} instead of ${name}`);
  const difference = { kind, locale, name, text, other };
  return other === text ? [] : [{ ...difference, reason: reasonFor(difference) }];
});
for (const { kind, locale, name, text, other, reason } of differences)
  if (values.verbose || reason === undefined)
    console.log(`${kind} ${locale} ${name}: ${JSON.stringify(other)}, in Node ${JSON.stringify(text)}`);
console.log(`${expected.length} results, ${differences.length} differ`);
const { cldr } = process.versions;
writeTable({ expected, differences, locales, cldr, sizes: sizes() });
if (values.keep === undefined) rmSync(folder, { recursive: true });
process.exitCode = differences.some(({ reason }) => reason === undefined) ? 1 : 0;

function install() {
  const dependencies = Object.fromEntries(
    Object.values(intlClasses).map(({ package: name, version }) => [name, version]),
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  installIn(folder, Object.keys(dependencies));
}

/** Builds a component that answers with a value as JSON. */
function build(name, head, value, named = locales) {
  const project = join(folder, "projects", name);
  mkdirSync(join(project, "src"), { recursive: true });
  copyFileSync(join(root, "scripts/intl/cases.mjs"), join(project, "src/cases.mjs"));
  writeFileSync(join(project, "tenon.toml"), `[project]\nname = "intl"\nlocales = ${JSON.stringify(named)}\n`);
  const app = `export default { fetch: () => new Response(JSON.stringify(${value} ?? null)) };`;
  writeFileSync(join(project, "src/handler.ts"), `${head}\n${app}\n`);
  const tenon = join(root, "cli/bin/tenon.js");
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: project, encoding: "utf8" });
  if (status !== 0) fail(stderr);
  return join(project, "dist/intl.wasm");
}

async function answerOf(source) {
  const runtime = await Runtime.create({ modules: { intl: { source, limits: { requestTimeoutMs: 600_000 } } } });
  try {
    const response = await runtime.fetch(new Request("http://localhost/run/intl/"));
    const text = await response.text();
    if (response.status !== 200) fail(text);
    return JSON.parse(text);
  } finally {
    await runtime.close();
  }
}

/** The megabytes that uses add to a component, with two locales. */
function sizes() {
  const uses = {
    "`Intl.PluralRules`": "new Intl.PluralRules().select(1)",
    "`Intl.NumberFormat`": "new Intl.NumberFormat().format(1)",
    "`toLocaleDateString()`": "new Date().toLocaleDateString()",
    "`toLocaleDateString()` with `timeZone`": 'new Date().toLocaleDateString("en", { timeZone: "Europe/Berlin" })',
  };
  const sizeOf = (value) => statSync(build("sized", "", value, ["en", "de"])).size;
  const plain = sizeOf("1");
  return Object.entries(uses).map(([use, value]) => [use, ((sizeOf(value) - plain) / 1e6).toFixed(1)]);
}
