import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { projectsFrom } from "./project.ts";
import { workspaceMembers } from "./workspace.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tenon-workspace-"));
  await writeFile(join(root, "package.json"), '{ "workspaces": ["apps/*", "!apps/old"] }');
  for (const member of ["apps/a", "apps/b", "apps/old", "apps/plain"]) {
    await mkdir(join(root, member), { recursive: true });
    await writeFile(join(root, member, "package.json"), "{}");
  }
  for (const name of ["a", "b", "old"]) {
    await writeFile(join(root, `apps/${name}/tenon.toml`), `[project]\nname = "${name}"\n`);
  }
});
afterEach(() => rm(root, { recursive: true }));

const names = async (folder: string) => (await projectsFrom(folder)).map((project) => project.config.project.name);

test("members are those that the root names", () => {
  expect(workspaceMembers(join(root, "apps/a"))).toEqual(
    ["", "apps/a", "apps/b", "apps/plain"].map((at) => join(root, at)),
  );
});

test("at the root every project is meant, in a member that one", async () => {
  expect(await names(root)).toEqual(["a", "b"]);
  expect(await names(join(root, "apps/b"))).toEqual(["b"]);
  // Even one that the workspace leaves out.
  expect(await names(join(root, "apps/old"))).toEqual(["old"]);
});

test("a workspace of pnpm is one, too", async () => {
  await writeFile(join(root, "package.json"), "{}");
  await writeFile(join(root, "pnpm-workspace.yaml"), "packages:\n  - apps/*\n  - '!apps/old'\n");
  expect(await names(root)).toEqual(["a", "b"]);
  expect(workspaceMembers(join(root, "apps/a"))).toHaveLength(4);
});

test("elsewhere in the workspace none is meant", async () => {
  for (const folder of ["apps", "apps/plain"]) {
    await expect(projectsFrom(join(root, folder))).rejects.toMatchObject({ code: "NO_PROJECT" });
  }
});

test("without a project anywhere it says so", async () => {
  await writeFile(join(root, "package.json"), '{ "workspaces": [] }');
  await expect(projectsFrom(root)).rejects.toMatchObject({ code: "NO_PROJECT" });
});
