// Measures packages that compute, in a component and in Node, and writes the table of times in docs/packages.md.
//
//   node scripts/packages/times.mjs [--keep <folder>] [--rounds <n>]
//
// The packages are installed into a temporary folder; `--keep` names one that is kept and reused. Component and Node take
// turns, and the quickest round of each counts.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installIn } from "../packages-in.mjs";
import { writeSection } from "../section.mjs";
import { root, setUp } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";

/** The time of a round, in milliseconds: a call of the slowest package takes longer. */
const ROUND_MS = 100;
/** Ratios beyond this one are in bold. */
const MUCH = 10;

const { values } = argumentsOf(import.meta.url, {
  options: { keep: { type: "string" }, rounds: { type: "string", default: "3" } },
});
const here = join(root, "scripts/packages");
setUp();
const folder = values.keep ?? mkdtempSync(join(tmpdir(), "tenon-times-"));
const { work, timeOf, ask, close } = await prepare();
const rows = [];
for (const [key, [what]] of Object.entries(work)) {
  const name = key.trim();
  let [inComponent, inNode] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < Number(values.rounds); round++) {
    inComponent = Math.min(inComponent, await ask(key));
    inNode = Math.min(inNode, await timeOf(key, ROUND_MS));
  }
  rows.push({ name, version: versionOf(name), what, inComponent, inNode, ratio: inComponent / inNode });
  console.log(`${name}: ${what}: ${duration(inComponent)}, Node ${duration(inNode)}`);
}
await close();
if (values.keep === undefined) rmSync(folder, { recursive: true });
writeSection("docs/packages.md", "times", table(rows));

async function prepare() {
  mkdirSync(join(folder, "project/src"), { recursive: true });
  copyFileSync(join(here, "work.mjs"), join(folder, "work.mjs"));
  // The packages that the work imports, of those in the table.
  const { dependencies, ...manifest } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const imported = readFileSync(join(here, "work.mjs"), "utf8");
  const names = Object.keys(dependencies).filter((name) => new RegExp(`from "${name}["/]`).test(imported));
  const used = Object.fromEntries(names.map((name) => [name, dependencies[name]]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, dependencies: used }));
  installIn(folder, names);
  const project = join(folder, "project");
  writeFileSync(join(project, "tenon.toml"), '[project]\nname = "times"\n');
  writeFileSync(
    join(project, "src/handler.ts"),
    `import { timeOf } from "../../work.mjs";
export default {
  async fetch(request) {
    return new Response(String(await timeOf(decodeURIComponent(new URL(request.url).pathname.slice(1)), ${ROUND_MS})));
  },
};
`,
  );
  const args = [join(root, "cli/bin/tenon.js"), "build", "-r"];
  const built = spawnSync(process.execPath, args, { cwd: project, encoding: "utf8" });
  if (built.status !== 0) throw new Error(built.stderr);
  const { Runtime } = await import(pathToFileURL(join(root, "cli/dist/index.js")).href);
  const runtime = await Runtime.create({ modules: [join(project, "dist/times.wasm")], requestTimeoutMs: 600_000 });
  const module = await import(pathToFileURL(join(folder, "work.mjs")).href);
  return {
    ...module,
    ask: async (name) => {
      const answer = await runtime.fetch(new Request(`http://localhost/run/times/${encodeURIComponent(name)}`));
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${name}: ${text}`);
      return Number(text);
    },
    close: () => runtime.close(),
  };
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}

function duration(us) {
  if (us >= 1_000_000) return `${(us / 1_000_000).toPrecision(3)} s`;
  if (us >= 1000) return `${(us / 1000).toPrecision(3)} ms`;
  return `${us >= 100 ? us.toFixed(0) : us.toPrecision(2)} µs`;
}

function table(measured) {
  const lines = measured
    .toSorted((a, b) => b.ratio - a.ratio)
    .map(({ name, version, what, inComponent, inNode, ratio }) => {
      const times = ratio >= MUCH ? `**${ratio.toFixed(0)}**` : ratio.toFixed(1);
      return `| \`${name}\` ${version} | ${what} | ${duration(inComponent)} | ${duration(inNode)} | ${times} |`;
    });
  return ["| package | one call | component | Node | ratio |", "|---|---|---|---|---|", ...lines, ""].join("\n");
}
