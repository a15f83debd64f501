import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { packageFolder } from "../package.ts";
import { requireProject } from "../project/project.ts";
import { bundle } from "./bundle.ts";
import { Lookups } from "./lookups.ts";

const { mkdir, mkdtemp, readFile, rm, writeFile } = fs;

// Mocked, because root, as in a container, may read every file.
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

test("the files that a bundle was made from are noted, and those that were looked for", async () => {
  const at = join(folder, "lookups");
  await mkdir(join(at, "src"), { recursive: true });
  await mkdir(join(at, "node_modules/found"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
  await writeFile(join(at, "node_modules/found/package.json"), '{"name":"found","exports":"./made.js"}');
  const imports = ["../../text.ts", "./made", "./old.js", "found", "~/later", "missing/deep"];
  await writeFile(join(at, "tsconfig.json"), '{"compilerOptions":{"paths":{"~/*":["./one/*","./two/*"]}}}');
  await writeFile(join(at, "src/handler.ts"), imports.map((each) => `import "${each}";\n`).join(""));
  const project = await requireProject(at);
  const lookups = new Lookups(project.source);
  await expect(bundle(project, { minify: false, checkResponses: false, lookups })).rejects.toThrow(/missing\/deep/);
  const files = new Set(lookups.files());
  for (const file of [
    ...[
      "src/handler.ts",
      "../text.ts",
      "src/made.ts",
      "src/made/index.js",
      "src/old.js",
      "src/old.ts",
      "tsconfig.json",
    ],
    ...["node_modules/found/made.js", "node_modules/found/package.json", "one/later.ts", "two/later/index.ts"],
    ...[
      "src/node_modules/found",
      "node_modules/missing",
      "../node_modules/missing",
      "package.json",
      "src/tsconfig.json",
    ],
  ])
    expect(files, file).toContain(join(at, file));
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

describe("packages", () => {
  /** Bundles a handler beside packages that stand in its `node_modules`. */
  async function bundledWith(handler: string, files: Readonly<Record<string, string>>, checkResponses = false) {
    const at = await mkdtemp(join(folder, "packages-"));
    await mkdir(join(at, "src"));
    await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
    await writeFile(join(at, "src/handler.ts"), handler);
    for (const [file, content] of Object.entries(files)) {
      await mkdir(dirname(join(at, "node_modules", file)), { recursive: true });
      await writeFile(join(at, "node_modules", file), content);
    }
    const { file, warnings } = await bundle(await requireProject(at), { minify: false, checkResponses });
    return { code: await readFile(file, "utf8"), warnings };
  }
  const using = (value: string, before = "") =>
    `${before}\nexport default { fetch: () => new Response(String(${value})) };\n`;

  test("names of Node's are declared only where one is named", async () => {
    const { code: without } = await bundledWith(using('"Buffer" + { process: 1 }.process'), {});
    expect(without).not.toMatch(/nextTick|kMaxLength/);
    const { code } = await bundledWith(using("Buffer.from('a') + typeof global"), {});
    expect(code).toContain("kMaxLength");
    expect(code).not.toContain("nextTick");
  });

  test("names of Node's follow the globals that they use", async () => {
    const { code } = await bundledWith(using("Buffer.from('a')"), {});
    const defined = code.indexOf("installInterfaces({ TextDecoder");
    expect(defined).toBeGreaterThan(0);
    expect(defined).toBeLessThan(code.indexOf('new TextDecoder("utf-8", { ignoreBOM: true })'));
  });

  const routed = (handler: string, imports = "") =>
    `${imports}\nimport { get, ok, routes } from "@tenon/sdk";\nexport default routes({ it: get("/", ${handler}) });\n`;

  test.each([true, false])("console prints stacks where one is named (checkResponses: %s)", async (checkResponses) => {
    const { code: without } = await bundledWith(routed('() => ok("console")'), {}, checkResponses);
    expect(without).not.toContain("Assertion failed");
    const { code } = await bundledWith(routed("() => ok(console.error(1))"), {}, checkResponses);
    expect(code).toContain("Assertion failed");
  });

  test.each([
    ["no source names", routed("() => ok({})"), {}, []],
    ["the handler names", routed('() => ok({}).cookie("a", "b")'), {}, ["cookies"]],
    ["an option names", routed("{ query: {} }, () => ok({})"), {}, ["query-string"]],
    [
      "a package that uses the SDK names",
      routed("visitor", 'import { visitor } from "visitor";'),
      {
        "visitor/package.json": '{"name":"visitor","type":"module","peerDependencies":{"@tenon/sdk":"*"}}',
        "visitor/index.js":
          'import { ok } from "@tenon/sdk"; export const visitor = (_, req) => ok({ id: req.cookies.get("id") });',
      },
      ["cookies"],
    ],
    [
      "a constant names that is written into another module",
      routed('() => ok({})[Does.Add]("a", "b")', 'import { Does } from "does/index.ts";'),
      { "does/package.json": '{"name":"does"}', "does/index.ts": 'export enum Does { Add = "cookie" }' },
      ["cookies"],
    ],
    [
      "a schema of another library brings",
      routed("{ body: schema }, () => ok({})", 'import { schema } from "schemas";'),
      {
        "schemas/package.json": '{"name":"schemas"}',
        "schemas/index.js": 'exports.schema = { "~standard": { version: 1, vendor: "s", validate: Object } };',
      },
      ["foreign"],
    ],
  ])("parts of the SDK that %s", async (_, handler, files, parts) => {
    const { code } = await bundledWith(handler, files);
    const all = { cookies: "SameSite", foreign: "MAX_COMPARED", "query-string": "readPlain", "on-error": "onError:" };
    expect(Object.entries(all).flatMap(([part, text]) => (code.includes(text) ? [part] : []))).toEqual(parts);
  });

  test("one that imports what only Node has is taken in its form for browsers", async () => {
    const { code } = await bundledWith(
      using("[both, inner, plain]", 'import { both, inner } from "both";\nimport { plain } from "plain";'),
      {
        "both/package.json": '{"name":"both","main":"node.js","browser":{"./node.js":"./browser.js","fs":false}}',
        "both/node.js": 'exports.both = require("net"); exports.inner = require("inner");',
        "both/browser.js": 'exports.both = "for browsers"; exports.inner = require("fs");',
        "plain/package.json": '{"name":"plain","main":"node.js","browser":"browser.js"}',
        "plain/node.js": 'exports.plain = "as it is";',
        "plain/browser.js": 'exports.plain = "not this";',
      },
    );
    expect(code).toContain("for browsers");
    expect(code).toContain("as it is");
    expect(code).not.toContain("not this");
  });

  test("one that the SDK has beside itself, too, is the project's", async () => {
    const database = ["Adapter", "Introspector", "QueryCompiler"].flatMap((name) => [
      `Postgres${name}`,
      `Sqlite${name}`,
    ]);
    const classes = [...database, "CompiledQuery"].map((name) => `export class ${name} { copy = "the project's" }`);
    const { code } = await bundledWith(using("TenonDialect", 'import { TenonDialect } from "@tenon/sdk/kysely";'), {
      "kysely/package.json": '{"name":"kysely","type":"module","main":"index.js"}',
      "kysely/index.js": classes.join("\n"),
    });
    expect(code).toContain("the project's");
    expect(code).not.toContain("pg_advisory");
  });

  test("one that needs another which only Node can have is taken in its form for browsers, too", async () => {
    const { code } = await bundledWith(using("outer", 'import { outer } from "outer";'), {
      "outer/package.json": '{"name":"outer","exports":{"browser":"./browser.js","default":"./node.js"}}',
      "outer/node.js": 'exports.outer = require("inner");',
      "outer/browser.js": 'exports.outer = "for browsers";',
      "inner/package.json": '{"name":"inner"}',
      "inner/index.js": 'module.exports = require("node:fs");',
    });
    expect(code).toContain("for browsers");
  });

  test("one that looks for AsyncLocalStorage finds it, beside a top-level await, too", async () => {
    const files = {
      "looks/package.json": '{"name":"looks","type":"module"}',
      "looks/index.js":
        'export const Storage = globalThis.process?.getBuiltinModule?.("node:async_hooks").AsyncLocalStorage;',
    };
    const source = using("Storage", 'import { Storage } from "looks";');
    for (const more of ["", "\nawait 1;"]) {
      const { code, warnings } = await bundledWith(source + more, files);
      expect(code).toContain("getBuiltinModule = ");
      expect(warnings).toEqual([]);
    }
  });

  test("one that tries to have a module of Node goes on without it", async () => {
    const { code } = await bundledWith(using("tries", 'import tries from "tries";'), {
      "tries/package.json": '{"name":"tries"}',
      "tries/index.js": 'let fs; try { fs = require("fs"); } catch { fs = "without"; } module.exports = fs;',
    });
    expect(code).toContain('"without"');
  });

  test("what one uses and the engine lacks is warned of, once", async () => {
    const { warnings } = await bundledWith(using("[a, b]", 'import { a, b } from "dates";'), {
      "dates/package.json": '{"name":"dates","type":"module"}',
      "dates/index.js":
        "export const a = () => new Intl.NumberFormat(), b = () => [Intl.PluralRules, new Date().toLocaleString('de')];",
    });
    const remedy = 'name the locales in tenon.toml: `locales = ["en"]` under `[project]`';
    expect(warnings).toEqual([
      `dates: the engine has no Intl; ${remedy}`,
      `dates: the engine knows no locales, so toLocaleString() ignores this one; ${remedy}`,
    ]);
  });

  test("what one takes from a module and is not there is warned of", async () => {
    const { warnings, code } = await bundledWith(using("[a, b]", 'import a from "common";\nimport b from "esm";'), {
      "common/package.json": '{"name":"common"}',
      "common/index.js": 'const crypto = require("crypto"); module.exports = crypto.createHash ?? crypto.createSign;',
      "esm/package.json": '{"name":"esm","type":"module"}',
      "esm/index.js": 'import { createECDH, createHash } from "node:crypto"; export default [createECDH, createHash];',
    });
    expect(warnings).toEqual([
      "common uses createSign of node:crypto, which a component does not have: calls of it fail",
      "esm uses createECDH of node:crypto, which a component does not have: calls of it fail",
    ]);
    expect(code).toContain("of node:crypto does not exist in a component");
  });
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
      '  The path "./nothing" is not exported by package "@tenon/sdk"',
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
    "what the engine lacks is named where it is used",
    { "handler.ts": "export default { fetch: () => new Response(new Intl.NumberFormat('de').format(1)) };" },
    [
      "src/handler.ts:1:48: the engine has no Intl",
      "  1 | export default { fetch: () => new Response(new Intl.NumberFormat('de').format(1)) };",
      `    | ${" ".repeat(47)}^^^^`,
      '  name the locales in tenon.toml: `locales = ["en"]` under `[project]`',
    ],
  ],
  [
    "the packages that locales need are named",
    {
      "../tenon.toml": '[project]\nname = "demo"\nlocales = ["en"]\n',
      "handler.ts": "export default { fetch: () => new Response(new Intl.Locale('de').region) };",
    },
    [
      "src/handler.ts:1:53: Intl.Locale needs packages of formatjs that are not installed",
      "  1 | export default { fetch: () => new Response(new Intl.Locale('de').region) };",
      `    | ${" ".repeat(52)}^^^^^^`,
      "  npm install --save-dev @formatjs/intl-getcanonicallocales@3.2.12 @formatjs/intl-locale@5.3.12",
    ],
  ],
  [
    "each missing class is named once, and what to install at the end",
    {
      "../tenon.toml": '[project]\nname = "demo"\nlocales = ["en"]\n',
      "handler.ts": `import "./other.ts";
export const a = new Intl.Locale("de");
export const b = [new Intl.Locale("en"), new Intl.ListFormat("en")];
export default { fetch: () => new Response() };`,
      "other.ts": 'console.log(new Intl.Locale("en"));',
    },
    [
      "src/handler.ts:2:27: Intl.Locale needs packages of formatjs that are not installed",
      '  2 | export const a = new Intl.Locale("de");',
      `    | ${" ".repeat(26)}^^^^^^`,
      "src/handler.ts:3:51: Intl.ListFormat needs packages of formatjs that are not installed",
      '  3 | export const b = [new Intl.Locale("en"), new Intl.ListFormat("en")];',
      `    | ${" ".repeat(50)}^^^^^^^^^^`,
      "  npm install --save-dev @formatjs/intl-getcanonicallocales@3.2.12 @formatjs/intl-locale@5.3.12 @formatjs/intl-listformat@8.3.15",
    ],
  ],
  [
    "an output that cannot be written is named, and no source",
    { "handler.ts": "export default 1;", "../.tenon/build/demo.js/file": "" },
    ["cannot write .tenon/build/demo.js: is a directory"],
  ],
])("%s", async (name, files: Readonly<Record<string, string>>, lines) => {
  const at = join(folder, name.replaceAll(/\W+/g, "-"));
  await mkdir(join(at, "src"), { recursive: true });
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(join(at, "src", file)), { recursive: true });
    await writeFile(join(at, "src", file), content);
  }
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
