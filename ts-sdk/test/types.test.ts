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
