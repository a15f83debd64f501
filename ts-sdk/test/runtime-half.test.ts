/** The half of the SDK that runs inside the component: what it may not use, and how large it is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { bundle } from "./component/build.ts";

const source = fileURLToPath(new URL("../src/", import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(name) && !/^(testing|openapi|typed-client)\//.test(name),
);

/** Source text without comments, where such names may well be mentioned. */
function code(name: string): string {
  return readFileSync(join(source, name), "utf8").replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
}

describe.each(files)("%s", (name) => {
  it("uses nothing that the engine lacks: no ICU, no Temporal, no URLPattern", () => {
    const lacking = /\bIntl\b|\.normalize\(|\\p\{|\bTemporal\b|\bURLPattern\b|\.toLocale|localeCompare/;
    expect(code(name)).not.toMatch(lacking);
  });

  it("takes what it needs of the platform from platform.ts", () => {
    if (name === "platform.ts") return;
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
  expect(inputs.map(([name]) => name).filter((name) => /\/(testing|openapi|typed-client)\//.test(name))).toEqual([]);
});

const everythingButSql = `import { accepted, created, del, ensure, env, error, field, get, guard, httpClient, Id, list, noContent, ok, Path,
  patch, post, put, Query, random, respond, routes, time, Type, warmUp } from "../../src/index.ts";
globalThis.used = [accepted, created, del, ensure, env, error, field, get, guard, httpClient, Id, list, noContent, ok, Path,
  patch, post, put, Query, random, respond, routes, time, Type, warmUp];`;

// As `tenon build` makes its entry.
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

// Budgets, in bytes: raise them only knowingly. Cookies, which are methods of every answer and request, are 3 KB of each. Of all, a third is what definitions are refused with. `respond` brings what streams a body, 2 KB.
it.each([
  ["all of it, without the SQL builder", everythingButSql, 49_400],
  ["what an app of one route is built with", smallest, 28_100],
  ["what an app of two routes is built with that stream", streaming, 31_800],
])("is small: %s", async (_what, source, budget) => {
  expect((await bundle(source, true)).length).toBeLessThan(budget);
});

it("leaves out what an app does not use", async () => {
  // The SQL builder, the clients and what checks responses are each in a module of their own, and free of side effects.
  expect(await bundle(smallest)).not.toMatch(/RETURNING|HttpClientError|randomUUID|but declares|field\.string|:next/);
});

it("holds nothing of Node and of the testing entry when it is bundled", async () => {
  expect(await bundle(everythingButSql)).not.toMatch(/node:|AsyncLocalStorage|process\./);
});
