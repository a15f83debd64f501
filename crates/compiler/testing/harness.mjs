// Runs a program in Node's own WebAssembly: interpreted or compiled.
//
// ENGINE is an engine that calls compiled functions: that of a copy of the tree after `git apply crates/compiler/testing/engine.diff` and
// `crates/engine/build.sh`. It interprets as quickly as the shipped one, within 0.15 % of the machine's instructions, and is 16 KB
// larger. COMPILER is the example `compile` of this crate.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = new URL("../../../", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "tenon-compiler-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
await build({
  entryPoints: [fileURLToPath(new URL("guest/testing/engine.ts", root))],
  bundle: true,
  format: "esm",
  platform: "node",
  outfile: join(folder, "engine.mjs"),
});
const { startEngine } = await import(join(folder, "engine.mjs"));
const engineFile = process.env.ENGINE ?? fileURLToPath(new URL("crates/engine/engine.wasm", root));
const compiler = process.env.COMPILER ?? fileURLToPath(new URL("target/release/examples/compile", root));

/** The most places of a module that remember where they found a property. */
const CELLS = 20_000;

// The exports of an engine are known to its maker only.
const { Instance } = WebAssembly;
let exports;
WebAssembly.Instance = function capture(module, imports) {
  const instance = new Instance(module, imports);
  if (instance.exports.initialize) exports = instance.exports;
  return instance;
};

/** Starts an engine, and compiles its functions if that is wanted. */
export function start(source, isCompiled) {
  const engine = startEngine(engineFile, source, { now: 1e12 });
  const { memory, list_functions: list, apply_functions: apply } = exports;
  if (!isCompiled) return { engine, memory };
  const [image, out] = [join(folder, "memory"), join(folder, "out.wasm")];
  const description = list(CELLS);
  writeFileSync(image, new Uint8Array(memory.buffer));
  const made = spawnSync(compiler, [image, String(description), out], { encoding: "utf8", maxBuffer: 1e9 });
  if (made.status !== 0) throw new Error(made.stderr, { cause: made.error });
  new Instance(new WebAssembly.Module(readFileSync(out)), { engine: exports });
  const fields = new DataView(memory.buffer);
  for (const line of made.stdout.split("\n").filter(Boolean)) {
    const [field, number] = line.split(" ").map(Number);
    fields.setUint32(field, number, true);
  }
  apply(description);
  return { engine, memory, summary: made.stderr.trim() };
}

/** A bundle whose handler answers with the result of `run()`. */
export const bundle = (text) => `import { utf8Encode } from "tenon:engine";
${text}
export const handler = {
  async handle() {
    let result;
    try { result = run(); } catch (error) { result = "threw " + error + "\\n" + error?.stack; }
    return { status: 200, headers: [], body: utf8Encode(String(result)) };
  },
};`;

/** The answer of a bundle, and what it has logged. */
export const answer = (engine) => new TextDecoder().decode(engine.handle({ path: "/" }).body) + engine.printed();
