import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { componentEmbed } from "@bytecodealliance/jco";
import { afterEach, beforeEach, expect, test } from "vitest";
import { templateFolder, witFolder } from "../package.ts";
import { parseConfig } from "./config.ts";
import { createProject, templates } from "./create.ts";
import { packageManager } from "./package-manager.ts";

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "tenon-new-"));
});
afterEach(() => rm(parent, { recursive: true }));

test("a project has the layout of the specification, under its own name", async () => {
  const folder = join(parent, "my-shop");
  const files = await createProject(folder, "my-shop", "hello");
  expect(files).toEqual(
    expect.arrayContaining([
      ".gitignore",
      "modules/.gitkeep",
      "package.json",
      "src/handler.ts",
      "tenon.toml",
      "test/handler.test.ts",
      "tsconfig.json",
      "wit/deps/core/handler.wit",
      "wit/deps/core/worlds.wit",
      "wit/world.wit",
    ]),
  );
  const read = (file: string) => readFile(join(folder, file), "utf8");
  expect(JSON.parse(await read("package.json"))).toMatchObject({ name: "my-shop" });
  expect(parseConfig(await read("tenon.toml"), "tenon.toml").project.name).toBe("my-shop");
  expect(await read("wit/world.wit")).toContain("package app:my-shop;");
  expect(await read("wit/world.wit")).toContain("world my-shop {");
  expect(await read("wit/world.wit")).toContain("include sdk:core/handler-world@0.1.0;");
  for (const file of ["src/handler.ts", "test/handler.test.ts"]) {
    expect(await read(file)).toContain('service: "my-shop"');
    expect(await read(file)).not.toContain('"hello"');
  }
});

test.each(Object.entries(templates))(
  "the template %s makes its example, under its name",
  async (template, { example }) => {
    const folder = join(parent, example);
    const files = await createProject(folder, example, template);
    for (const file of files) {
      // It names the packages of this clone, and the examples are committed without what the command copies.
      if (file === "package.json" || file.startsWith("wit/deps/")) continue;
      const expected = await readFile(join(templateFolder(example), file), "utf8");
      expect(await readFile(join(folder, file), "utf8"), file).toBe(expected);
    }
    expect(await readFile(join(folder, "wit/deps/core/handler.wit"), "utf8")).toBe(
      await readFile(join(witFolder, "handler.wit"), "utf8"),
    );
  },
);

test.each(Object.keys(templates))("nothing of the template %s keeps the example's name", async (template) => {
  const folder = join(parent, "my-shop");
  await createProject(folder, "my-shop", template);
  const read = (file: string) => readFile(join(folder, file), "utf8");
  expect(JSON.parse(await read("package.json"))).toMatchObject({ name: "my-shop" });
  expect(parseConfig(await read("tenon.toml"), "tenon.toml").project.name).toBe("my-shop");
  expect(await read("wit/world.wit")).toContain("package app:my-shop;");
  expect(await read("wit/world.wit")).toContain("world my-shop {");
  const { example } = templates[template] ?? { example: "" };
  for (const file of ["src/handler.ts", "test/handler.test.ts"]) expect(await read(file)).not.toContain(`"${example}"`);
});

test("a name that is a keyword of WIT names the package and the world nevertheless", async () => {
  const keywords =
    "use type func u8 u16 u32 u64 s8 s16 s32 s64 f32 f64 char resource own borrow record flags variant enum bool string " +
    "option result future stream error-context list map as from static interface tuple world import export package " +
    "constructor include with async";
  for (const name of keywords.split(" ")) {
    const folder = join(parent, name);
    await createProject(folder, name, "hello");
    const world = await readFile(join(folder, "wit/world.wit"), "utf8");
    expect(world).toContain(`world %${name} {`);
    // Without the packages in deps/, which this parser does not get.
    const witSource = world.replace(/^ *include .*$/m, "");
    await expect(componentEmbed({ witSource, dummy: true }), name).resolves.toBeInstanceOf(Uint8Array);
  }
});

test("nothing is written over", async () => {
  await writeFile(join(parent, "file"), "kept");
  await expect(createProject(parent, "demo", "hello")).rejects.toMatchObject({ code: "EXISTS" });
  await expect(createProject(join(parent, "file"), "demo", "hello")).rejects.toMatchObject({ code: "EXISTS" });
  expect(await readFile(join(parent, "file"), "utf8")).toBe("kept");
});

test("a file in the project's place is called one", async () => {
  await writeFile(join(parent, "file"), "kept");
  await expect(createProject(join(parent, "file"), "file", "hello")).rejects.toThrow(
    "file already exists: it is a file",
  );
});

test("nothing is left of a project that could not be made whole", async () => {
  const folders = join(parent, ...Array.from({ length: 20 }, () => "d".repeat(199)));
  // A path may have 4,095 bytes: the folder's has room, and those of its files do not.
  const folder = join(folders, "d".repeat(4_085 - folders.length - 1));
  await expect(createProject(folder, "demo", "hello")).rejects.toMatchObject({ code: "WRITE" });
  expect(await readdir(parent)).toEqual([]);
});

test("a repository that was just begun is in nobody's way", async () => {
  await mkdir(join(parent, ".git"));
  await writeFile(join(parent, ".git/HEAD"), "ref: refs/heads/main\n");
  const files = await createProject(parent, "demo", "hello");
  expect(files).toContain("src/handler.ts");
  expect(files.filter((file) => file.startsWith(".git/"))).toEqual([]);
});

test("pnpm may run the install scripts that npm may, unless a workspace around the project says which", async () => {
  const files = await createProject(join(parent, "demo"), "demo", "hello", "pnpm");
  expect(files).toContain("pnpm-workspace.yaml");
  expect(await readFile(join(parent, "demo/pnpm-workspace.yaml"), "utf8")).toBe('allowBuilds:\n  "esbuild": true\n');
  await writeFile(join(parent, "pnpm-workspace.yaml"), "packages: ['*']\n");
  expect(await createProject(join(parent, "member"), "member", "hello", "pnpm")).not.toContain("pnpm-workspace.yaml");
  expect(await createProject(join(parent, "npm"), "npm", "hello")).not.toContain("pnpm-workspace.yaml");
});

test("the package manager is the one that runs the command", () => {
  expect(packageManager({ npm_config_user_agent: "pnpm/12.21.0 npm/? node/v22.1.0 linux x64" })).toBe("pnpm");
  expect(packageManager({ npm_config_user_agent: "npm/11.0.0 node/v22.1.0 linux x64" })).toBe("npm");
  expect(packageManager({})).toBe("npm");
});

test("an unknown template is named with those that there are", async () => {
  const failure = createProject(join(parent, "demo"), "demo", "nextjs");
  await expect(failure).rejects.toMatchObject({ code: "USAGE", hint: "templates: hello, rest, hono, sql" });
});
