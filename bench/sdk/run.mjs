// The SDK's cost, as ratios to its peers in one run: `npm run build && node bench/sdk/run.mjs`.
// It runs in Node (V8) and in the component (QuickJS on wasmtime), where handlers run.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { Runtime } from "../../cli/dist/index.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
// Beside this file, so that packages are found.
await mkdir(join(here, ".tenon"), { recursive: true });
const folder = await mkdtemp(join(here, ".tenon/run-"));

const bundle = async (contents) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: here, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    target: "es2022",
  });
  return outputFiles[0].text;
};
/** Builds a module whose default export is an app. */
const component = async (name, module) => {
  const project = join(folder, name);
  await mkdir(join(project, "src"), { recursive: true });
  await writeFile(join(project, "tenon.toml"), `[project]\nname = "${name}"\n`);
  await writeFile(join(project, "src/handler.ts"), `export { default } from ${JSON.stringify(module)};\n`);
  execFileSync(process.execPath, [join(root, "cli/bin/tenon.js"), "build", "-rq"], { cwd: project });
  return join(project, "dist", `${name}.wasm`);
};
const print = (text) => process.stdout.write(`${text}\n`);
const us = (value) => `${value.toFixed(2)} µs`;

function reportValidation(engine, body, times) {
  for (const [what, suffix] of [
    ["in a route", ""],
    ["alone", " alone"],
  ]) {
    const ours = times[`tenon${suffix}`];
    const other = (name) => `${us(times[name + suffix])}, ${(times[name + suffix] / ours).toFixed(1)}× ours`;
    print(`${engine}, ${body} body, ${what}: ours ${us(ours)}; Valibot ${other("valibot")}; Zod ${other("zod")}`);
  }
}

function reportRouting(engine, { of10, of500 }) {
  print(`${engine}, a request among routes: 10 ${us(of10)}; 500 ${us(of500)}, ratio ${(of500 / of10).toFixed(2)}`);
}

function reportAnswers(engine, { plain, declared }) {
  const more = (declared / plain - 1) * 100;
  print(
    `${engine}, 20 items: as they are ${us(plain)}; the declared members ${us(declared)}, ${more.toFixed(1)} % more`,
  );
}

try {
  const inNode = join(folder, "measure.mjs");
  await writeFile(inNode, await bundle(`export * from "./measure.ts";`));
  const { validation, routing, answers } = await import(pathToFileURL(inNode).href);
  for (const body of ["valid", "invalid"]) reportValidation("Node", body, await validation(body, 20, 2000));
  reportRouting("Node", await routing(20, 5000));
  reportAnswers("Node", await answers(20, 2000));

  const file = await component("bench", join(here, "app.ts"));
  const runtime = await Runtime.create({ modules: [file], requestTimeoutMs: 120_000 });
  const ask = async (what) => {
    const answer = await runtime.fetch(new Request(`http://localhost/run/bench/${what}`));
    const body = await answer.text();
    if (!answer.ok) throw new Error(`${what}: ${answer.status} ${body}`);
    return JSON.parse(body);
  };
  for (const body of ["valid", "invalid"]) reportValidation("Component", body, await ask(body));
  reportRouting("Component", await ask("routing"));
  reportAnswers("Component", await ask("answers"));
  await runtime.close();
} finally {
  await rm(folder, { recursive: true });
}
