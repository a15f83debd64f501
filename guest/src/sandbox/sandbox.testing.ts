/** The program of sandboxes in the engine, for tests. */
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Engine, type Host, startEngine } from "../../testing/engine.ts";

const engine = new URL("../../../crates/engine/engine.wasm", import.meta.url);

/** Bundles the program, and starts an instance for each call of the result. */
export async function sandboxProgram(): Promise<(host?: Host) => Engine> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "esnext",
    external: ["tenon:engine"],
    write: false,
  });
  return (host) => startEngine(engine, outputFiles[0]?.text ?? "", host);
}
