/**
 * Five shapes of app, from the documentation alone: an API over SQL (`examples/realworld`, with its own tests), and four in
 * `fixtures/shapes`. The three of Hono are as their authors have them, and become projects of Tenon by `tenon init`.
 *
 * The faults that such apps once met have tests of their own:
 *
 * | fault | test |
 * |---|---|
 * | a client or a module ends the host process | `handle.test.ts`, `recipes.test.ts` |
 * | undeclared members are sent | `ts-sdk/src/app/answers.test.ts`, `guest/src/platform/json-writer.test.ts`, `dev.test.ts` |
 * | a forgotten `await` is silent | `ts-sdk/test/types.test.ts`, `ts-sdk/src/app/answers.test.ts`, `guest/src/entry/rejections.test.ts`, `thrown.test.ts` |
 * | `:name` and `*` in a path never match | `ts-sdk/src/routing/rest.test.ts`, `declarations.test-d.ts` beside it |
 * | `tenon schema` fails where a build works | `ts-sdk/src/openapi/loader.test.ts`, `cli/src/commands/schema.test.ts` |
 * | rows lose columns of one name | `cli/test/services/sql.test.ts`, `ts-sdk/src/outbound/values.test.ts` |
 * | old versions of Node | `old-node.test.ts` |
 * | a sidecar listens for everybody without a token | `cli/test/services/http.test.ts` |
 * | stacks in the log | `stacks.test.ts`, `crates/engine/tests/positions.test.ts` |
 * | passwords | `ts-sdk/src/password/password.test.ts` |
 * | a page in one call, sidecars in tests | `ts-sdk/src/outbound/page.test.ts`, `ts-sdk/src/testing/sidecars.test.ts` |
 * | headers, groups with placeholders, rules of fields | `ts-sdk/src/app/header-input.test.ts`, `group-path.test.ts`, `ts-sdk/src/schema/rules.test.ts` |
 * | several answers, errors, documents of middleware | `ts-sdk/src/app/answers.test.ts`, `on-invalid.test.ts` |
 * | tokens | `ts-sdk/src/middleware/sign-jwt.test.ts` |
 * | `.env`, migrations and core modules | `dev-missing.test.ts` |
 * | 400, 414 and 431 of the parser; a body that is too large | `refusals.test.ts`, `faults.test.ts` |
 * | stores in place of sidecars, tables in variables | `cli/src/project/config.test.ts`, `sidecar-texts.test.ts` |
 * | circular imports | `ts-sdk/src/import-circle.test.ts` |
 * | the page of a request, the page of an error | `dev-page.test.ts`, `thrown.test.ts` |
 * | PostgreSQL's roles and addresses | `cli/test/services/access.test.ts`, `crates/services/base/src/postgres_reason.rs` |
 * | names of tagged variants | `ts-sdk/src/schema/shapes.test.ts` |
 * | ORMs, drizzle-kit's files | `orm.test.ts`, `crates/jobs/src/script/tests.rs` |
 * | what the compiler refuses, its cost, and sizes | `ts-sdk/src/completed.test-d.ts`, `ts-sdk/test/types.test.ts`, `runtime-half.test.ts` |
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrate } from "../src/embed/migrate.ts";
import { Sidecar } from "../src/embed/sidecar.ts";
import { type Running, root, startTenon, tenon } from "./servers.ts";

const secret = "a secret of forty characters, more or less";
const server = { worker: "notes-worker", conduit: "conduit", starter: "tasks-api", todo: "todo" };
type Shape = keyof typeof server;

let scratch: string;
const folder = (shape: Shape): string => join(scratch, shape);
beforeAll(async () => {
  // Inside the clone, where the packages are installed.
  await mkdir(join(root, "cli/e2e/.tenon"), { recursive: true });
  scratch = await mkdtemp(join(root, "cli/e2e/.tenon/shapes-"));
  await cp(join(root, "cli/e2e/fixtures/shapes"), scratch, { recursive: true });
  await Promise.all([prepareWorker(), prepareConduit(), prepareStarter(), build("todo")]);
});
afterAll(() => rm(scratch, { recursive: true }));

/** Runs `tenon`; returns what it says. */
async function run(shape: Shape, ...args: string[]): Promise<string> {
  return command(folder(shape), tenon, ...args);
}

async function command(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: "sqlite:conduit.db" };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code, `${args.join(" ")}\n${said}`).toBe(0);
  return said;
}

/** Checks the types, as the author does, and builds. */
async function build(shape: Shape): Promise<string> {
  const [said] = await Promise.all([
    run(shape, "build"),
    command(folder(shape), join(root, "node_modules/typescript/bin/tsc"), "-p", ".", "--noEmit"),
  ]);
  return said;
}

async function prepareWorker(): Promise<void> {
  await writeFile(join(folder("worker"), ".dev.vars"), `JWT_SECRET="${secret}"\n`);
  expect(await run("worker", "init")).toMatch(/Create tenon\.toml\n.*Create src\/handler\.ts/);
  await build("worker");
}

async function prepareConduit(): Promise<void> {
  const module = join(folder("conduit"), "src/db/index.ts");
  const now = await readFile(module, "utf8");
  const driver = 'import Database from "better-sqlite3";\nimport { drizzle } from "drizzle-orm/better-sqlite3";\n';
  await writeFile(module, `${driver}import * as schema from "./schema.ts";\nexport * from "./schema.ts";\n`);
  const said = await run("conduit", "init");
  expect(said).toContain(
    "src/db/index.ts:1: better-sqlite3 opens a database, which a component cannot: use @tenon/sdk",
  );
  expect(said).toContain("drizzle.config.ts: `tenon migrate --folder drizzle` applies the files of drizzle-kit");
  expect(said).toContain("  cp .env.example .env     # and fill it in\n");
  await writeFile(module, now);
  await Promise.all([build("conduit"), run("conduit", "migrate", "--folder", "drizzle")]);
}

async function prepareStarter(): Promise<void> {
  expect(await run("starter", "init")).toMatch(/App src\/app\.ts/);
  const handler = await readFile(join(folder("starter"), "src/handler.ts"), "utf8");
  expect(handler).toContain('import app from "./app.js";');
  expect(await build("starter")).toMatch(
    /warning: .*src\/env\.ts:10: process\.env at top level has the values of \[env\] at build time \(PORT, LOG_LEVEL\)/,
  );
}

/** A client of a module that JSON goes to and comes from. */
type Client = (method: string, path: string, json?: unknown, headers?: Record<string, string>) => Promise<Answer>;
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer
  readonly json: any;
}

const clientAt =
  (base: string): Client =>
  async (method, path, json, headers = {}) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const type = json === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch(new URL(path, `${base}/`), { method, ...body, headers: { ...type, ...headers } });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json");
    return { status: answer.status, headers: answer.headers, json: isJson ? JSON.parse(text) : text };
  };

/** Serves a shape with `tenon run` for the tests of a block, with a database of its own. */
function serving(shape: Shape, environment: () => Promise<NodeJS.ProcessEnv>) {
  const served = {} as { ask: Client; running: Running };
  beforeAll(async () => {
    served.running = await startTenon([], server[shape], folder(shape), await environment());
    served.ask = clientAt(served.running.base);
  });
  afterAll(() => served.running?.stop());
  return served;
}

let database: Sidecar | undefined;
/** A SQLite database behind the sidecar of production, with the migrations of a shape. */
async function sqlite(shape: Shape): Promise<NodeJS.ProcessEnv> {
  const url = `sqlite:${join(folder(shape), "data.db")}`;
  database = await Sidecar.start({ kind: "sql", url, listen: "127.0.0.1:0", logLevel: "off" });
  await migrate({ address: database.address, folder: join(folder(shape), "migrations") });
  return { TENON_SIDECARS_DB: database.address };
}

describe("a todo (Todo-Backend's specification)", () => {
  const it = serving("todo", () => sqlite("todo"));
  afterAll(() => database?.close());

  const add = async (todo: object) => (await it.ask("POST", "todos", todo)).json;

  test("the list accepts todos from any origin, and is emptied", async () => {
    const asked = { origin: "https://todo.example", "access-control-request-method": "PATCH" };
    const preflight = await it.ask("OPTIONS", "todos/1", undefined, {
      ...asked,
      "access-control-request-headers": "content-type",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("PATCH");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
    const posted = await it.ask("POST", "todos", { title: "walk the dog" }, { origin: "https://todo.example" });
    expect(posted).toMatchObject({ status: 201, json: { title: "walk the dog", completed: false, order: null } });
    expect(posted.headers.get("access-control-allow-origin")).toBe("*");
    expect(posted.headers.get("location")).toBe(posted.json.url);
    expect((await it.ask("GET", posted.json.url)).json).toEqual(posted.json);
    expect((await it.ask("GET", "todos")).json).toEqual([posted.json]);
    expect((await it.ask("DELETE", "todos")).status).toBe(204);
    expect((await it.ask("GET", "todos")).json).toEqual([]);
  });

  test("a todo is changed, ordered and deleted at its url", async () => {
    const second = await add({ title: "the second", order: 20 });
    const first = await add({ title: "the first", order: 10 });
    const titles = async () => (await it.ask("GET", "todos")).json.map(({ title }: { title: string }) => title);
    expect(await titles()).toEqual(["the first", "the second"]);
    const change = { title: "the third", completed: true, order: 30 };
    expect(await it.ask("PATCH", first.url, change)).toMatchObject({ status: 200, json: { ...first, ...change } });
    expect(await titles()).toEqual(["the second", "the third"]);
    expect((await it.ask("PATCH", first.url, {})).status).toBe(400);
    expect((await it.ask("PATCH", first.url, { title: "" })).json.errors).toEqual([
      { in: "body", pointer: "#/title", code: "min", detail: expect.any(String) },
    ]);
    for (const status of [204, 404]) expect((await it.ask("DELETE", second.url)).status).toBe(status);
    expect((await it.ask("GET", second.url)).status).toBe(404);
  });

  test("the document has each route", async () => {
    await run("todo", "schema");
    const { paths } = JSON.parse(await readFile(join(folder("todo"), "openapi.json"), "utf8"));
    expect(Object.keys(paths["/todos"])).toEqual(["get", "post", "delete"]);
    expect(Object.keys(paths["/todos/{id}"])).toEqual(["get", "delete", "patch"]);
  });
});

describe("a Worker with zod and JWT, whose secret is in c.env", () => {
  const it = serving("worker", async () => ({ JWT_SECRET: secret }));

  test("signs and verifies tokens, and validates notes", async () => {
    const { token } = (await it.ask("POST", "login", { name: "Ada" })).json;
    const headers = { authorization: `Bearer ${token}` };
    expect((await it.ask("GET", "notes/owner", undefined, headers)).json).toEqual({ sub: "Ada", iss: "notes" });
    const note = { title: " buy milk ", due: "2026-12-24" };
    expect(await it.ask("POST", "notes", note, headers)).toMatchObject({
      status: 201,
      json: { title: "buy milk", tags: [], due: "2026-12-24", owner: "Ada" },
    });
    expect(await it.ask("POST", "notes", { title: "", due: "tomorrow" }, headers)).toMatchObject({
      status: 400,
      json: { success: false },
    });
    expect((await it.ask("POST", "notes", note, { authorization: `Bearer ${token}x` })).status).toBe(401);
  });

  test("has its secret neither in the log nor in the component", async () => {
    const { base, errors } = it.running;
    expect((await fetch(`${base}/fails`)).status).toBe(500);
    await expect.poll(errors).toContain("the secret is");
    expect(errors()).not.toContain(secret);
    expect((await readFile(join(folder("worker"), "dist/notes-worker.wasm"))).includes(secret)).toBe(false);
  });
});

describe("the RealWorld app on Hono and Drizzle", () => {
  const it = serving("conduit", async () => ({ JWT_SECRET: secret, DATABASE_URL: "sqlite:conduit.db" }));

  test("gives the URL of the database to its sidecar, and not to the module", async () => {
    const config = await readFile(join(folder("conduit"), "tenon.toml"), "utf8");
    expect(config).toContain('\ndb = { run = "sql", url = "env:DATABASE_URL" }');
    expect(config).toMatch(/\[secrets\]\nJWT_SECRET = "env:JWT_SECRET"\n\n/);
  });

  test("users, articles, favorites, comments and feeds", async () => {
    const { ask } = it;
    const register = async (username: string) => {
      const user = { username, email: `${username}@example.com`, password: "correct horse" };
      const { status, json } = await ask("POST", "api/users", { user });
      expect([status, json.user?.username]).toEqual([201, username]);
      return { authorization: `Token ${json.user.token}` };
    };
    const ada = await register("ada");
    const bob = await register("bob");
    const again = { user: { username: "ada", email: "x@example.com", password: "correct horse" } };
    expect(await ask("POST", "api/users", again)).toMatchObject({ status: 422, json: { errors: {} } });
    expect(await ask("POST", "api/users", { user: { email: "x" } })).toMatchObject({ status: 422 });
    const login = { user: { email: "ada@example.com", password: "wrong" } };
    expect((await ask("POST", "api/users/login", login)).status).toBe(401);

    const draft = { title: "How to train", description: "x", body: "y", tagList: ["b", "a"] };
    const written = await ask("POST", "api/articles", { article: draft }, ada);
    expect(written).toMatchObject({
      status: 201,
      json: { article: { slug: "how-to-train", tagList: ["a", "b"], favorited: false, author: { username: "ada" } } },
    });
    expect((await ask("POST", "api/articles", { article: draft }, ada)).status).toBe(422);
    expect((await ask("PUT", "api/articles/how-to-train", { article: { body: "z" } }, bob)).status).toBe(403);
    await ask("POST", "api/profiles/ada/follow", {}, bob);
    await ask("POST", "api/articles/how-to-train/favorite", {}, bob);
    await ask("POST", "api/articles/how-to-train/comments", { comment: { body: "well" } }, bob);
    const feed = await ask("GET", "api/articles/feed", undefined, bob);
    expect(feed.json).toMatchObject({
      articlesCount: 1,
      articles: [{ favorited: true, favoritesCount: 1, author: { following: true } }],
    });
    for (const [query, count] of [
      ["tag=a", 1],
      ["tag=none", 0],
      ["favorited=bob", 1],
      ["author=bob", 0],
      ["limit=1&offset=1&author=ada", 1],
    ] as const) {
      expect((await ask("GET", `api/articles?${query}`)).json.articlesCount, query).toBe(count);
    }
    expect((await ask("GET", "api/articles?limit=0")).status).toBe(400);
    expect((await ask("GET", "api/articles/how-to-train/comments", undefined, ada)).json.comments).toMatchObject([
      { id: 1, body: "well", author: { username: "bob", following: false } },
    ]);
    expect((await ask("DELETE", "api/articles/how-to-train", undefined, ada)).status).toBe(204);
    expect((await ask("GET", "api/articles/how-to-train")).status).toBe(404);
    expect((await ask("GET", "api/tags")).json).toEqual({ tags: [] });
  });
});

describe("an OpenAPI starter for Node over Kysely, which validates its environment when it starts", () => {
  const it = serving("starter", () => sqlite("starter"));
  afterAll(() => database?.close());

  test("validates, writes and reads tasks", async () => {
    const { ask } = it;
    const task = { id: 1, name: "sweep", done: false };
    expect(await ask("POST", "tasks", { name: "sweep" })).toMatchObject({ status: 201, json: task });
    expect(await ask("POST", "tasks", { name: "" })).toMatchObject({ status: 422, json: { success: false } });
    expect((await ask("PATCH", "tasks/1", { done: true })).json).toEqual({ ...task, done: true });
    expect((await ask("GET", "tasks")).json).toEqual([{ ...task, done: true }]);
    expect((await ask("GET", "tasks/x")).status).toBe(422);
    for (const status of [204, 404]) expect((await ask("DELETE", "tasks/1")).status).toBe(status);
    expect(await ask("GET", "tasks/1")).toMatchObject({ status: 404, json: { message: "Not Found" } });
    expect((await ask("GET", "none")).json).toEqual({ message: "Not Found - /none" });
  });

  test("writes its document by the command, and serves it", async () => {
    await run("starter", "schema");
    const written = JSON.parse(await readFile(join(folder("starter"), "openapi.json"), "utf8"));
    const { paths } = (await it.ask("GET", "doc")).json;
    expect(Object.keys(paths)).toEqual(["/tasks", "/tasks/{id}"]);
    expect(Object.keys(written.paths)).toEqual(["/tasks", "/tasks/{id}"]);
    expect(paths["/tasks/{id}"].get.responses).toHaveProperty("404");
  });
});

test("plain code that speaks fetch, with an entry of its own", async () => {
  const at = join(scratch, "plain");
  await mkdir(join(at, "api"), { recursive: true });
  await writeFile(join(at, "package.json"), '{ "name": "plain" }');
  const code = "export default { fetch: (request: Request) => new Response(new URL(request.url).pathname) };\n";
  await writeFile(join(at, "api/main.ts"), code);
  await command(at, tenon, "init", "--entry", "api/main.ts");
  await command(at, tenon, "build");
  const { base, stop } = await startTenon([], "plain", at);
  expect(await (await fetch(`${base}/x/y`)).text()).toBe("/x/y");
  await stop();
});
