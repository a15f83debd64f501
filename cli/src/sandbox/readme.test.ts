/** The lines of the README on code from outside, run unchanged. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("the README's sandbox prints what it says", { timeout: 300_000 }, async () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const readme = await readFile(`${root}/README.md`, "utf8");
  const code = /## Code from outside\n.*?```js\n(.*?)```/s.exec(readme)?.[1];
  if (code === undefined) throw new Error("the README has no such lines");
  // A module without a file finds its packages from the current folder.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], {
    cwd: root,
  });
  expect(stderr).toBe("");
  const said = [...code.matchAll(/\/\/ (\{.*\})$/gm)].map(([, comment = ""]) =>
    comment.replaceAll(/[, …{}]+/g, " ").trim(),
  );
  expect(said).toHaveLength(2);
  const printed = stdout.replaceAll("'", '"').replaceAll(/[\s,{}]+/g, " ");
  for (const comment of said) for (const part of comment.split(" error: ")) expect(printed).toContain(part.trim());
});
