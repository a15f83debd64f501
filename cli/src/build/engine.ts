import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SnapshotEngine } from "@tenon/native";
import { defaultCacheFolder } from "../cache-folder.ts";
import { TenonError } from "../errors.ts";
import { fromNative, native } from "../native.ts";
import { version, witFolder } from "../package.ts";
import type { Terminal } from "../terminal.ts";
import { askChild } from "./child.ts";
import { withGlue } from "./glue.ts";

/** The world that the engine's bindings are made for. */
export const worldName = "handler-glue";

/** What the child process is told. */
export interface SpliceRequest {
  readonly witPath: string;
  readonly worldName: string;
}

/** What the child process answers: the ingredients of an engine. */
export interface Spliced {
  readonly engine: Uint8Array;
  readonly stubbed: Uint8Array;
  readonly adapter: Uint8Array;
  readonly bindings: string;
  readonly environment: readonly string[];
}

/** The engine of this process, while it is being opened or open. */
let prepared: Promise<SnapshotEngine> | undefined;

/**
 * The JavaScript engine, ready to run top levels. The first time that a user builds with a version of Tenon it is
 * prepared, which takes some twenty seconds and is said; from then on it is read from the cache folder.
 *
 * @throws TenonError `WRITE` when the cache folder cannot be used
 */
export function prepareEngine(terminal: Terminal): Promise<SnapshotEngine> {
  prepared ??= open(terminal).catch((error) => {
    prepared = undefined;
    throw error;
  });
  return prepared;
}

async function open(terminal: Terminal): Promise<SnapshotEngine> {
  const cache = defaultCacheFolder();
  const folder = join(cache, "engines");
  const key = await engineKey();
  const opened = await fromNative(native().SnapshotEngine.open(folder, key), hint);
  if (opened) return opened;

  terminal.say("The JavaScript engine is prepared, once for this version of Tenon:");
  const spliced = await terminal.step("Prepare", "1 of 3: bindings", splice);
  const template = await terminal.step("Prepare", "2 of 3: code for building", () =>
    fromNative(
      native().SnapshotEngine.prepare(folder, key, {
        engine: Buffer.from(spliced.engine),
        stubbed: Buffer.from(spliced.stubbed),
        adapter: Buffer.from(spliced.adapter),
        bindings: withGlue(spliced.bindings),
        environment: [...spliced.environment],
      }),
      hint,
    ),
  );
  await terminal.step("Prepare", "3 of 3: code for serving", () => fromNative(native().precompile(template, cache)));
  const engine = await fromNative(native().SnapshotEngine.open(folder, key), hint);
  if (!engine) throw new TenonError("ENGINE", `what was written to ${folder} cannot be read back`);
  return engine;
}

async function splice(): Promise<Spliced> {
  const request: SpliceRequest = { witPath: witFolder, worldName };
  const spliced = await askChild<SpliceRequest, Spliced>("splice-child.js", request);
  if ("error" in spliced)
    throw new TenonError("ENGINE", `the engine cannot be made for ${worldName}: ${spliced.error}`);
  return spliced;
}

/** Names a prepared engine by all that it is made of. */
async function engineKey(): Promise<string> {
  const manifest = new URL("../package.json", import.meta.resolve("@bytecodealliance/componentize-js"));
  const { version: componentizeVersion } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  const hash = createHash("sha256").update(`${version}\n${componentizeVersion}\n${worldName}\n${withGlue}`);
  for (const file of (await readdir(witFolder, { recursive: true })).sort()) {
    if (file.endsWith(".wit")) hash.update(await readFile(join(witFolder, file)));
  }
  return hash.digest("hex").slice(0, 32);
}

function hint(code: string): string | undefined {
  return code === "WRITE" ? "set TENON_CACHE_DIR to a folder of your own" : undefined;
}
