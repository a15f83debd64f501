/** The folder of compiled code: its path, its state and its size. */
import { existsSync } from "node:fs";
import { lstat, readdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { failureToTell } from "../errors.ts";
import { fromNative, type NativeAddon, native } from "../native.ts";
import { formatBytes } from "../terminal.ts";
import { type Check, error, note, ok } from "./check.ts";

const name = "cache folder";

/** Free space for preparing the engine and serving some builds. */
const wantedBytes = 500 * 1024 * 1024;

/** Makes the folder if it is missing, as every command would, and so checks that it can be used. */
export async function cacheCheck(folder: string): Promise<Check> {
  let addon: NativeAddon;
  try {
    addon = native();
  } catch {
    return note(name, `${folder}, which only the addon can check`, "fix the addon first");
  }
  const problem = await problemOf(folder, addon);
  if (problem !== undefined) return error(name, problem, "fix that, or set TENON_CACHE_DIR to a folder of your own");
  const bytes = await bytesIn(folder);
  const { bavail, bsize } = await statfs(nearestExisting(folder));
  const free = bavail * bsize;
  const size = `${folder} is yours alone, and has ${formatBytes(bytes)}`;
  if (free < wantedBytes) {
    return note(name, `${size}; ${formatBytes(free)} are free there`, "make room, or set TENON_CACHE_DIR");
  }
  return ok(name, `${size}; it can be deleted at any time`);
}

/** Checks the folder with the addon, which has the rule for trusted code (crates/trusted-folder). */
async function problemOf(folder: string, addon: NativeAddon): Promise<string | undefined> {
  try {
    await fromNative(addon.SnapshotEngine.open(folder, false));
    return undefined;
  } catch (thrown) {
    return failureToTell(thrown)?.message ?? String(thrown);
  }
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    // Another process may delete it meanwhile.
    const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes += found?.size ?? 0;
  }
  return bytes;
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}
