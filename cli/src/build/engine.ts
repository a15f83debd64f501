/** The JavaScript engine for builds: unpacked, prepared on this machine, or read from the cache folder. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SnapshotEngine, SpecializableEngine } from "@tenon/native";
import { stop } from "esbuild";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { version, witFolder } from "../package.ts";
import type { Terminal } from "../terminal.ts";
import { enginePackage, engineVersion } from "../versions.ts";
import { askChild, type ChildError } from "./child.ts";
import { useShippedEngine } from "./engine-package.ts";
import { glueSource, withGlue } from "./glue.ts";

/** The world that the engine's bindings are made for. */
export const worldName = "engine-glue";

/** Engines that snapshots are taken of: to become components as they are, or to be specialized by weval first. */
type EngineKind = "snapshot" | "shipped" | "specializable";

/** The engines of componentize-js. */
const engines = {
  snapshot: "starlingmonkey_embedding.wasm",
  shipped: "starlingmonkey_embedding.wasm",
  specializable: "starlingmonkey_embedding_weval.wasm",
};

/** The request to the child process that splices. */
export interface SpliceRequest {
  /** The file of the engine. */
  readonly engine: string;
  readonly witPath: string;
  readonly worldName: string;
}

/** Its answer: the ingredients of an engine, whose hollow parts the addon fills. */
export interface Spliced {
  readonly spliced: Uint8Array;
  readonly stubbed: Uint8Array;
  readonly adapter: Uint8Array;
  readonly bindings: string;
  readonly environment: readonly string[];
}

/**
 * The request to the child process that compiles: to prepare an engine, or the code shared by all components of one. For
 * QuickJS, both.
 */
export type PrepareRequest = { readonly folder: string } & (
  | {
      readonly step: "building";
      readonly key: string;
      readonly kind: EngineKind;
      readonly engine: string;
      readonly spliced: Spliced;
    }
  | { readonly step: "serving"; readonly key: string; readonly cache: string }
  | { readonly step: "quickjs"; readonly full: boolean; readonly cache: string }
);

/**
 * The JavaScript engine, ready to run top levels. The first time that a user builds with a version of Tenon it is unpacked from
 * `@tenon/engine`. In a clone, which has no such package, it is prepared, which takes some twenty seconds and is said. From then on
 * it is read from the cache folder.
 *
 * @throws TenonError `WRITE` when the cache folder cannot be used
 */
export const prepareEngine = once(async (terminal) => (await shippedEngine()) ?? prepareFromSource(terminal));

/** The engine if it is ready, or unpacked within a second; undefined when it has to be prepared from its source. */
export async function preparedEngine(): Promise<SnapshotEngine | undefined> {
  const folder = join(defaultCacheFolder(), "engines");
  const open = native().SnapshotEngine.open;
  return (await shippedEngine()) ?? (await fromNative(open(folder, await engineKey("snapshot")), hint)) ?? undefined;
}

async function shippedEngine(): Promise<SnapshotEngine | undefined> {
  const folder = join(defaultCacheFolder(), "engines", "shipped");
  const key = await engineKey("snapshot");
  const { open, install } = native().SnapshotEngine;
  // A folder of its own, because an engine that is prepared from the source stays beside it.
  if (!existsSync(folder) || !(await fromNative(open(folder, key), hint))) {
    if (!(await useShippedEngine(key, (from) => fromNative(install(folder, key, from), hint)))) return undefined;
  }
  return (await fromNative(open(folder, key), hint)) ?? undefined;
}

/** The same engine, made by componentize-js on this machine: `tenon build --from-source`. */
export const prepareFromSource = once((terminal) =>
  open<SnapshotEngine>("snapshot", native().SnapshotEngine.open, async (folder, key) => {
    terminal.say("The JavaScript engine is prepared, once for this version of Tenon:");
    await prepare("snapshot", folder, key, terminal, 3);
    await terminal.step("Prepare", "3 of 3: code for serving", () =>
      compile({ step: "serving", folder, key, cache: defaultCacheFolder() }),
    );
  }),
);

/**
 * The engine of `--aot`, as {@link prepareEngine}. Nothing is compiled for serving: each component has code of its own.
 *
 * @throws TenonError `WRITE` when the cache folder cannot be used
 */
export const prepareSpecializableEngine = once((terminal) =>
  open<SpecializableEngine>("specializable", native().SpecializableEngine.open, async (folder, key) => {
    terminal.say("The JavaScript engine of --aot is prepared, once for this version of Tenon:");
    await prepare("specializable", folder, key, terminal, 2);
  }),
);

/** Opens once in this process, and once more after it has failed. */
function once<Engine>(open: (terminal: Terminal) => Promise<Engine>): (terminal: Terminal) => Promise<Engine> {
  let opened: Promise<Engine> | undefined;
  return (terminal) => {
    opened ??= open(terminal).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}

async function open<Engine>(
  kind: EngineKind,
  open: (folder: string, key: string) => Promise<Engine | null | undefined>,
  prepare: (folder: string, key: string) => Promise<void>,
): Promise<Engine> {
  const folder = join(defaultCacheFolder(), "engines");
  const key = await engineKey(kind);
  const opened = await fromNative(open(folder, key), hint);
  if (opened) return opened;
  await prepare(folder, key);
  const engine = await fromNative(open(folder, key), hint);
  if (!engine) throw new TenonError("ENGINE", `what was written to ${folder} cannot be read back`);
  return engine;
}

/** The first two steps, of which there are `steps`. */
async function prepare(
  kind: EngineKind,
  folder: string,
  key: string,
  terminal: Terminal,
  steps: number,
): Promise<void> {
  const engine = fileURLToPath(new URL(engines[kind], libraryOf(enginePackage)));
  // The bundler's process only waits for more to do; another one is started when there is.
  await stop();
  const spliced = await terminal.step("Prepare", `1 of ${steps}: bindings`, () => splice(engine));
  await terminal.step("Prepare", `2 of ${steps}: code for building`, () =>
    compile({ step: "building", kind, folder, key, engine, spliced }),
  );
}

/** @throws TenonError `NO_BUILD` */
function libraryOf(name: string): URL {
  try {
    return new URL("../lib/", import.meta.resolve(name));
  } catch (error) {
    throw new TenonError(
      "NO_BUILD",
      `the engine cannot be prepared from its source: ${name} is not installed`,
      `npm install --save-dev ${name}@${engineVersion} @bytecodealliance/jco`,
      error,
    );
  }
}

/** Returns the key of the engine that `@tenon/engine` ships: a digest of all that it is made from. */
export function shippedKey(): Promise<string> {
  return engineKey("snapshot");
}

/** Prepares the engine that `@tenon/engine` ships, for any processor of this architecture, in a folder. */
export async function prepareShipped(folder: string, terminal: Terminal): Promise<void> {
  await prepare("shipped", folder, await shippedKey(), terminal, 2);
}

async function splice(engine: string): Promise<Spliced> {
  const request: SpliceRequest = { engine, witPath: witFolder, worldName };
  const spliced = await askChild<SpliceRequest, Spliced>("splice-child.js", request);
  if ("error" in spliced)
    throw new TenonError("ENGINE", `the engine cannot be made for ${worldName}: ${spliced.error}`);
  return { ...spliced, bindings: withGlue(spliced.bindings) };
}

/** Compiles in a process of its own. */
export async function compile(request: PrepareRequest): Promise<void> {
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

/** Names a prepared engine by all that it is made of. */
async function engineKey(kind: EngineKind): Promise<string> {
  const hash = createHash("sha256").update(
    `${kind}\n${version}\n${engineVersion}\n${worldName}\n${withGlue}\n${glueSource}\n${native().engineRevision()}`,
  );
  for (const file of (await readdir(witFolder, { recursive: true })).sort()) {
    if (file.endsWith(".wit")) hash.update(await readFile(join(witFolder, file)));
  }
  return hash.digest("hex").slice(0, 32);
}

function hint(code: string): string | undefined {
  return code === "WRITE" ? "set TENON_CACHE_DIR to a folder of your own" : undefined;
}
