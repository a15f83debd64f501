/** The JavaScript engine for builds: compiled on this machine, or read from the cache folder. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { QuickjsEngine } from "@tenon/native";
import { stop } from "esbuild";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import type { Terminal } from "../terminal.ts";
import { askChild, type ChildError } from "./child.ts";

/** The request to the child process that compiles: one variant of the engine, and the code that all its components share. */
export interface PrepareRequest {
  readonly folder: string;
  readonly full: boolean;
  /** The cache folder of runtimes. */
  readonly cache: string;
}

const opened = new Map<boolean, Promise<QuickjsEngine>>();

/** Reports whether functions of "tenon:engine" need the full variant. */
const needsFull = (functions: readonly string[]): boolean => {
  const lean = new Set(native().quickjsFunctions(false));
  return functions.some((name) => !lean.has(name));
};

/**
 * Opens the engine with the functions that a bundle imports. The first time that a user builds with a version of Tenon it is
 * compiled, which takes seconds and is said. From then on it is read from the cache folder.
 *
 * @param functions names of functions of "tenon:engine"
 * @throws TenonError `WRITE` when the cache folder cannot be used
 */
export function prepareEngine(functions: readonly string[], terminal: Terminal): Promise<QuickjsEngine> {
  const full = needsFull(functions);
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

/** Opens the lean variant if it is ready; undefined when it has to be compiled first. */
export async function preparedEngine(): Promise<QuickjsEngine | undefined> {
  return (await fromNative(native().QuickjsEngine.open(enginesFolder(), false), hint)) ?? undefined;
}

const enginesFolder = () => join(defaultCacheFolder(), "engines");

async function open(full: boolean, terminal: Terminal): Promise<QuickjsEngine> {
  const folder = enginesFolder();
  const { open } = native().QuickjsEngine;
  const prepared = await fromNative(open(folder, full), hint);
  if (prepared) return prepared;
  // The bundler's process only waits for more to do; another one is started when there is.
  await stop();
  await terminal.step("Prepare", "the JavaScript engine, once for this version of Tenon", () =>
    compile({ folder, full, cache: defaultCacheFolder() }),
  );
  const engine = await fromNative(open(folder, full), hint);
  if (!engine) throw new TenonError("ENGINE", `what was written to ${folder} cannot be read back`);
  return engine;
}

/** Compiles in a process of its own. */
async function compile(request: PrepareRequest): Promise<void> {
  const answer = await askChild<PrepareRequest, object>("prepare-child.js", request, thrifty());
  if (!("error" in answer)) return;
  const { error, code = "ENGINE" } = answer as ChildError;
  throw new TenonError(code, error, hint(code));
}

/**
 * Variables of a process that compiles. Each thread works on its own functions, so more than four would need more
 * memory than a build should. glibc (mallopt(3)) returns free memory, instead of keeping it for each thread.
 */
function thrifty(): NodeJS.ProcessEnv {
  return {
    RAYON_NUM_THREADS: String(Math.min(4, availableParallelism())),
    MALLOC_ARENA_MAX: "1",
    MALLOC_MMAP_THRESHOLD_: "131072",
    MALLOC_TRIM_THRESHOLD_: "131072",
  };
}

function hint(code: string): string | undefined {
  return code === "WRITE" ? "set TENON_CACHE_DIR to a folder of your own" : undefined;
}
