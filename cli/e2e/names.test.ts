/** Programs whose top level has names of the engine's globals: a build must not depend on the names in a program. */
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Runtime } from "../src/embed/runtime.ts";
import { root, tenon } from "./servers.ts";

let folder: string;
let names: string[];
beforeAll(async () => {
  // Inside the clone, where handlers find the SDK.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  folder = await mkdtemp(join(root, "cli/e2e/.tenon/names-"));
  const reads = "Object.getOwnPropertyNames(globalThis)";
  names = (await answerOf({ "src/handler.ts": routed(reads) }, [])) as string[];
  // No module may declare these two.
  names = names.filter((name) => /^[\w$]+$/.test(name) && name !== "eval" && name !== "arguments");
});
afterAll(() => rm(folder, { recursive: true }));

const routed = (value: string, before = "") =>
  `${before}\nimport { get, ok, routes } from "@tenon/sdk";\nexport default routes({ it: get("/", async () => ok(${value})) });\n`;

/** Builds a project of these files, and returns the answer of its route. */
async function answerOf(files: Readonly<Record<string, string>>, args: readonly string[]): Promise<unknown> {
  const at = await mkdtemp(join(folder, "project-"));
  await writeFile(join(at, "tenon.toml"), '[project]\nname = "demo"\n');
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(at, file, ".."), { recursive: true });
    await writeFile(join(at, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [tenon, "build", ...args], { cwd: at, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const runtime = await Runtime.create({ modules: { demo: join(at, "dist/demo.wasm") } });
  try {
    const answer = await runtime.fetch("http://tenon.test/run/demo/");
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return JSON.parse(text);
  } finally {
    await runtime.close();
  }
}

/** The ways in which a module declares a name; the value says which one it was. */
const forms: Readonly<Record<string, (name: string, value: string) => string>> = {
  const: (name, value) => `const ${name} = ${value};`,
  let: (name, value) => `let ${name} = ${value};`,
  var: (name, value) => `var ${name} = ${value};`,
  class: (name, value) => `class ${name} { static tag = ${value}; }`,
  function: (name, value) => `function ${name}() { return ${value}; }`,
};

/** A module that declares every name, and exports the values as `found`. */
function declaring(form: string): string {
  const declare = forms[form] as (typeof forms)[string];
  const read = (name: string) => (form === "class" ? `${name}.tag` : form === "function" ? `${name}()` : name);
  const members = names.map((name) => `${JSON.stringify(name)}: ${read(name)}`);
  return `${names.map((name) => declare(name, JSON.stringify(`${form} ${name}`))).join("\n")}
export const found = { ${members.join(", ")} };\n`;
}

const importing = () => ({
  "src/values.ts": names
    .map((name, index) => `const v${index} = ${JSON.stringify(`import ${name}`)};\nexport { v${index} as ${name} };`)
    .join("\n"),
  "src/names.ts": `import { ${names.join(", ")} } from "./values.ts";\nexport const found = { ${names.join(", ")} };\n`,
});

const asCommonJs = (text: string) => text.replace("export const found =", "exports.found =");

const manifest = (type: string) => `{"name":"names","version":"1.0.0","type":"${type}","main":"./index.js"}`;

const expected = (form: string) => Object.fromEntries(names.map((name) => [name, `${form} ${name}`]));

/** The parts that the build adds for a handler: random values, timers, the text of an error. */
const works = `{ found, uuid: crypto.randomUUID().length, waited: await new Promise((done) => setTimeout(() => done(1), 1)) }`;

test.each([
  ["plain", []],
  ["with -r", ["-r"]],
])(
  "every global is a name that a program may declare: %s",
  async (_, args) => {
    expect(names).toEqual(
      expect.arrayContaining(["crypto", "globalThis", "Symbol", "undefined", "performance", "Reflect"]),
    );
    const found = routed(works, 'import { found } from "./names.ts";');
    for (const form of Object.keys(forms)) {
      const answer = await answerOf({ "src/handler.ts": found, "src/names.ts": declaring(form) }, args);
      expect(answer).toEqual({ found: expected(form), uuid: 36, waited: 1 });
    }
    const answer = await answerOf({ "src/handler.ts": found, ...importing() }, args);
    expect(answer).toEqual({ found: expected("import"), uuid: 36, waited: 1 });
  },
  900_000,
);

test.each(["module", "commonjs"])("a package may declare them, too: %s", async (type) => {
  const text = declaring("const");
  const answer = await answerOf(
    {
      "src/handler.ts": routed(works, 'import { found } from "names";'),
      "node_modules/names/package.json": manifest(type),
      "node_modules/names/index.js": type === "module" ? text : asCommonJs(text),
    },
    [],
  );
  expect(answer).toEqual({ found: expected("const"), uuid: 36, waited: 1 });
});

test.each([
  ["node:util", 'import { format } from "node:util";', 'format("%s", "x")', "x"],
  ["node:perf_hooks", 'import { performance as clock } from "node:perf_hooks";', "typeof clock.now()", "number"],
  ["node:buffer, without an import", "", 'Buffer.from("a").toString("hex")', "61"],
  [
    "node:async_hooks",
    'import { AsyncLocalStorage } from "node:async_hooks";',
    "new AsyncLocalStorage().run(1, () => 2)",
    2,
  ],
])("beside the modules that the build adds: %s", async (_, before, value, result) => {
  const own =
    "const crypto = globalThis.crypto, Reflect = globalThis.Reflect;\nexport const own = [typeof crypto, typeof Reflect].join();\n";
  const answer = await answerOf(
    { "src/handler.ts": routed(`[own, ${value}]`, `${before}\nimport { own } from "./own.ts";`), "src/own.ts": own },
    [],
  );
  expect(answer).toEqual(["object,object", result]);
});

test("an app that speaks fetch may declare the names of the entry", async () => {
  const own = [
    "handler",
    "app",
    "handle",
    "handlerModule",
    "getEnvironment",
    "rehearse",
    "globalThis",
    "Symbol",
    "isApp",
  ];
  const at = `${own.map((name) => `const ${name} = "${name}";`).join("\n")}
export default { fetch: () => Response.json([${own.join(", ")}]) };\n`;
  expect(await answerOf({ "src/handler.ts": at }, [])).toEqual(own);
});
