/** A sidecar in a process of its own, which a test kills. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SidecarKind } from "../../src/embed/sidecar.ts";

const CLI = fileURLToPath(new URL("../../bin/tenon.js", import.meta.url));

/** Runs `tenon sidecar` until it listens. */
export async function startProcess(
  kind: SidecarKind,
  socket: string,
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CLI, "sidecar", kind, "--listen", `unix://${socket}`, "--json", "-q"], {
    env: { ...process.env, DATABASE_URL: url, REDIS_URL: url, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  for await (const _ of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) return child;
  throw new Error("the sidecar ended before it began");
}
