import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { packageFolder } from "../package.ts";

test("`node --import tenon/sandbox/workers` has the module `cloudflare:workers`", async () => {
  const program = `
    const { WorkerEntrypoint, DurableObject, RpcTarget } = await import("cloudflare:workers");
    const refused = await import("cloudflare:sockets").catch((error) => error.code);
    console.log([WorkerEntrypoint, DurableObject, RpcTarget].map((each) => typeof each), refused);`;
  const hooks = join(packageFolder, "dist/sandbox/workers.js");
  const args = ["--import", hooks, "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim()).toBe("[ 'function', 'function', 'function' ] ERR_UNSUPPORTED_ESM_URL_SCHEME");
});
