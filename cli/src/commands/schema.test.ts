import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../package.ts";

test("a promise that a top level leaves rejected is an error without a stack, and nothing is written", async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  const folder = await mkdtemp(join(packageFolder, ".tenon", "schema-"));
  try {
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "package.json"), '{ "name": "demo" }');
    await writeFile(
      join(folder, "src/handler.ts"),
      `import { get, ok, routes } from "@tenon/sdk";
Promise.reject(new Error("later"));
export default routes({ a: get("/", () => ok(1)) });
`,
    );
    const args = [join(packageFolder, "bin/tenon.js"), "schema"];
    expect(spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" })).toMatchObject({
      status: 1,
      stdout: "",
      stderr: "error: src/handler.ts: the module's top level failed: it rejects a promise that nobody handles: later\n",
    });
    expect(existsSync(join(folder, "openapi.json"))).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a top level that fills the memory is an error, without a dump of Node", { timeout: 120_000 }, async () => {
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  const folder = await mkdtemp(join(packageFolder, ".tenon", "schema-"));
  try {
    await writeFile(join(folder, "package.json"), '{ "name": "demo" }');
    await writeFile(join(folder, "tenon.toml"), '[project]\nname = "demo"\nentry = "app.ts"\n');
    await writeFile(
      join(folder, "app.ts"),
      "const all = [];\nfor (;;) all.push(Array.from({ length: 1000 }, (_, n) => ({ n })));\n",
    );
    const args = [join(packageFolder, "bin/tenon.js"), "schema"];
    expect(spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" })).toMatchObject({
      status: 1,
      stdout: "",
      stderr: "error: app.ts: the module's top level needs more than 512 MiB of memory\n",
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
