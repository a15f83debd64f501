/** Makes the component of sandboxes: the program of `guest/src/sandbox` in the engine. */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { fromNative, native } from "../native.ts";
import { guestFolder } from "../package.ts";
import { Terminal } from "../terminal.ts";
import { prepareEngine } from "./engine.ts";
import { engineFunctionsIn } from "./engine-module.ts";

/**
 * Builds the component, or reads it from a cache folder.
 *
 * @throws TenonError the codes of a build
 */
export async function buildSandbox(cacheFolder: string): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [join(guestFolder, "sandbox/main.js")],
    bundle: true,
    format: "esm",
    target: "esnext",
    minifySyntax: true,
    minifyWhitespace: true,
    external: ["tenon:engine"],
    write: false,
    logLevel: "silent",
  });
  const code = outputFiles[0]?.text ?? "";
  const digest = createHash("sha256").update(native().engineRevision()).update(code).digest("hex");
  const file = join(cacheFolder, `sandbox-${digest.slice(0, 32)}.wasm`);
  const cached = await readFile(file).catch(() => undefined);
  if (cached !== undefined) return cached;
  const engine = await prepareEngine(engineFunctionsIn("sandbox.js", code), new Terminal("quiet"));
  const { component } = await fromNative(engine.build("sandbox.js", Buffer.from(code), [], []));
  await mkdir(cacheFolder, { recursive: true });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, component);
  await rename(temporary, file);
  return component;
}
