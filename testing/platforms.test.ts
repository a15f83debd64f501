/** The targets of scripts/cross, the packages of the addon and the addon's loader agree. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface Target {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const { targets, packageOf, addonOf } = (await import("../scripts/cross/targets.mjs" as string)) as {
  targets: Record<string, Target>;
  packageOf(name: string): string;
  addonOf(name: string): string;
};
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("every target has a package, and every package a target", () => {
  const folders = Object.keys(targets).map((name) => packageOf(name).replace("bindings/npm/", ""));
  expect(folders.sort()).toEqual(readdirSync(join(root, "bindings/npm")).sort());
});

test.each(Object.entries(targets))(
  "the package of %s is for that system, and the loader asks for it",
  (name, target) => {
    const manifest = JSON.parse(read(`${packageOf(name)}/package.json`));
    const { os, cpu, libc } = target;
    const files = [addonOf(name), "THIRD_PARTY.txt", "sbom.cdx.json"];
    expect(manifest).toMatchObject({ os: [os], cpu: [cpu], main: addonOf(name), files });
    expect(manifest.libc).toEqual(libc === undefined ? undefined : [libc]);
    expect(read("bindings/index.js")).toContain(`require('${manifest.name}')`);
  },
);
