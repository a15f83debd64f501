import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

// Vitest's own type checking needs a compiler API that TypeScript 7 no longer has; its compiler checks the same.
it("type-checks every source, test and *.test-d.ts", { timeout: 120_000 }, async () => {
  const run = promisify(execFile)(process.execPath, [tsc, "-p", "tsconfig.types.json", "--pretty", "false"], {
    cwd: root,
  });
  const output = await run.then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  );
  expect(output).toBe("");
});

// Budgets, in instantiations, for 500 routes with 1,500 schemas: raise them only deliberately. The number is the same
// on every machine and dominates the time, which `bench/sdk/types.mjs` measures.
it.each([
  ["routes", "plain", 332_000],
  ["kits, groups and middleware of an app", "middleware", 352_000],
  ["routes and a typed client that calls each", "client", 460_000],
])("costs the type checker little: %s", { timeout: 120_000 }, async (_what, mode, budget) => {
  const program = fileURLToPath(new URL("../../bench/sdk/types.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--instantiations", mode]);
  expect(Number(stdout)).toBeGreaterThan(100_000);
  expect(Number(stdout)).toBeLessThan(budget);
});
