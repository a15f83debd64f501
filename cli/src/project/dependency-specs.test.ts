import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packageFolder, version } from "../package.ts";
import { dependencySpecs } from "./dependency-specs.ts";

let root: string;
let installed: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenon-specs-"));
  installed = join(root, "node_modules", "tenon");
  await mkdir(installed, { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

const lock = (packages: Record<string, { resolved: string }>) =>
  writeFile(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages }));

test("a command from the registry makes projects that use the registry", async () => {
  await lock({ "node_modules/tenon": { resolved: "https://registry.example/tenon.tgz" } });
  expect(dependencySpecs(installed)).toEqual({
    tenon: `^${version}`,
    "@tenon/sdk": `^${version}`,
    "@tenon/build": `^${version}`,
  });
});

test("a command from tarballs makes projects that use the same tarballs", async () => {
  const packed = {
    tenon: "../packed/tenon.tgz",
    "@tenon/sdk": "../packed/sdk.tgz",
    "@tenon/build": "../packed/build.tgz",
    "@tenon/native": "../packed/native.tgz",
    "@tenon/native-linux-x64-gnu": "../packed/native-linux-x64-gnu.tgz",
    "@tenon/engine": "../packed/engine.tgz",
  };
  const entries = Object.entries(packed);
  await lock(Object.fromEntries(entries.map(([name, file]) => [`node_modules/${name}`, { resolved: `file:${file}` }])));
  expect(dependencySpecs(installed)).toEqual(
    Object.fromEntries(entries.map(([name, file]) => [name, `file:${join(root, file)}`])),
  );
});

test("a command in a clone makes projects that use the clone", () => {
  expect(dependencySpecs()["tenon"]).toBe(`file:${packageFolder.replace(/\/$/, "")}`);
});
