import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Where compiled code is kept: `TENON_CACHE_DIR` when that is set, else `tenon` in the user's cache folder
 * (`XDG_CACHE_HOME`, or what the system uses for it).
 */
export function defaultCacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { TENON_CACHE_DIR: own, XDG_CACHE_HOME: xdg } = environment;
  if (own !== undefined && own !== "") return own;
  const base = process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache");
  return join(xdg?.startsWith("/") ? xdg : base, "tenon");
}
