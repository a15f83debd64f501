/** The folder of compiled code. */
import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/**
 * The folder of compiled code: `TENON_CACHE_DIR` when that is set, else `tenon` in the user's cache folder
 * (`XDG_CACHE_HOME`, or the system's default: `~/.cache`, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows).
 */
export function defaultCacheFolder(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const { TENON_CACHE_DIR: own, XDG_CACHE_HOME: xdg } = environment;
  if (own !== undefined && own !== "") return own;
  const path = platform === "win32" ? win32 : posix;
  const base = xdg !== undefined && path.isAbsolute(xdg) ? xdg : systemFolder(environment, platform);
  return path.join(base, "tenon");
}

function systemFolder(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const home = homedir();
  if (platform === "win32") {
    const { LOCALAPPDATA: local } = environment;
    return local !== undefined && win32.isAbsolute(local) ? local : win32.join(home, "AppData", "Local");
  }
  return platform === "darwin" ? posix.join(home, "Library", "Caches") : posix.join(home, ".cache");
}
