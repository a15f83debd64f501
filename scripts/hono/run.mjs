// Runs Hono's own tests inside components, and under Node as the control, and writes the table in docs/conformance.md.
//
//   node scripts/hono/run.mjs --checkout <folder> [--only <part of a path>] [--keep <folder>] [--verbose]
//
// The checkout is one of github.com/honojs/hono. Each test file becomes a component with the sources of that checkout, a
// registry in the place of vitest's, and vitest's own `expect` and `vi.fn`. One request runs the file; when it gets no
// answer, each test gets a request of its own. With --only the table is not written. The exit code is 1 when a test
// fails that passes under Node and has no reason in files.mjs, or when one with a reason passes.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fail, root, setUp } from "../setup.mjs";
import { argumentsOf } from "../usage.mjs";
import { left, reasonFor } from "./files.mjs";
import { writeTable } from "./table.mjs";

const { values } = argumentsOf(import.meta.url, {
  options: {
    checkout: { type: "string" },
    only: { type: "string", default: "" },
    keep: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
if (values.checkout === undefined || !existsSync(join(values.checkout, "src/hono.ts")))
  fail("usage: node scripts/hono/run.mjs --checkout <folder of a checkout of github.com/honojs/hono>");
const checkout = resolve(values.checkout);
const tenon = join(root, "cli/bin/tenon.js");
const harness = join(root, "scripts/hono/harness");

await setUp();
const { build } = await import("esbuild");
const { Runtime } = await import(join(root, "cli/dist/index.js"));
const folder = resolve(values.keep ?? mkdtempSync(join(tmpdir(), "tenon-hono-")));
await copySources();
const results = [];
const leftOut = {};
for (const file of testFiles()) {
  const reason = left.find(([pattern]) => pattern.test(file))?.[1];
  if (reason !== undefined) leftOut[reason] = (leftOut[reason] ?? 0) + 1;
  else if (file.includes(values.only)) results.push(await tried(file));
}
report();
if (values.keep === undefined) rmSync(folder, { recursive: true });

function testFiles() {
  return readdirSync(join(checkout, "src"), { recursive: true })
    .filter((file) => /\.test\.tsx?$/.test(file) && !/\.case\.test\./.test(file))
    .sort();
}

/** Copies the checkout's sources beside the packages that its tests import. */
async function copySources() {
  for (const name of ["src", "node_modules"]) rmSync(join(folder, name), { recursive: true, force: true });
  cpSync(join(checkout, "src"), join(folder, "src"), { recursive: true });
  const jsx = { jsx: "react-jsx", jsxImportSource: join(folder, "src/jsx") };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: jsx }));
  link("@tenon/sdk", join(root, "ts-sdk"));
  link("zod", join(root, "node_modules/zod"));
  const names = { vitest: "vitest.mjs", "vitest/app": "app.mjs", msw: "msw.mjs" };
  await build({
    entryPoints: Object.entries(names).map(([name, file]) => ({ in: join(harness, file), out: `${name}/index` })),
    outdir: join(folder, "node_modules"),
    bundle: true,
    splitting: true,
    format: "esm",
    alias: { tinyrainbow: join(harness, "no-colors.mjs") },
    logLevel: "error",
  });
  writeFileSync(join(folder, "node_modules/msw/node.js"), 'export { setupServer } from "./index.js";');
}

function link(name, target) {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** Runs a file in a component and under Node. */
async function tried(file) {
  const project = join(
    folder,
    "projects",
    file
      .replace(/\.test\.tsx?$/, "")
      .replaceAll("/", "-")
      .toLowerCase(),
  );
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "tenon.toml"), '[project]\nname = "tried"\n');
  const handler = join(project, "src/handler.ts");
  const test = relative(dirname(handler), join(folder, "src", file));
  writeFileSync(handler, `import "vitest";\nimport ${JSON.stringify(test)};\nexport { default } from "vitest/app";\n`);
  const node = await underNode(project, handler);
  const component = await inComponent(project);
  const tests = node
    .filter(({ verdict }) => verdict !== "skipped")
    .map(({ name, verdict: under, error: errorUnder }) => {
      const { verdict = "missing", error } = component.find((each) => each.name === name) ?? {};
      return { name, under, verdict, error: error ?? errorUnder };
    });
  // A suite that throws declares none of its tests, and a component that is not built has none.
  for (const { name, error } of component)
    if (!node.some((each) => each.name === name)) console.log(`  only in the component: ${name}: ${error}`);
  const passed = tests.filter(({ verdict }) => verdict === "passed").length;
  console.log(
    `${file}: ${passed} of ${tests.length}, under Node ${tests.filter(({ under }) => under === "passed").length}`,
  );
  for (const { name, under, verdict, error } of tests)
    if (verdict !== "passed" || values.verbose)
      console.log(`  ${verdict}, under Node ${under}: ${name}: ${error ?? ""}`);
  return { file, tests };
}

async function underNode(project, handler) {
  const outfile = join(project, "node.mjs");
  const options = { bundle: true, format: "esm", platform: "node", logLevel: "silent", absWorkingDir: folder };
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };
  const error = await build({ ...options, banner, entryPoints: [handler], outfile }).then(
    () => undefined,
    ({ message }) => message,
  );
  if (error !== undefined) return [{ name: "the build", verdict: "failed", error }];
  const program = `import app from ${JSON.stringify(outfile)};
const response = await app.fetch(new Request("http://localhost/"));
console.log("\\n" + JSON.stringify(await response.json()));
process.exit();`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const last = stdout.trim().split("\n").at(-1);
  if (!last.startsWith("[")) return [{ name: "the file", verdict: "failed", error: stderr.slice(0, 600) }];
  return JSON.parse(last);
}

async function inComponent(project) {
  const built = spawnSync(process.execPath, [tenon, "build", "-r"], { cwd: project, encoding: "utf8" });
  if (built.status !== 0) return [{ name: "the build", verdict: "failed", error: built.stderr.slice(0, 600) }];
  const source = join(project, "dist/tried.wasm");
  const limits = { requestTimeoutMs: 120_000 };
  const runtime = await Runtime.create({ modules: { tried: { source, limits } }, logLevel: "off" });
  const ask = async (query) => {
    const response = await runtime.fetch(new Request(`http://localhost/run/tried/?${query}`));
    const text = await response.text();
    if (response.status !== 200)
      throw new Error(`the request was answered with ${response.status}: ${text.slice(0, 200)}`);
    return JSON.parse(text);
  };
  try {
    return await ask("all").catch(async () => {
      const results = [];
      for (const [index, name] of (await ask("list")).entries()) {
        const verdict = { name, verdict: "failed" };
        results.push(...(await ask(`only=${index}`).catch(({ message }) => [{ ...verdict, error: message }])));
      }
      return results;
    });
  } finally {
    await runtime.close();
  }
}

function report() {
  const tests = results.flatMap(({ file, tests }) => tests.map((test) => ({ file, ...test })));
  const unexpected = [];
  for (const { file, name, under, verdict } of tests) {
    const isListed = reasonFor(file, name) !== undefined;
    const isFault = verdict !== "passed" && under === "passed";
    if (isFault !== isListed)
      unexpected.push(`${file}: ${name}: ${isFault ? "fails without a reason" : "has a reason, but passes"}`);
  }
  const passed = tests.filter(({ verdict }) => verdict === "passed").length;
  console.log(
    `${results.length} files, ${tests.length} tests, ${passed} passed, under Node ${tests.filter(({ under }) => under === "passed").length}`,
  );
  for (const line of unexpected) console.log(`  ${line}`);
  process.exitCode = unexpected.length > 0 ? 1 : 0;
  if (values.only !== "") return;
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  writeTable({ version, commit: commit(), results, left: leftOut });
}

function commit() {
  const options = { cwd: checkout, encoding: "utf8" };
  return execFileSync("git", ["rev-parse", "--short=8", "HEAD"], options).trim();
}
