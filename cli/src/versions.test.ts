import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { referencePackage, referenceVersion } from "./build/reference.ts";
import { version } from "./package.ts";
import { engineVersion, installedVersion, versionLine, wasmtimeVersion } from "./versions.ts";

test("the version of wasmtime is the one that the addon is built with", () => {
  const manifest = readFileSync(new URL("../../Cargo.toml", import.meta.url), "utf8");
  expect(/^wasmtime = \{ version = "=([^"]+)"/m.exec(manifest)?.[1]).toBe(wasmtimeVersion);
});

test("the version of the engine is that of the source which the crate has", () => {
  const manifest = readFileSync(new URL("../../crates/engine/Cargo.toml", import.meta.url), "utf8");
  expect([/^rquickjs-sys = "=([^"]+)"/m.exec(manifest)?.[1], engineVersion]).toEqual(["0.14.0", "0.16.2"]);
});

test("packages are found from a folder upwards", () => {
  const manifest = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
  const { dependencies, devDependencies } = manifest("../package.json");
  const { version: build, dependencies: building, peerDependencies: source } = manifest("../build/package.json");
  // In a clone this package and the one for components have the dependencies of the package for building.
  const { "@tenon/engine": engine, ...shared } = building;
  const { dependencies: guest } = manifest("../../guest/package.json");
  expect({ ...dependencies, ...devDependencies, ...guest }).toMatchObject({ ...shared, ...source });
  expect(shared).toMatchObject(guest);
  expect(source).toEqual({ [referencePackage]: referenceVersion });
  expect(engine).toBe(version);
  expect([build, manifest("../engine/package.json").version]).toEqual([version, version]);
  expect(installedVersion("commander")).toBe(dependencies.commander);
  expect(installedVersion("no-such-package")).toBeUndefined();
  expect(installedVersion("commander", "/")).toBeUndefined();
  expect(versionLine()).toBe(`tenon ${version} (QuickJS-ng ${engineVersion}, wasmtime ${wasmtimeVersion})`);
});
