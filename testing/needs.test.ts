/** Tests that a missing program is named and its tests are skipped; with `CI` set they fail. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const empty = mkdtempSync(join(tmpdir(), "tenon-no-programs-"));
afterAll(() => rmSync(empty, { recursive: true }));

/** Runs the tests of completions, which need three shells, with a `PATH` without programs. */
function run(environment: NodeJS.ProcessEnv): { code: number | null; output: string } {
  const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "cli", "src/completions"];
  const env = { PATH: empty, HOME: empty, NO_COLOR: "1", ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}

const shells = ["bash", "zsh", "fish"];

test("elsewhere than in CI the tests are skipped, and one line for each program tells what to install", () => {
  const { code, output } = run({});
  expect(code, output).toBe(0);
  for (const shell of shells) {
    const line = `of cli/src/completions/completions.test.ts, because ${shell} is not installed`;
    expect(output.split("\n").filter((each) => each.startsWith("left out: ") && each.includes(line))).toHaveLength(1);
    expect(output).toContain(`${shell} is not installed; install it: apt-get install ${shell}`);
  }
});

test("in CI it is a failure", () => {
  const { code, output } = run({ CI: "true", TENON_LEAVE_OUT: "zsh" });
  expect(code, output).toBe(1);
  expect(output).toContain("fish is not installed; install it: apt-get install fish");
});

test("in CI what TENON_LEAVE_OUT names may be missing", () => {
  const { code, output } = run({ CI: "true", TENON_LEAVE_OUT: shells.join(" ") });
  expect(code, output).toBe(0);
  expect(output).toContain("because fish is not installed");
});
