import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { get, ok, post, routes } from "../index.ts";
import { json, workspaceFolders, writeSchema, writeTo } from "./index.ts";

const HANDLER = `import { get, ok, routes } from "@tenon/sdk";
export default routes({
  /** The index. */
  index: get("/", () => ok({ service: "demo" })),
});
`;
const manifest = { name: "demo", version: "0.2.0" };

// Inside the repository, so that handlers resolve the SDK.
const scratch = fileURLToPath(new URL("../../.tenon/", import.meta.url));
let folder: string;
beforeAll(() => {
  mkdirSync(scratch, { recursive: true });
  folder = mkdtempSync(join(scratch, "write-"));
  project("demo", HANDLER);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

function project(name: string, handler: string, packageJson: unknown = manifest): string {
  const at = join(folder, name);
  mkdirSync(join(at, "src"), { recursive: true });
  mkdirSync(join(at, "test"));
  writeFileSync(join(at, "package.json"), typeof packageJson === "string" ? packageJson : JSON.stringify(packageJson));
  writeFileSync(join(at, "src/handler.ts"), handler);
  return at;
}

const summary = (text: string) => JSON.parse(text).paths["/"].get.summary;
const anything = () => ok({});
const app = routes({ index: get("/", () => ok({ service: "demo" })) });

it("writes the document of the package that the file is in, a path or a URL", () => {
  const path = join(folder, "demo/openapi.json");
  expect(writeTo(path)).toEqual({ path, bytes: statSync(path).size });
  const text = readFileSync(path, "utf8");
  expect(summary(text)).toBe("The index.");
  expect(text).toBe(json(app, manifest, { source: join(folder, "demo/src/handler.ts") }));
  expect(text).toBe(json(app, manifest, { source: pathToFileURL(join(folder, "demo/src/handler.ts")) }));
  expect(writeTo(pathToFileURL(join(folder, "demo/test/copy.json"))).bytes).toBe(statSync(path).size);
});

it("takes the name in tenon.toml when package.json has none", () => {
  const at = project("unnamed", HANDLER, { version: "0.2.0" });
  writeFileSync(
    join(at, "tenon.toml"),
    '[server]\nname = "no"\n\n[project]\nentry = "src/handler.ts"\nname = "demo"\n',
  );
  writeTo(join(at, "openapi.json"));
  expect(JSON.parse(readFileSync(join(at, "openapi.json"), "utf8")).info).toEqual({ title: "demo", version: "0.2.0" });
});

it("takes the document of an app that writes it itself", () => {
  const folder = project(
    "zod-openapi",
    `import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
const app = new OpenAPIHono();
const responses = { 200: { description: "A user", content: { "application/json": { schema: z.object({ id: z.string() }) } } } };
app.openapi(createRoute({ method: "get", path: "/users/{id}", request: { params: z.object({ id: z.string() }) }, responses }), (c) =>
  c.json({ id: c.req.valid("param").id }, 200),
);
export default app;
`,
  );
  writeTo(join(folder, "openapi.json"));
  const document = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8"));
  expect(document).toMatchObject({ openapi: "3.0.0", info: { title: "demo", version: "0.2.0" } });
  expect(document.paths["/users/{id}"].get.parameters).toEqual([
    { in: "path", name: "id", required: true, schema: { type: "string" } },
  ]);
});

it("has no document of an app whose routes nobody describes", () => {
  const folder = project("plain-fetch", "export default { fetch: () => new Response() };\n");
  expect(() => writeTo(join(folder, "openapi.json"))).toThrow(
    /plain-fetch\/src\/handler\.ts: the default export speaks fetch, .* an app of @hono\/zod-openapi has a document$/,
  );
});

it("takes the working directory's package for a file elsewhere", () => {
  vi.spyOn(process, "cwd").mockReturnValue(join(folder, "demo/test"));
  writeTo(join(folder, "elsewhere.json"));
  expect(summary(readFileSync(join(folder, "elsewhere.json"), "utf8"))).toBe("The index.");
  // json() reads the comments too, if it is the package that the manifest names.
  expect(summary(json(app, manifest))).toBe("The index.");
  expect(summary(json(app, { name: "other" }))).toBeUndefined();
});

it("finds a package by its name in the workspace, too", () => {
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "all", workspaces: { packages: ["dem*", "gone"] } }),
  );
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  expect(workspaceFolders(folder)).toEqual([folder, join(folder, "demo")]);
  expect(summary(json(app, manifest))).toBe("The index.");
  expect(summary(json(app, { name: "other" }))).toBeUndefined();
  writeFileSync(join(folder, "package.json"), "{");
  expect(() => workspaceFolders(folder)).toThrow(/^package\.json: /);
  writeFileSync(join(folder, "package.json"), "null");
  expect(() => workspaceFolders(folder)).toThrow("package.json is not a JSON object");
  writeFileSync(join(folder, "package.json"), '{ "workspaces": { "packages": "demo" } }');
  expect(workspaceFolders(folder)).not.toContain(folder);
  rmSync(join(folder, "package.json"));
});

it("gives another app no comments of the project's, where its routes are others", () => {
  vi.spyOn(process, "cwd").mockReturnValue(join(folder, "demo"));
  const source = join(folder, "demo/src/handler.ts");
  const summariesOf = (text: string) =>
    Object.values(JSON.parse(text).paths as Record<string, object>).flatMap((item) =>
      Object.values(item).map((operation) => operation.summary),
    );
  for (const options of [{}, { source }]) {
    for (const route of [get("/x", anything), post("/", anything), get(["/", "/x"], anything)])
      expect(summariesOf(json(routes({ index: route }), manifest, options))).not.toContain("The index.");
    const larger = routes({ index: get("/", anything), other: get("/other", anything) });
    expect(summariesOf(json(larger, manifest, options))).toEqual(["The index.", undefined]);
  }
});

it("matches routes whose paths and groups only running tells", () => {
  const handler = `import { get, ok, routes } from "@tenon/sdk";
const base = ["", "users"].join("/");
const users = (at: string) => ({ /** Users. */ users: get([at, at + "s"], () => ok([])) });
const app = routes({ ...users(base) });
export { app as default };`;
  const source = join(project("computed", handler), "src/handler.ts");
  const same = routes({ users: get(["/users", "/userss"], anything) });
  expect(JSON.parse(json(same, manifest, { source })).paths["/users"].get.summary).toBe("Users.");
});

it("takes comments by name from a module that does not run by itself", () => {
  const handler = `${HANDLER}await new Promise((done) => setTimeout(done, 0));`;
  const source = join(project("waits", handler), "src/handler.ts");
  expect(summary(json(app, manifest, { source }))).toBe("The index.");
});

it("writes openapi.json beside package.json and prints its size, for the test of a project", () => {
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const { path, bytes } = writeSchema(join(folder, "demo/test/handler.test.ts"));
  expect(path).toBe(join(folder, "demo/openapi.json"));
  expect(printed).toHaveBeenCalledExactlyOnceWith(`openapi.json was generated: ${bytes} bytes\n`);
});

it.each([
  ["no-name", HANDLER, {}, /no-name\/package\.json has no "name"/],
  ["version", HANDLER, { name: "x", version: 1 }, /version\/package\.json: "version" is not a text but 1/],
  ["description", HANDLER, { name: "x", description: 5 }, /package\.json: "description" is not a text but 5/],
  ["list", HANDLER, [], /list\/package\.json is not a JSON object/],
  ["null", HANDLER, null, /null\/package\.json is not a JSON object/],
  ["broken", HANDLER, "{bad", /broken\/package\.json: .*JSON/],
  ["syntax", "export default (", manifest, /src\/handler\.ts:1:17: Unexpected end of file/],
  [
    "throws",
    "throw new RangeError('too much'); export default 1;",
    manifest,
    /throws\/src\/handler\.ts:1:7: the module's top level failed: RangeError: too much$/,
  ],
  [
    "throws-text",
    "throw 'text'; export default 1;",
    manifest,
    /throws-text\/src\/handler\.ts: the module's top level failed: text$/,
  ],
  ["no-app", "export default 1;", manifest, /the default export is not the result of routes\(\)/],
  [
    "no-export",
    "export const app = 1;",
    manifest,
    /no-export\/src\/handler\.ts: there is no default export: export default routes/,
  ],
  ["node", 'import fs from "node:fs"; export default fs;', manifest, /"node:fs" is not part of a handler/],
  ["await-no-app", "export default await 1;", manifest, /the default export is not the result of routes\(\)/],
  [
    "await-throws",
    "await 1; throw new RangeError('late'); export {};",
    manifest,
    /throws\/src\/handler\.ts:1:16: .* failed: RangeError: late$/,
  ],
  [
    "await-node",
    'import fs from "node:fs"; await 1; export default fs;',
    manifest,
    /"node:fs" is not part of a handler/,
  ],
  ["await-all-of-node", 'export * from "node:fs"; await 1;', manifest, /"node:fs" is not part of a handler/],
  ["await-syntax", "await 1;\nexport default (", manifest, /src\/handler\.ts:2:17: Unexpected end of file/],
  [
    "await-timer",
    "const n = 1;\n  await new Promise((done) => setTimeout(done, 0));\nexport default n;",
    manifest,
    /await-timer\/src\/handler\.ts:2:3: the module's top level awaits what does not come by itself/,
  ],
])("says what is wrong: %s", (name, handler, packageJson, message) => {
  expect(() => writeTo(join(project(name, handler, packageJson), "openapi.json"))).toThrow(
    expect.objectContaining({ name: "OpenApiError", message: expect.stringMatching(message) }),
  );
});

it.each([
  ["runs", ""],
  ["awaits", "await 1;"],
])("names the line and column of the TypeScript where a top level that %s throws", (name, first) => {
  const users = `type Id = string;
${first}
interface User {
  id: Id;
}
const check = (user: User): never => {
  throw new RangeError(user.id);
};
export const checked = check({ id: "x" });
`;
  const at = project(`place-${name}`, 'import { checked } from "./users.ts";\nexport default checked;');
  writeFileSync(join(at, "src/users.ts"), users);
  const message = new RegExp(`place-${name}/src/users\\.ts:7:9: the module's top level failed: RangeError: x$`);
  expect(() => writeTo(join(at, "openapi.json"))).toThrow(message);

  const handler = `import { field, get, ok, routes, Type } from "@tenon/sdk";
interface Unused {}
${first}
export default routes({
  one: get("/", () => ok({})),
  two: get("/{", () => ok({})),
});
`;
  writeFileSync(join(at, "src/handler.ts"), handler);
  // The caller gets no places inside the SDK.
  expect(() => writeTo(join(at, "openapi.json"))).toThrow(
    new RegExp(`place-${name}/src/handler\\.ts:4:16: the module's top level failed: TypeError`),
  );
});

it("names a route that is in no app, because another of its name replaced it", () => {
  const at = project(
    "lost",
    'import { routes } from "@tenon/sdk";\nimport * as a from "./a.ts";\nimport * as b from "./b.ts";\nexport default routes({ ...a, ...b });\n',
  );
  const list = (path: string) =>
    `import { get, ok } from "@tenon/sdk";\nexport const list = get("${path}", () => ok({}));\n`;
  writeFileSync(join(at, "src/a.ts"), list("/a"));
  writeFileSync(join(at, "src/b.ts"), list("/b"));
  expect(() => writeTo(join(at, "openapi.json"))).toThrow(
    /lost\/src\/a\.ts:2:21: no routes\(\) has GET \/a: a later definition of the same name replaces an earlier one/,
  );
  expect(Symbol.for("tenon.building") in globalThis).toBe(false);
});

it("names the module that is wrong, where it is not the handler's own", () => {
  const at = project("imports", 'import "./wrong.ts";\nexport default 1;');
  writeFileSync(join(at, "src/wrong.ts"), "\nexport const (");
  expect(() => writeTo(join(at, "openapi.json"))).toThrow(/imports\/src\/wrong\.ts:2:14: /);
});

it("runs a module that awaits at its top level, and modules that it imports", () => {
  const handler = `import { field, get, list, ok, post, routes, Type } from "@tenon/sdk";
import { users, path } from "./users.ts";
const { title } = await import("./late.ts");
for await (const each of [Promise.resolve(1)]) if (each !== 1) throw new Error("wrong");
const meta = typeof import.meta.url;
const Item = Type(title, { tags: list(field.string()), at: field.string({ default: new URL("http://a/" + meta).pathname }) });
export const version = 1;
export default routes({
  /** The index. */
  index: get("/", () => ok({})),
  add: post(path, { body: Item }, () => ok({})),
  ...users,
});
`;
  const at = project("awaits", handler);
  writeFileSync(
    join(at, "src/users.ts"),
    `import { get, ok } from "@tenon/sdk";
export const path = await Promise.all(["/", "items"]).then((parts) => parts.join(""));
export const users = { /** Users. */ users: get("/users", () => ok([])) };
`,
  );
  writeFileSync(join(at, "src/late.ts"), `export const title = await Promise.resolve("Item");\n`);
  const { path } = writeTo(join(at, "openapi.json"));
  const document = JSON.parse(readFileSync(path, "utf8"));
  expect(Object.keys(document.paths)).toEqual(["/", "/items", "/users"]);
  expect(summary(JSON.stringify(document))).toBe("The index.");
  expect(document.paths["/users"].get.summary).toBe("Users.");
  expect(document.components.schemas.Item.properties).toEqual({
    tags: { type: "array", items: { type: "string" } },
    at: { type: "string", default: "/undefined" },
  });
  // A direct call of json() has its comments, too.
  expect(summary(json(app, manifest, { source: join(at, "src/handler.ts") }))).toBe("The index.");
});

it("says that there is no package", () => {
  vi.spyOn(process, "cwd").mockReturnValue("/");
  expect(() => writeTo("/nowhere/openapi.json")).toThrow("there is no package.json with a src/handler.ts beside it");
  expect(() => writeSchema("/nowhere/x.test.ts")).toThrow("is in no package with a src/handler.ts");
});
