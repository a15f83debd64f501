/** The JavaScript engine for builds: read from the cache folder, installed from `@tenon/engine`, or compiled on this machine. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { SnapshotEngine } from "@tenon/native";
import { stop } from "esbuild";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import type { Terminal } from "../terminal.ts";
import { askChild, type ChildError } from "./child.ts";
import { shippedEngine } from "./engine-package.ts";

/** The request to the child process that compiles: one variant of the engine, and the code that all its components share. */
export interface PrepareRequest {
  readonly folder: string;
  readonly full: boolean;
  /** The cache folder of runtimes. */
  readonly cache: string;
}

const opened = new Map<boolean, Promise<SnapshotEngine>>();

/** Reports whether functions of "tenon:engine" need the full variant. */
const needsFull = (functions: readonly string[]): boolean => {
  const lean = new Set(native().engineFunctions(false));
  return functions.some((name) => !lean.has(name));
};

/**
 * Opens the engine with the functions that a bundle imports. The first time that a user builds with a version of Tenon, its code
 * comes from `@tenon/engine`. In a clone, which has no such package, it is compiled, which takes seconds and is said. From then on it is
 * read from the cache folder.
 *
 * @param functions names of functions of "tenon:engine"
 * @throws TenonError `WRITE` when the cache folder cannot be used
 */
export function prepareEngine(functions: readonly string[], terminal: Terminal): Promise<SnapshotEngine> {
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

const enginesFolder = () => join(defaultCacheFolder(), "engines");

async function open(full: boolean, terminal: Terminal): Promise<SnapshotEngine> {
  const prepared = await ready(full);
  if (prepared) return prepared;
  const folder = enginesFolder();
  // The bundler's process only waits for more to do; another one is started when there is.
  await stop();
  await terminal.step("Prepare", "the JavaScript engine, once for this version of Tenon", () =>
    compile({ folder, full, cache: defaultCacheFolder() }),
  );
  const engine = await stored(full);
  if (!engine) throw new TenonError("ENGINE", `what was written to ${folder} cannot be read back`);
  return engine;
}

async function ready(full: boolean): Promise<SnapshotEngine | undefined> {
  return (await stored(full)) ?? ((await install(full)) ? stored(full) : undefined);
}

async function stored(full: boolean): Promise<SnapshotEngine | undefined> {
  return (await fromNative(native().SnapshotEngine.open(enginesFolder(), full), hint)) ?? undefined;
}

/** Stores the code of `@tenon/engine`, for building and for serving; returns false when there is none that this processor can run. */
async function install(full: boolean): Promise<boolean> {
  const code = await shippedEngine(native().engineRevision(), full);
  if (code === undefined) return false;
  const { SnapshotEngine } = native();
  try {
    await fromNative(SnapshotEngine.install(enginesFolder(), full, code, defaultCacheFolder()), hint);
    return true;
  } catch (error) {
    if (error instanceof TenonError && error.code === "ENGINE") return false;
    throw error;
  }
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
