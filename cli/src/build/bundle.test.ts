import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageFolder } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { bundle } from "./bundle.ts";

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  folder = await mkdtemp(join(packageFolder, ".tenon", "bundle-"));
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "demo"\n');
  await writeFile(join(folder, "src/handler.ts"), 'import { text } from "../text.ts";\nexport default text;\n');
  await writeFile(join(folder, "text.ts"), 'export const text: string = "hi";\n');
});
afterAll(() => rm(folder, { recursive: true }));

test("the user's own files are named, wherever they are", async () => {
  const { inputs } = await bundle(await requireProject(folder), { minify: false, checkResponses: false });
  expect(inputs).toEqual(expect.arrayContaining([join(folder, "src/handler.ts"), join(folder, "text.ts")]));
  expect(inputs.every((each) => each.endsWith(".ts") || each.endsWith(".js"))).toBe(true);
});

test.each([true, false])("responses are checked when that is asked for: %s", async (checkResponses) => {
  const { file } = await bundle(await requireProject(folder), { minify: false, checkResponses });
  expect(/\.handle\(request, \{ checkResponse \}\)/.test(await readFile(file, "utf8"))).toBe(checkResponses);
});
