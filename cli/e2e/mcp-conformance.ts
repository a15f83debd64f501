/** The conformance suite of the Model Context Protocol. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./servers.ts";

/** Runs the whole suite, which fails for scenarios that do not apply; returns its summary, a line for each scenario. */
export async function conform(url: string): Promise<string> {
  const hook = fileURLToPath(new URL("conformance-on-node-20.mjs", import.meta.url));
  const program = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const child = spawn(process.execPath, ["--import", hook, program, "server", "--url", url, "--suite", "all"]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      output += data;
    });
  }
  await once(child, "close");
  return output.slice(output.indexOf("=== SUMMARY ==="));
}

/** The scenarios of a summary that passed. One that checked nothing has a mark as well, and is not among them. */
export function passedIn(summary: string): string[] {
  return [...summary.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed/gm)].map(([, scenario]) => scenario as string);
}
