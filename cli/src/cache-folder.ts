/** The folder of compiled code. */
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The folder of compiled code: `TENON_CACHE_DIR` when that is set, else `tenon` in the user's cache folder
 * (`XDG_CACHE_HOME`, or the system's default).
 */
export function defaultCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { TENON_CACHE_DIR: own, XDG_CACHE_HOME: xdg } = environment;
  if (own !== undefined && own !== "") return own;
  const base = process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
  return join(xdg?.startsWith("/") ? xdg : base, "tenon");
}
