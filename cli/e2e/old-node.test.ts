/** The command in a version of Node that cannot run it. */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { expect, test } from "vitest";
import { testWith } from "../../testing/needs.ts";
import { findProgram } from "../../testing/programs.ts";
import { root, tenon } from "./servers.ts";

testWith("node-16", "Node 16 is told which version is needed", () => {
  const node = realpathSync(findProgram("node-16") as string);
  for (const args of [["--version"], ["doctor"], ["dev"]]) {
    const { status, stdout, stderr } = spawnSync(node, [tenon, ...args], { encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      `error: tenon needs Node 20.19 or newer; this is Node 16.20.2 (${node})\n` +
        "hint: install a newer one, with `nvm install 22` or from https://nodejs.org\n",
    ]);
  }
});

test("bin/tenon.js has nothing that is newer than ECMAScript 5", async () => {
  const source = await readFile(tenon, "utf8");
  // esbuild fails at syntax that it cannot lower, and changes the text of syntax that it lowers.
  const same = { minifyWhitespace: true } as const;
  const [lowered, plain] = await Promise.all([transform(source, { ...same, target: "es5" }), transform(source, same)]);
  expect(lowered.code).toBe(plain.code);
  expect(JSON.parse(await readFile(join(root, "cli/bin/package.json"), "utf8"))).toEqual({ type: "commonjs" });
});
