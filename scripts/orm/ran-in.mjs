import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Runs a program of Node's; this process goes on serving the sidecar. */
export async function ranIn(cwd, args, env) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 900_000 });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}
