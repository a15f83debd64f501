/** `AsyncLocalStorage` in a component. Node's own is the measure. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { root, tenon } from "./servers.ts";

type Checks = Record<string, () => unknown>;
interface Store {
  run(value: string, work: () => Promise<unknown>): Promise<unknown>;
}
/** By paths that TypeScript does not follow, because the checks await what its types forbid. */
const sources = join(root, "cli/e2e/fixtures/context/src");
const { checks, store } = (await import(join(sources, "checks.ts"))) as { checks: Checks; store: Store };
const { functions } = (await import(join(sources, "functions.js"))) as { functions: Checks };

let folder: string;
let runtime: Runtime;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  const scratch = join(root, "cli/e2e/.tenon");
  await mkdir(scratch, { recursive: true });
  folder = await mkdtemp(join(scratch, "context-"));
  await cp(join(root, "cli/e2e/fixtures/context"), folder, { recursive: true });
  // A release shortens the names of functions, which the checks look at.
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build"], { cwd: folder, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  // One instance for all, where something could be left over.
  runtime = await Runtime.create({ modules: { context: join(folder, "dist/context.wasm") }, isolation: "shared" });
});
afterAll(async () => {
  await runtime?.close();
  await rm(folder, { recursive: true });
});

/** Outcomes by the standard where Node 20 has others. */
const standard: Readonly<Record<string, unknown>> = { "for await sync iter rejected": ["threw bad", [1, "closed"]] };

test.each(Object.entries({ ...checks, ...functions }))("%s", async (name, check) => {
  const answer = await runtime.fetch(`http://tenon.test/run/context/check/${encodeURIComponent(name)}`);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const expected = standard[name] ?? (await store.run("tx", async () => check()));
  expect(JSON.parse(text)).toEqual({ outcome: JSON.parse(JSON.stringify(expected)), after: "none" });
});
