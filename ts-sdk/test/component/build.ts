import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { SdkParts } from "../../../cli/dist/build/sdk-parts.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));
const wit = fileURLToPath(new URL("../../../wit", import.meta.url));
/** Built components, by the hash of their bundles. */
const cache = fileURLToPath(new URL("../../node_modules/.cache/tenon-components", import.meta.url));

/** The entry that the CLI generates, for the module at `modulePath`. */
export function entry(modulePath: string): string {
  return `import { getEnvironment } from "wasi:cli/environment@0.2.10";
import { warmUp } from "../../src/index.ts";
import app from ${JSON.stringify(modulePath)};
globalThis[Symbol.for("tenon.environment")] = getEnvironment;
warmUp(app);
export const handler = { handle: app.handle };
`;
}

/** Bundles an entry as the CLI does: one ES module, the host's interfaces left outside, and no part of the SDK that is not named. */
export async function bundle(source: string, minify = false): Promise<string> {
  const parts = new SdkParts();
  parts.addFrom(source);
  for (;;) {
    const { outputFiles, metafile } = await build({
      stdin: { contents: source, resolveDir: here, loader: "ts" },
      absWorkingDir: here,
      bundle: true,
      write: false,
      minify,
      format: "esm",
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: ["import"],
      target: "es2022",
      external: ["wasi:*"],
      plugins: [parts.plugin],
      metafile: true,
      logLevel: "error",
    });
    if (!(await parts.add(here, metafile))) return outputFiles[0]?.text ?? "";
  }
}

/** Makes a component from a bundle, and returns the path of its file. The same bundle is built once. */
export async function componentize(code: string): Promise<string> {
  const file = join(cache, `${await hash(code)}.wasm`);
  if (existsSync(file)) return file;
  await mkdir(cache, { recursive: true });
  const source = file.replace(/\.wasm$/, ".js");
  const unfinished = file.replace(/\.wasm$/, `.${process.pid}.tmp`);
  await writeFile(source, code);
  // A program of its own, because the CLI is compiled, and these tests are not.
  const program = join(here, "componentize.mjs");
  await promisify(execFile)(process.execPath, [program, source, unfinished], { maxBuffer: 2 ** 26 });
  await rename(unfinished, file);
  return file;
}

async function hash(code: string): Promise<string> {
  const sum = createHash("sha256").update(code);
  for (const name of (await readdir(wit, { recursive: true })).sort()) {
    if (name.endsWith(".wit")) sum.update(await readFile(join(wit, name)));
  }
  for (const file of ["bindings/index.d.ts", "package-lock.json"]) sum.update(await readFile(join(root, file)));
  return sum.digest("hex").slice(0, 24);
}
