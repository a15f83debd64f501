/** The QuickJS engine for builds: compiled on this machine, or read from the cache folder. */
import { join } from "node:path";
import type { QuickjsEngine } from "@tenon/native";
import { stop } from "esbuild";
import { defaultCacheFolder } from "../../cache-folder.ts";
import { TenonError } from "../../errors.ts";
import { fromNative, native } from "../../native.ts";
import type { Terminal } from "../../terminal.ts";
import { compile } from "../engine.ts";

const opened = new Map<boolean, Promise<QuickjsEngine>>();

/**
 * Opens the engine with the functions that a bundle imports. The first time that a user builds with a version of Tenon it is
 * compiled, which takes seconds and is said.
 *
 * @param functions names of functions of "tenon:engine"
 * @throws TenonError `WRITE` when the cache folder cannot be used
 */
export function prepareQuickjs(functions: readonly string[], terminal: Terminal): Promise<QuickjsEngine> {
  const lean = new Set(native().quickjsFunctions(false));
  const full = functions.some((name) => !lean.has(name));
  let engine = opened.get(full);
  if (engine === undefined) {
    engine = open(full, terminal).catch((error) => {
      opened.delete(full);
      throw error;
    });
    opened.set(full, engine);
  }
  return engine;
}

async function open(full: boolean, terminal: Terminal): Promise<QuickjsEngine> {
  const folder = join(defaultCacheFolder(), "engines");
  const { open } = native().QuickjsEngine;
  const prepared = await fromNative(open(folder, full));
  if (prepared) return prepared;
  // The bundler's process only waits for more to do; another one is started when there is.
  await stop();
  await terminal.step("Prepare", "the JavaScript engine, once for this version of Tenon", () =>
    compile({ step: "quickjs", folder, full, cache: defaultCacheFolder() }),
  );
  const engine = await fromNative(open(folder, full));
  if (!engine) throw new TenonError("ENGINE", `what was written to ${folder} cannot be read back`);
  return engine;
}
