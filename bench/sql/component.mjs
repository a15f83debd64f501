// Runs inside the engine of handlers (StarlingMonkey as shipped with componentize-js): `node bench/sql/component.mjs`.
// Building the component takes a minute. It runs in this process, with jco.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { componentize } from "@bytecodealliance/componentize-js";
import { transpile } from "@bytecodealliance/jco";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const source = `
  import { measure, report } from "./measure.ts";
  export function run() {
    const now = () => performance.now();
    measure(now, 5, 200);
    return report("StarlingMonkey", measure(now, 40, 100));
  }`;
const bundle = await build({
  stdin: { contents: source, resolveDir: here, loader: "ts" },
  bundle: true,
  write: false,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  conditions: ["import"],
  logLevel: "error",
});
const { component } = await componentize(bundle.outputFiles[0].text, {
  witWorld: "package bench:sql; world measured { export run: func() -> string; }",
  disableFeatures: ["http", "fetch-event"],
});
const { files } = await transpile(component, { name: "measured", tracing: false });
// Beside this file, so that the shims of WASI are found.
const folder = await mkdtemp(join(here, ".tenon-"));
try {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const { run } = await import(pathToFileURL(join(folder, "measured.js")));
  process.stdout.write(`${run()}\n`);
} finally {
  await rm(folder, { recursive: true });
}
