/** The first lines of the README and of docs/sandbox.md on code from outside, run unchanged. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Runs the first lines of JavaScript after a text of a page. */
async function run(page: string, after: string): Promise<{ readonly code: string; readonly stdout: string }> {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const text = await readFile(`${root}/${page}`, "utf8");
  const code = /```js\n(.*?)```/s.exec(text.slice(text.indexOf(after)))?.[1];
  if (code === undefined) throw new Error(`${page} has no such lines`);
  // A module without a file finds its packages from the current folder.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], {
    cwd: root,
  });
  expect(stderr).toBe("");
  return { code, stdout };
}

test("the sandbox of docs/sandbox.md prints what it says", { timeout: 300_000 }, async () => {
  const { stdout } = await run("docs/sandbox.md", "# The sandbox");
  expect(stdout).toMatch(/^Ada \{\s+cpuUs: /);
});

test("the README's sandbox prints what it says", { timeout: 300_000 }, async () => {
  const { code, stdout } = await run("README.md", "## Code from outside");
  const said = [...code.matchAll(/\/\/ (\{.*\})$/gm)].map(([, comment = ""]) =>
    comment.replaceAll(/[, …{}]+/g, " ").trim(),
  );
  expect(said).toHaveLength(2);
  const printed = stdout.replaceAll("'", '"').replaceAll(/[\s,{}]+/g, " ");
  for (const comment of said) for (const part of comment.split(" error: ")) expect(printed).toContain(part.trim());
});
