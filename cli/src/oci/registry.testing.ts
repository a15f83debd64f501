/** A real registry for tests. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import { freePort } from "../../../testing/free-port.ts";
import { findProgram } from "../../../testing/programs.ts";

/** Starts Debian's `docker-registry` with an empty store. `more` is added to its configuration. */
export async function startRegistry(
  folder: string,
  name: string,
  more = "",
): Promise<{ host: string; child: ChildProcess }> {
  const port = await freePort();
  const config = join(folder, `${name}.yml`);
  const text = `version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: ${join(folder, name)}}, delete: {enabled: true}}
http: {addr: "127.0.0.1:${port}", secret: test}
${more}`;
  await writeFile(config, text);
  const child = spawn(findProgram("docker-registry") as string, ["serve", config], { stdio: "ignore" });
  const host = `127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(`http://${host}/v2/`), { timeout: 20_000 });
  return { host, child };
}
