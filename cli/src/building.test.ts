import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildPackageFrom, mainOf } from "./building.ts";

test("a clone has what building needs", async () => {
  for (const command of ["build", "dev", "schema", "run"])
    expect(await mainOf(["node", "tenon", command])).toBeUndefined();
});

test("the package is found from a project's folder, if it has been packed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tenon-building-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  expect(buildPackageFrom(folder)).toBeUndefined();
  const at = join(folder, "node_modules/@tenon/build");
  await mkdir(join(at, "dist"), { recursive: true });
  await writeFile(join(at, "package.json"), '{ "version": "9.8.7" }');
  // The package's folder in a clone has no code.
  expect(buildPackageFrom(folder)).toBeUndefined();
  await writeFile(join(at, "dist/main.js"), "");
  expect(buildPackageFrom(join(folder, "inner"))).toEqual({ folder: at, version: "9.8.7" });
});
