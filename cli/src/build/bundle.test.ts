import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { packageFolder } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { bundle } from "./bundle.ts";

const { mkdir, mkdtemp, readFile, rm, writeFile } = fs;

// Who may do everything, as in a container, may read every file.
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof fs>();
  const readFile = (path: string, ...rest: never[]) =>
    path.endsWith("locked.ts")
      ? Promise.reject(Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: "EACCES" }))
      : real.readFile(path, ...rest);
  return { ...real, readFile };
});

let folder: string;
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(packageFolder, ".tenon"), { recursive: true });
  folder = await mkdtemp(join(packageFolder, ".tenon", "bundle-"));
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "demo"\n');
  const source = `import { ok, get, routes } from "@tenon/sdk";
import { text } from "../text.ts";
export default routes({ it: get("/", () => ok({ text })) });
`;
  await writeFile(join(folder, "src/handler.ts"), source);
  await writeFile(join(folder, "text.ts"), 'export const text: string = "hi";\n');
});
afterAll(() => rm(folder, { recursive: true }));

test("the user's own files are named, wherever they are", async () => {
  const { inputs } = await bundle(await requireProject(folder), { minify: false, checkResponses: false });
  expect(inputs).toEqual(expect.arrayContaining([join(folder, "src/handler.ts"), join(folder, "text.ts")]));
  expect(inputs.every((each) => each.endsWith(".ts") || each.endsWith(".js"))).toBe(true);
});

test("a bundle and its source map are the same in another folder", async () => {
  const made: string[][] = [];
  for (const name of ["one-folder", "another"]) {
    const at = join(folder, name);
    await mkdir(join(at, "src"), { recursive: true });
    await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
    await writeFile(join(at, "src/handler.ts"), await readFile(join(folder, "src/handler.ts")));
    await writeFile(join(at, "text.ts"), 'export const text: string = "hi";\n');
    const { file, sourceMap } = await bundle(await requireProject(at), { minify: false, checkResponses: true });
    made.push([await readFile(file, "utf8"), await readFile(sourceMap, "utf8")]);
  }
  expect(made[1]).toEqual(made[0]);
});

test("an app that speaks fetch is bundled without the code for routes", async () => {
  const at = join(folder, "speaks-fetch");
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
  await writeFile(join(at, "src/handler.ts"), "export default { fetch: () => new Response() };\n");
  const { file } = await bundle(await requireProject(at), { minify: false, checkResponses: true });
  const code = await readFile(file, "utf8");
  expect(code).toContain("waitUntil");
  expect(code).not.toContain("/dist/routing/");
});

test.each([true, false])("responses are checked when that is asked for: %s", async (checkResponses) => {
  const { file } = await bundle(await requireProject(folder), { minify: false, checkResponses });
  expect(/\.handle\(request, \{ checkResponse \}\)/.test(await readFile(file, "utf8"))).toBe(checkResponses);
});

const missing = (name: string) =>
  `  install it: \`npm install\` when package.json names it, otherwise \`npm install ${name}\``;

test.each([
  [
    "columns are characters, and so is the length of what is meant",
    { "handler.ts": 'const größe = "日本"; import { a } from "./größe"; export default a;' },
    [
      'src/handler.ts:1:39: Could not resolve "./größe"',
      '  1 | const größe = "日本"; import { a } from "./größe"; export default a;',
      `    | ${" ".repeat(38)}^^^^^^^^^`,
    ],
  ],
  [
    "a package that is missing is to be installed, and is told once",
    {
      "handler.ts": 'import "./other.ts";\nexport { a as default } from "left-pad/sub";',
      "other.ts": 'import "left-pad/sub"; import "@acme/x";',
    },
    [
      'src/handler.ts:2:30: Could not resolve "left-pad/sub"',
      '  2 | export { a as default } from "left-pad/sub";',
      `    | ${" ".repeat(29)}^^^^^^^^^^^^^^`,
      missing("left-pad"),
      'src/other.ts:1:31: Could not resolve "@acme/x"',
      '  1 | import "left-pad/sub"; import "@acme/x";',
      `    | ${" ".repeat(30)}^^^^^^^^^`,
      missing("@acme/x"),
    ],
  ],
  [
    "of a package that is there, what it lacks",
    { "handler.ts": 'export { a as default } from "@tenon/sdk/nothing";' },
    [
      'src/handler.ts:1:30: Could not resolve "@tenon/sdk/nothing"',
      '  1 | export { a as default } from "@tenon/sdk/nothing";',
      `    | ${" ".repeat(29)}^^^^^^^^^^^^^^^^^^^^`,
      '  The path "./nothing" is not exported by package "@tenon/sdk":',
    ],
  ],
  [
    "a file that can't be read",
    { "handler.ts": 'export { a as default } from "./locked.ts";', "locked.ts": "export const a = 1;" },
    [
      "src/handler.ts:1:30: cannot read src/locked.ts: permission denied",
      '  1 | export { a as default } from "./locked.ts";',
      `    | ${" ".repeat(29)}^^^^^^^^^^^^^`,
    ],
  ],
  [
    "no default export",
    { "handler.ts": "export const a = 1;" },
    ["src/handler.ts: it has no default export; export what routes() gives: export default routes({ … })"],
  ],
])("%s", async (name, files: Readonly<Record<string, string>>, lines) => {
  const at = join(folder, name.replaceAll(/\W+/g, "-"));
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
  for (const [file, content] of Object.entries(files)) await writeFile(join(at, "src", file), content);
  const bundled = bundle(await requireProject(at), { minify: false, checkResponses: false });
  const { message } = (await bundled.catch((error) => error)) as Error;
  expect(message.replaceAll(`${relative(process.cwd(), at)}/`, "").split("\n")).toEqual(lines);
});

test("without the SDK there is more to install", async () => {
  const at = await mkdtemp(join(tmpdir(), "tenon-bundle-"));
  try {
    await mkdir(join(at, "src"));
    await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
    await writeFile(join(at, "src/handler.ts"), "export default 1;");
    const shown = relative(process.cwd(), join(at, "src/handler.ts"));
    await expect(bundle(await requireProject(at), { minify: false, checkResponses: false })).rejects.toMatchObject({
      message: `${shown}: Could not resolve "@tenon/sdk"\n${missing("@tenon/sdk")}`,
    });
  } finally {
    await rm(at, { recursive: true });
  }
});
