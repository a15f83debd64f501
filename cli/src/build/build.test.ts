import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { requireProject } from "../project/project.ts";
import { requireSource } from "./build.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenon-build-"));
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "demo"\n');
});
afterEach(() => rm(folder, { recursive: true }));

test("a handler that is not there, or a folder, is named", async () => {
  const project = await requireProject(folder);
  await expect(requireSource(project)).rejects.toMatchObject({
    message: expect.stringMatching(/^cannot read .*src.handler\.ts: there is no such file or folder$/),
    hint: "a project's handler is in src/handler.ts",
  });
  await mkdir(project.source);
  const error: unknown = await requireSource(project).catch((error: unknown) => error);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^cannot read .*src.handler\.ts: it is not a regular file$/),
  });
  expect(error).not.toHaveProperty("hint");
  await rm(project.source, { recursive: true });
  await writeFile(project.source, "");
  await requireSource(project);
});
