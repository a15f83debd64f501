import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packagesFrom } from "./packages.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenon-packages-"));
  await write("package.json", '{ "name": "all", "workspaces": ["apps/*", "lib"] }');
  for (const name of ["apps/one", "apps/two", "lib", "left-out"])
    await write(`${name}/package.json`, '{ "name": "x" }');
  for (const name of ["apps/one", "apps/two"]) await write(`${name}/src/handler.ts`, "");
  await write("lib/src/index.ts", "");
});
afterEach(() => rm(root, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

const both = () => ["apps/one", "apps/two"].map((name) => join(root, name));

test("at the root of a workspace all of its packages with a handler are meant, in a package that one", () => {
  expect(packagesFrom(root, false)).toEqual(both());
  expect(packagesFrom(join(root, "apps/one/src"), false)).toEqual([join(root, "apps/one")]);
});

test.each(["apps", "lib", "lib/src", "left-out"])("in %s none is meant, unless all are asked for", (folder) => {
  expect(() => packagesFrom(join(root, folder), false)).toThrow(
    expect.objectContaining({ code: "NO_PROJECT", hint: expect.stringContaining("--workspaces selects all packages") }),
  );
  expect(packagesFrom(join(root, folder), true)).toEqual(both());
});

test("the hint says nothing of a workspace where there is none", async () => {
  await write("package.json", '{ "name": "alone" }');
  expect(() => packagesFrom(join(root, "lib"), false)).toThrow(
    expect.objectContaining({ code: "NO_PROJECT", hint: expect.not.stringContaining("--workspaces") }),
  );
});

test("a package.json that can't be read is the user's to mend", async () => {
  await write("apps/one/package.json", "{bad");
  for (const all of [false, true]) {
    expect(() => packagesFrom(join(root, "apps/one"), all)).toThrow(
      expect.objectContaining({ code: "SCHEMA", message: expect.stringContaining("apps/one/package.json: ") }),
    );
  }
});
