import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildPackageFrom, isBuilding, mainOf, projectOf } from "./building.ts";

test("a clone has what building needs", async () => {
  for (const command of ["build", "dev", "mcp", "schema", "run"])
    expect(await mainOf(["node", "tenon", command])).toBeUndefined();
});

test("tenon mcp builds, in the folder of its project, unless it passes messages on", () => {
  expect(isBuilding("mcp", [])).toBe(true);
  expect(isBuilding("mcp", ["-H", "a: b", "--project", "/shop"])).toBe(true);
  expect(isBuilding("mcp", ["--url", "http://127.0.0.1:3000/run/shop/mcp"])).toBe(false);
  expect(isBuilding("mcp", ["--url=http://127.0.0.1:3000/run/shop/mcp"])).toBe(false);
  expect(isBuilding("replay", ["a.tape", "--until", "src/a.ts:1"])).toBe(true);
  expect(isBuilding("replay", ["a.tape", "--json"])).toBe(false);
  expect(isBuilding("run", ["shop.wasm"])).toBe(false);
  for (const args of [["--project", "/shop"], ["--project=/shop"], ["-C", "/shop"], ["-C/shop"]])
    expect(projectOf("mcp", ["-q", ...args], "/projects")).toBe("/shop");
  expect(projectOf("mcp", ["--project", "shop"], "/projects")).toBe("/projects/shop");
  expect(projectOf("mcp", ["--project"], "/projects")).toBe("/projects");
  expect(projectOf("build", ["-C", "/shop"], "/projects")).toBe("/projects");
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
