/** Limits of the half of the SDK that runs inside the component: its imports and globals, and its size. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it, vi } from "vitest";
import type { App } from "../src/index.ts";
import { bundle } from "./component/build.ts";

const source = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(name) && !/^(testing|openapi|client)\//.test(name),
);

/** Source text without comments, which may mention such names. */
function code(name: string): string {
  return readFileSync(join(source, name), "utf8").replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
}

describe.each(files)("%s", (name) => {
  it("uses nothing that an engine lacks: no ICU, no Temporal, no URLPattern", () => {
    // Code mode runs on our own engine only, which has the properties of Unicode.
    if (name === "mcp/code/search.ts") return;
    const lacking = /\bIntl\b|\.normalize\(|\\p\{|\bTemporal\b|\bURLPattern\b|\.toLocale|localeCompare/;
    expect(code(name)).not.toMatch(lacking);
  });

  it("takes what it needs of the platform from platform.ts", () => {
    // The program of an isolate has a global scope of its own.
    if (name === "platform.ts" || name === "mcp/code/program.ts") return;
    expect(code(name)).not.toMatch(
      /\bglobalThis\b|(?<!platform\.)\bconsole\.|(?<![.\w])(fetch|setTimeout)\(|new (TextEncoder|TextDecoder|URL)\(/,
    );
  });
});

it("imports nothing outside itself, and nothing of the half that runs in Node", async () => {
  const { metafile } = await build({
    entryPoints: [join(source, "index.ts")],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
  });
  const inputs = Object.entries(metafile.inputs);
  expect(inputs.flatMap(([, { imports }]) => imports.filter(({ external }) => external))).toEqual([]);
  expect(inputs.map(([name]) => name).filter((name) => /\/(testing|openapi|client)\//.test(name))).toEqual([]);
});

const everythingButSql = `import { accepted, created, del, ensure, env, error, field, get, guard, httpClient, Id, list, noContent, ok, Path,
  patch, post, put, Query, random, respond, routes, time, Type, warmUp } from "../../src/index.ts";
globalThis.used = [accepted, created, del, ensure, env, error, field, get, guard, httpClient, Id, list, noContent, ok, Path,
  patch, post, put, Query, random, respond, routes, time, Type, warmUp];`;

// The entry that `tenon build` generates.
const smallest = `import { get, ok, routes, warmUp } from "../../src/index.ts";
const app = routes({ index: get("/", () => ok({})) });
warmUp(app);
export default app;`;

const streaming = smallest
  .replace("get, ok,", "get, sse, stream,")
  .replace(
    'get("/", () => ok({}))',
    'get("/", () => stream(async function* () {})), events: get("/events", () => sse(async function* () {}))',
  );

// Budgets, in bytes: raise them only deliberately. A third of each is code that refuses invalid definitions.
it.each([
  ["all of it, without the SQL builder", everythingButSql, 46_050],
  ["what an app of one route is built with", smallest, 21_150],
  ["what an app of two routes is built with that stream", streaming, 24_950],
])("is small: %s", async (_what, source, budget) => {
  expect((await bundle(source, true)).length).toBeLessThan(budget);
});

it("leaves out what an app does not use", async () => {
  // The SQL builder, the clients and the check of responses are separate modules without side effects.
  const unused = /RETURNING|HttpClientError|randomUUID|but declares|field\.string|heartbeat|"PUT", \[\]|fatal: false/;
  expect(await bundle(smallest)).not.toMatch(unused);
});

describe("the parts of the SDK that no source names", () => {
  /** The answer of a module's handler, or the exception of its top level. */
  async function run(...lines: readonly string[]): Promise<unknown> {
    const code = await bundle(`import * as sdk from "../../src/index.ts";\n${lines.join("\n")}`);
    const { default: app } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { default: App };
    return app.handle({ method: "GET", pathWithQuery: "/", headers: [] });
  }

  it("fail with the word that brings them when a name is put together at run time", async () => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => {});
    const computed = 'export default sdk.routes({ it: sdk.get("/", () => sdk.ok({})["coo" + "kie"]("a", "b")) });';
    expect(await run(computed)).toMatchObject({ status: 500 });
    expect(String(reported.mock.calls)).toContain('no source has the word "cookie"; a comment with it');
    reported.mockRestore();
    expect(await run(computed, "// cookie")).toMatchObject({ status: 200, headers: [{}, ["set-cookie", {}]] });
  });

  it.each([
    ["sqlite", "postgres", "PgDialect"],
    ["postgres", "sqlite", "SQLiteDialect"],
  ])("leave the other database out of an app with Drizzle on %s", async (dialect, other, name) => {
    const used = (text: string) => `import { drizzle } from "../../src/drizzle/index.ts";
export const database = drizzle({ dialect: ${text} });
export default sdk.routes({ it: sdk.get("/", () => sdk.ok({})) });`;
    expect(await bundle(`import * as sdk from "../../src/index.ts";\n${used(`"${dialect}"`)}`)).not.toContain(name);
    const computed = used(`"${other.slice(0, 3)}" + "${other.slice(3)}"`);
    await expect(run(computed)).rejects.toThrow(`no source has the word "'${other}'"`);
    await expect(run(computed, `// '${other}'`)).resolves.toMatchObject({ status: 200 });
  });

  const app = (options: string, ofApp = "{}") =>
    `export default sdk.routes({ it: sdk.post("/", ${options}, () => sdk.ok({})) }, ${ofApp});`;

  it.each([
    ["query", app('{ ["que" + "ry"]: { a: sdk.field.string({ default: "" }) } }')],
    ["Form", app('{ body: sdk["Fo" + "rm"]("F", { a: sdk.field.string() }) }')],
    ["onError", app("{}", '{ ["on" + "Error"]: () => undefined }')],
    [
      "~standard",
      app('{ body: { ["~stan" + "dard"]: { version: 1, vendor: "v", validate: (value) => ({ value }) } } }'),
    ],
  ])("end the build where %s is meant without its name", async (word, source) => {
    await expect(run(source)).rejects.toThrow(`no source has the word "${word}"`);
    await expect(run(source, `// ${word}`)).resolves.toMatchObject({ status: 405 });
  });
});

it("holds nothing of Node and of the testing entry when it is bundled", async () => {
  expect(await bundle(everythingButSql)).not.toMatch(/node:|AsyncLocalStorage|process\./);
});
