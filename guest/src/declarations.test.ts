/** Guest code is compiled against the globals of a component; a dependency could bring Node's types along. */
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("no file of this package, and none that it imports, has the types of Node", () => {
  const project = fileURLToPath(new URL("../tsconfig.json", import.meta.url));
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const args = [tsc, "--project", project, "--listFilesOnly"];
  const files = execFileSync(process.execPath, args, { encoding: "utf8" }).trim().split("\n");
  expect(files).toContain(fileURLToPath(new URL("node/process.ts", import.meta.url)));
  const ofNode = files.filter((file) => /[\\/]@types[\\/]/.test(file)).map((file) => relative(dirname(project), file));
  expect(ofNode).toEqual([]);
});
