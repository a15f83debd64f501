import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Project } from "../project/project.ts";
import { type Watching, watch } from "./watch.ts";

let folder: string;
let watching: Watching;
let told: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-watch-"));
  for (const each of ["src/deep", "modules", "lib", "node_modules/x", ".tenon"]) {
    await mkdir(join(folder, each), { recursive: true });
  }
  for (const file of ["src/handler.ts", "src/deep/a.ts", "lib/text.ts", "tenon.toml"]) await write(file);
  told = [];
  watching = await watch({ folder } as Project, (paths) =>
    told.push(...paths.map((each) => each.slice(folder.length + 1))),
  );
});
afterEach(async () => {
  await watching.close();
  await rm(folder, { recursive: true });
});

let version = 0;
const write = (file: string) => writeFile(join(folder, file), String(++version));

test.each(["src/handler.ts", "src/deep/a.ts", "src/new.ts", "tenon.toml", "modules/other.wasm", "package.json"])(
  "%s is told",
  async (file) => {
    await write(file);
    await expect.poll(() => told).toContain(file);
  },
);

test("files that a build has read matter too, inside the project and beside it; nothing else does", async () => {
  const beside = join(`${folder}-beside`, "text.ts");
  await mkdir(`${folder}-beside`);
  await writeFile(beside, "0");
  try {
    const files = ["lib/text.ts", "node_modules/x/index.js", "src/dist/own.ts"].map((file) => join(folder, file));
    watching.read([...files, beside], Date.now(), true);
    await writeFile(join(folder, "notes.md"), "x");
    await writeFile(join(folder, "node_modules/x/other.js"), "x");
    await write("lib/text.ts");
    await write("node_modules/x/index.js");
    await mkdir(join(folder, "src/dist"));
    await write("src/dist/own.ts");
    await writeFile(beside, "1");
    const all = ["lib/text.ts", "node_modules/x/index.js", "src/dist/own.ts", "beside/text.ts"];
    await expect.poll(() => told).toEqual(expect.arrayContaining(all));
    expect(told).not.toContain("notes.md");
    expect(told).not.toContain("node_modules/x/other.js");
  } finally {
    await rm(`${folder}-beside`, { recursive: true });
  }
});

test("a build that fails adds to the files of the build before; the next whole one replaces them", async () => {
  watching.read([join(folder, "lib/text.ts")], Date.now(), true);
  watching.read([join(folder, "lib/other.ts")], Date.now(), false);
  await write("lib/other.ts");
  await write("lib/text.ts");
  await expect.poll(() => told).toEqual(expect.arrayContaining(["lib/text.ts", "lib/other.ts"]));
  watching.read([join(folder, "lib/text.ts")], Date.now(), true);
  told.splice(0);
  await write("lib/other.ts");
  await write("lib/text.ts");
  await expect.poll(() => told).toContain("lib/text.ts");
  expect(told).not.toContain("lib/other.ts");
});

test("an editor that writes beside and renames is one change; what it leaves lying about is none", async () => {
  await write("src/handler.ts~");
  await write("src/.handler.ts.swp");
  await writeFile(join(folder, "src/.new"), "x");
  await rename(join(folder, "src/.new"), join(folder, "src/handler.ts"));
  await expect.poll(() => told).toContain("src/handler.ts");
  expect(told.some((each) => each.endsWith("~") || each.endsWith(".swp"))).toBe(false);
});

test("a file that goes is told", async () => {
  await rm(join(folder, "src/deep/a.ts"));
  await expect.poll(() => told).toContain("src/deep/a.ts");
});
