import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "../config.ts";
import { initProject, isInstalled } from "./init.ts";

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "tenon-init-"));
});
afterAll(() => rmSync(scratch, { recursive: true }));

let count = 0;
function project(files: Readonly<Record<string, string>>): { folder: string; read: (file: string) => string } {
  const folder = join(scratch, `project-${count++}`);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return { folder, read: (file) => readFileSync(join(folder, file), "utf8") };
}

const hono = 'import { Hono } from "hono";\nconst app = new Hono();\n';
const config = (text: string) => parseConfig(text, "tenon.toml", {});

test("a Worker of Wrangler", () => {
  const { folder, read } = project({
    "package.json":
      '{\n    "name": "@acme/Edge_API",\n    "version": "1.2.3",\n    "dependencies": { "hono": "4" }\n}\n',
    "wrangler.toml":
      'main = "src/worker.ts"\n[vars]\nISSUER = "a\\"b"\nLIMIT = 3\n[[kv_namespaces]]\nbinding = "KV"\nid = "x"\n[triggers]\ncrons = ["* * * * *"]\n',
    ".dev.vars": "JWT_SECRET=hidden-value\nexport OTHER=1\n",
    "tsconfig.json": '{ "include": ["test"], /* only */ "compilerOptions": { "moduleResolution": "nodenext" } }',
    ".gitignore": "node_modules\n/dist",
    "src/worker.ts": `${hono}export default app;\nexport class Room extends DurableObject {}\n`,
  });
  const done = initProject(folder, {});
  expect(done).toMatchObject({ app: "src/worker.ts", created: ["tenon.toml", "src/handler.ts", ".env"], kept: [] });
  expect(done.added.map(({ file }) => file)).toEqual(["tsconfig.json", "package.json", ".gitignore"]);
  expect(read("src/handler.ts").split("\n").slice(1)).toEqual([
    'import app from "./worker.js";',
    "export default app;",
    "",
  ]);
  expect(read("tenon.toml")).not.toContain("hidden-value");
  expect(config(read("tenon.toml"))).toMatchObject({
    project: { name: "edge_api", version: "1.2.3" },
    env: { ISSUER: 'a"b', LIMIT: "3" },
    secrets: { JWT_SECRET: "env:JWT_SECRET", OTHER: "env:OTHER" },
  });
  expect(read("tsconfig.json")).toBe(
    '{ "include": ["src/handler.ts", "test"], /* only */ "compilerOptions": { "moduleResolution": "nodenext" } }',
  );
  expect(read(".gitignore")).toBe("node_modules\n/dist\n.tenon/\n.env\n");
  expect(read("package.json")).toMatch(/^\{\n {4}"name"/);
  expect(JSON.parse(read("package.json"))).toMatchObject({
    dependencies: { hono: "4" },
    devDependencies: { tenon: expect.anything(), "@tenon/sdk": expect.anything(), "@tenon/build": expect.anything() },
  });
  expect(done.findings.map(({ place, problem }) => `${place} ${problem}`)).toEqual([
    expect.stringContaining("src/worker.ts:4 there are no Durable Objects"),
    expect.stringContaining("wrangler.toml the bindings of kv_namespaces are not in c.env"),
    expect.stringContaining("wrangler.toml the bindings of triggers"),
  ]);
});

test("an app for Node, whose server imports it", () => {
  const { folder, read } = project({
    "package.json": JSON.stringify({ name: "api", scripts: { test: "vitest", start: "node dist/index.js" } }),
    "src/index.ts": 'import { serve } from "@hono/node-server";\nimport { app } from "@/app";\nserve(app);\n',
    "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }',
    "src/app.ts": `${hono}import users from "./users";\nimport type { Pool } from "pg";\nimport { db } from "./db";\nexport { app };\n`,
    "src/users.ts": `${hono}export default app;\n`,
    "src/db.ts":
      'import { drizzle } from "drizzle-orm/node-postgres";\nimport pg from "pg";\n// import fs from "fs";\nimport os from "node:os";\nimport path from "path";\n',
  });
  const done = initProject(folder, {});
  expect(done.app).toBe("src/app.ts");
  expect(read("src/handler.ts")).toContain('import { app } from "./app";\nexport default app;\n');
  expect(done.findings).toEqual([
    { place: "src/db.ts:1", problem: expect.stringContaining("@tenon/sdk/drizzle") },
    { place: "src/db.ts:2", problem: expect.stringContaining("pg opens a database") },
    { place: "src/db.ts:4", problem: '"node:os" is a module of Node that a component cannot have' },
  ]);
});

test("the URL of a database goes to its sidecar, and not to the module", () => {
  const withUrl = (url: string, imports: string) => {
    const { folder, read } = project({
      "package.json": '{ "name": "api", "main": "src/app.ts" }',
      ".env.example": `DATABASE_URL=${url}\nAPI_KEY=\n`,
      "drizzle.config.ts": 'export default { out: "./db/migrations", dialect: "sqlite" };\n',
      "src/app.ts": `${imports}${hono}export default app;\n`,
    });
    const { findings } = initProject(folder, {});
    expect(findings.at(-1)?.problem).toContain("`tenon migrate --folder db/migrations`");
    expect(read("tenon.toml")).not.toContain("hunter2");
    const { secrets, sidecars } = config(read("tenon.toml"));
    return [Object.keys(secrets), sidecars];
  };
  const served = { db: { run: "sql", url: "env:DATABASE_URL" } };
  const orm = 'import { drizzle } from "drizzle-orm/node-postgres";\n';
  expect(withUrl("postgres://app:hunter2@db/app", orm)).toEqual([["API_KEY"], served]);
  expect(withUrl("", orm)).toEqual([["API_KEY"], {}]);
  expect(withUrl("https://db.example", orm)).toEqual([["API_KEY", "DATABASE_URL"], {}]);
  expect(withUrl("postgres://app:hunter2@db/app", "")).toEqual([["API_KEY", "DATABASE_URL"], {}]);
});

test("nothing is overwritten, and a second time changes nothing", () => {
  const files = {
    "package.json": '{ "name": "a", "main": "src/app.js" }',
    "tenon.toml": "# mine\n",
    "src/handler.ts": "export const handler = 1;\n",
    "src/app.js": `${hono}export default app;\n`,
    ".env": "A=1\n",
    ".dev.vars": "B=1\n",
  };
  const { folder, read } = project(files);
  expect(initProject(folder, {})).toMatchObject({ created: [".gitignore"], kept: ["tenon.toml", ".env"] });
  for (const file of ["tenon.toml", "src/handler.ts", "src/app.js", ".env"] as const)
    expect(read(file)).toBe(files[file]);
  const again = initProject(folder, {});
  expect([again.created, again.added]).toEqual([[], []]);
});

test("an entry of one's own becomes that of tenon.toml", () => {
  const { folder, read } = project({
    "package.json": "{}",
    "api/main.ts": "export default { fetch: () => new Response() };\n",
  });
  expect(initProject(folder, { entry: "api/main" }).created).toEqual(["tenon.toml", "tsconfig.json", ".gitignore"]);
  expect(config(read("tenon.toml")).project).toMatchObject({ entry: "api/main.ts" });
  expect(JSON.parse(read("tsconfig.json")).include).toEqual(["src", "api"]);
  expect(() => initProject(folder, { entry: "api/none" })).toThrow("there is no api/none");
  expect(() => initProject(folder, { entry: "../x.ts" })).toThrow("there is no ../x.ts");
});

test("without an app, it says where it looked", () => {
  const none = (files: Readonly<Record<string, string>>) => () => initProject(project(files).folder, {});
  expect(none({})).toThrow("there is no package.json");
  expect(none({ "package.json": "[]" })).toThrow("package.json must be a JSON object");
  for (const [content, why] of [
    ['{ "main": 5 }', '"main" of package.json must be a string'],
    ['{ "scripts": { "start": 5 } }', '"scripts" of package.json must be an object of strings'],
    ['{ "dependencies": ["hono"] }', '"dependencies" of package.json must be an object of strings'],
  ] as const) {
    expect(none({ "package.json": content })).toThrow(why);
  }
  expect(none({ "package.json": "{}", "src/index.ts": "console.log(1);\n" })).toThrow(
    "no module exports an app that speaks fetch, such as one of Hono; looked at src/index.ts",
  );
  const serving = `${hono}import { serve } from "@hono/node-server";\nserve(app);\n`;
  for (const [source, hint] of [
    [hono, "add `export default app;` to it"],
    [serving, "move the app into a module of its own, such as src/app.ts"],
  ] as const)
    expect(none({ "package.json": "{}", "src/index.ts": source })).toThrow(
      expect.objectContaining({
        message: "src/index.ts makes an app and does not export it",
        hint: expect.stringContaining(hint),
      }),
    );
});

test("whether the packages of package.json are installed", () => {
  const installed = '{ "version": "4.0.0" }';
  const files = { "node_modules/hono/package.json": installed, "node_modules/@acme/x/package.json": installed };
  const manifest = (more: object) => JSON.stringify({ dependencies: { hono: "4" }, devDependencies: more });
  expect(isInstalled(project({ ...files, "package.json": manifest({ "@acme/x": "4" }) }).folder)).toBe(true);
  expect(isInstalled(project({ ...files, "package.json": manifest({ "@acme/y": "4" }) }).folder)).toBe(false);
});
