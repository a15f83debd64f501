import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

// Vitest's own type checking needs a compiler API that TypeScript 7 no longer has; its compiler says the same.
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

// The time that checking takes is the machine's; the number of instantiations is what it goes into, and the same on all.
// 500 routes with 1,500 schemas take 366,000 (the fields with a default, for typed clients, are 21 of each Query and Type): a budget, to be raised only knowingly (`bench/sdk/types.mjs` has the time).
it("costs the type checker little", { timeout: 120_000 }, async () => {
  const program = fileURLToPath(new URL("../../bench/sdk/types.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, "--instantiations"]);
  expect(Number(stdout)).toBeGreaterThan(100_000);
  expect(Number(stdout)).toBeLessThan(372_000);
});
