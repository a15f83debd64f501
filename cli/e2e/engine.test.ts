/** Compares Tenon's engine with the one of componentize-js: scripts have the same results on both. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./servers.ts";

/** The short run of `scripts/engine-equality.mjs`; test262 and the Web Platform Tests are too long for here. */
test("scripts behave on the rewritten engine as on the unmodified one", async () => {
  const child = spawn(process.execPath, [join(root, "scripts/engine-equality.mjs")], { cwd: root });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      output += data;
    });
  }
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code, output).toBe(0);
  expect(output).toContain("DIFFERENT: 0");
  // No test of the sample fails, which would be equal on both, too.
  expect(output).toMatch(/verdicts of the first leg: pass \d+\n/);
});
