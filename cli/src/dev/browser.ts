/** Opens the desktop's browser. */
import { spawn } from "node:child_process";

/** Opens a URL in the desktop's browser. Calls `failed` when there is none. */
export function openBrowser(url: string, failed: () => void): void {
  const [command, ...args] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  const child = spawn(command ?? "", [...args, url], { stdio: "ignore", detached: true });
  child.once("error", failed);
  child.once("exit", (code) => {
    if (code !== 0) failed();
  });
  child.unref();
}
