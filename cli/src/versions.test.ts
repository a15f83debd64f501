import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { version } from "./package.ts";
import { enginePackage, installedVersion, versionLine, wasmtimeVersion } from "./versions.ts";

test("the version of wasmtime is the one that the addon is built with", () => {
  const manifest = readFileSync(new URL("../../Cargo.toml", import.meta.url), "utf8");
  expect(/^wasmtime = \{ version = "=([^"]+)"/m.exec(manifest)?.[1]).toBe(wasmtimeVersion);
});

test("packages are found from a folder upwards", () => {
  const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(installedVersion(enginePackage)).toBe(dependencies[enginePackage]);
  expect(installedVersion("commander")).toBe(dependencies.commander);
  expect(installedVersion("no-such-package")).toBeUndefined();
  expect(installedVersion(enginePackage, "/")).toBeUndefined();
  expect(versionLine()).toBe(
    `tenon ${version} (StarlingMonkey of componentize-js ${dependencies[enginePackage]}, wasmtime ${wasmtimeVersion})`,
  );
});
