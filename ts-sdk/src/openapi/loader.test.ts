/** The loader of documents accepts what a build accepts, and names what it refuses. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isHandlerPackage, packageJson, sourceOf } from "./index.ts";

// Inside the repository, so that handlers resolve the SDK.
const scratch = fileURLToPath(new URL("../../.tenon/", import.meta.url));
let folder: string;
beforeAll(() => {
  mkdirSync(scratch, { recursive: true });
  folder = mkdtempSync(join(scratch, "loader-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function project(name: string, files: Readonly<Record<string, string>>): string {
  const at = join(folder, name);
  for (const [file, text] of Object.entries({ "package.json": '{ "name": "demo" }', ...files })) {
    mkdirSync(dirname(join(at, file)), { recursive: true });
    writeFileSync(join(at, file), text);
  }
  return at;
}

const routes = 'import { get, ok, routes } from "@tenon/sdk";\n';
const app = 'export default routes({ a: get("/a", () => ok(1)) });\n';
/** A package that has modules of Node in its form for Node, as pino has. */
const logger = (form: string) => ({
  "node_modules/logger/package.json": '{ "name": "logger", "main": "main.js", "browser": "browser.js" }',
  "node_modules/logger/main.js": form,
  "node_modules/logger/browser.js": "module.exports = () => {};",
});

it.each([
  [
    "required",
    'const os = require("node:os"); const { Worker } = require("worker_threads"); module.exports = () => os;',
    "",
  ],
  ["in a module that awaits", 'module.exports = require("os");', "await null;\n"],
  ["tried", 'try { require("fs") } catch {} module.exports = () => {};', ""],
])("takes a package's form for browsers where a build does: %s", (name, form, more) => {
  const handler = `${routes}import log from "logger";\n${more}log();\n${app}`;
  const at = project(name, { "src/handler.ts": handler, ...logger(form) });
  expect(JSON.parse(packageJson(at)).paths).toHaveProperty("/a");
});

it("refuses a module of Node that no form avoids", () => {
  const at = project("os", { "src/handler.ts": `import { hostname } from "node:os";\nhostname();\n${routes}${app}` });
  expect(() => packageJson(at)).toThrow(
    'the module\'s top level failed: TypeError: "node:os" is not part of a handler',
  );
});

it("names the modules that import each other, as a build does", () => {
  const at = project("circle", {
    "src/handler.ts": `import { B } from "./b.ts";\nimport { field, Type } from "@tenon/sdk";\n${routes}export const A = Type("A", { a: field.u32() });\nexport default routes({ a: get("/a", { response: B }, () => ok([])) });\n`,
    "src/b.ts": 'import { list } from "@tenon/sdk";\nimport { A } from "./handler.ts";\nexport const B = list(A);\n',
  });
  expect(() => packageJson(at)).toThrow(
    /src\/b\.ts:3:18: the module's top level failed: TypeError: list: the first argument is undefined; \S*src\/b\.ts and \S*src\/handler\.ts import each other$/,
  );
});

it.each([
  ["1", "a number"],
  ["{ a: 1, b: 2 }", "an object with a, b"],
  ["{}", "an object without properties"],
  ["() => 1", "a function"],
  ["class A {}", "a class"],
  ["[]", "an Array"],
  ["null", "null"],
])("says what was exported in place of an app: %s", (code, kind) => {
  const at = project(`kind-${kind}`, { "src/handler.ts": `const it = ${code};\nexport default it;\n` });
  expect(() => packageJson(at)).toThrow(
    `the default export is not the result of routes(), but ${kind}: export default`,
  );
});

it("finds the handler module that tenon.toml names", () => {
  const toml = (lines: string) => project(`toml-${lines.length}`, { "tenon.toml": lines, "app/main.ts": routes + app });
  for (const lines of [
    '[project]\nname = "demo"\nentry = "app/main.ts"\n',
    "[server]\nentry = 'x.ts'\n\n[ project ] # the project\n  entry='app/main.ts' # here",
    '#:schema x\r\n[project]\r\nentry = "app/main.ts"\r\n[server]\r\nport = 1\r\n',
  ]) {
    const at = toml(lines);
    expect([isHandlerPackage(at), sourceOf(at)]).toEqual([true, join(at, "app/main.ts")]);
    expect(JSON.parse(packageJson(at)).paths).toHaveProperty("/a");
  }
  for (const lines of ['[server]\nentry = "app/main.ts"', '[project]\nname = "a"\n[x]\nentry = "app/main.ts"\n'])
    expect(sourceOf(toml(lines))).toMatch(/src.handler\.ts$/);
});
