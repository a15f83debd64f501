import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProject, requireProject } from "./project.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-project-"));
});
afterEach(() => rm(folder, { recursive: true }));

const shown = () => relative(process.cwd(), join(folder, "tenon.toml"));

test("a project is found from a folder in it", async () => {
  expect(await findProject(folder)).toBeUndefined();
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "demo"\n');
  await mkdir(join(folder, "src/deep"), { recursive: true });
  expect(await findProject(join(folder, "src/deep"))).toMatchObject({ folder, source: join(folder, "src/handler.ts") });
});

test("a tenon.toml that is a folder, or that is wrong, is named from the working folder", async () => {
  await mkdir(join(folder, "tenon.toml"));
  await expect(requireProject(folder)).rejects.toThrow(`cannot read ${shown()}: it is a folder`);
  await rm(join(folder, "tenon.toml"), { recursive: true });
  await writeFile(join(folder, "tenon.toml"), "[project]\nname =\n");
  await expect(requireProject(folder)).rejects.toThrow(`${shown()}:2:7: a value is missing`);
});
