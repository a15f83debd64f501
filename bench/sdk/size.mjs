// The SDK's size in a component, by parts: `npm run build && node bench/sdk/size.mjs`.
// Each part is an app that `tenon build -r` builds. `grows by` is relative to the first, an app of one route.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { conditions, record } from "../results.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const cli = join(here, "../../cli/bin/tenon.js");

/** Builds a handler module as a release, and returns the bytes of its bundle and of its component. */
async function made(source) {
  await writeFile(join(folder, "src/handler.ts"), source);
  execFileSync(process.execPath, [cli, "build", "-r"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const bundle = await readFile(join(folder, ".tenon/build/size.js"));
  const { size } = await stat(join(folder, "dist/size.wasm"));
  return { bundle: bundle.length, compressed: gzipSync(bundle).length, component: size };
}

const used = (names) => `globalThis.used = [${names}];`;
const route = "const app = routes({ index: get('/', () => ok({})) })";
const usual =
  "created, del, ensure, error, field, get, guard, list, noContent, ok, Path, patch, post, put, Query, respond, routes, Type";
const rest = "accepted, env, httpClient, HttpClientError, Id, random, time";
const clients = "cache, db, storage";
const users = `
  const NewUser = Type("NewUser", { name: field.string({ max: 100 }), email: field.string({ format: "email" }).optional() });
  const User = Type("User", { id: field.u32(), name: field.string() });
  const UserId = Path("UserId", { id: field.u32() });
  const Page = Query("Page", { page: field.u32({ default: 1 }), limit: field.u32({ default: 10, max: 100 }) });
  const app = routes({
    index: get("/", () => ok({ service: "users" })),
    list: get("/users", { query: Page }, ({ query }) => ok({ users: [], ...query })),
    read: get("/users/{id}", { path: UserId, response: User }, ({ path }) => ok({ id: path.id, name: "Ada" })),
    create: post("/users", { body: NewUser, response: User, status: 201 }, ({ body }) => {
      guard(body.name !== "", 400, "name must not be empty");
      return created("/users/1", { id: 1, name: body.name });
    }),
  })`;

/** Writes an app with one route and a middleware around it. */
const around = (name, call) => [
  `one route with \`${name}\``,
  `const app = routes({ index: get('/', () => ok({})) }, { use: [${call}] })`,
  `get, ok, routes, ${name}`,
];
const form = "const app = routes({ index: post('/', { body: Form('F', { a: field.file() }) }, () => ok({})) })";

const apps = [
  ["one route", route, "get, ok, routes"],
  [
    "one route in a `group`",
    "const app = routes({ g: group('/g', { i: get('/', () => ok({})) }) })",
    "get, group, ok, routes",
  ],
  around("middleware", "middleware((_, next) => next())"),
  around("cors", "cors({ origin: '*' })"),
  around("bearer", "bearer(() => 1)"),
  around("basicAuth", "basicAuth(() => 1)"),
  around("apiKey", "apiKey({ header: 'x-key' }, () => 1)"),
  around("jwt", "jwt({ key: 'x', algorithms: ['HS256'] })"),
  around("signature", "signature({ scheme: 'github', secret: 'x' })"),
  around("etag", "etag()"),
  around("secureHeaders", "secureHeaders()"),
  around("rateLimit", "rateLimit({ limit: 1, window: 1 })"),
  [
    "one route with a cookie",
    "const app = routes({ index: get('/', () => ok({}).cookie('a', 'b')) })",
    "get, ok, routes",
  ],
  [
    "one route with a `Query`",
    "const app = routes({ index: get('/', { query: Query('Q', { a: field.string() }) }, () => ok({})) })",
    "field, get, ok, Query, routes",
  ],
  [
    "one route with `stream`",
    "const app = routes({ index: get('/', () => stream(async function* () {})) })",
    "get, routes, stream",
  ],
  [
    "one route with `sse`",
    "const app = routes({ index: get('/', () => sse(async function* () {})) })",
    "get, routes, sse",
  ],
  ["one route with a `Form`", form, "field, Form, ok, post, routes"],
  ["routes, responses, errors", `${used(usual.replace(/ (field|list|Path|Query|Type),?/g, ""))}${route}`, usual],
  ["these and all schemas", `${used(usual)}${route}`, usual],
  ["all but the SQL builder and the sidecars", `${used(`${usual}, ${rest}`)}${route}`, `${usual}, ${rest}`],
  ["and the sidecars' clients", `${used(`${usual}, ${rest}, ${clients}`)}${route}`, `${usual}, ${rest}, ${clients}`],
  ["four routes with schemas (users)", users, "created, field, get, guard, ok, Path, post, Query, routes, Type"],
];

const kb = (bytes) => (bytes / 1000).toFixed(1);
await mkdir(join(here, ".tenon"), { recursive: true });
const folder = await mkdtemp(join(here, ".tenon/size-"));
try {
  await mkdir(join(folder, "src"));
  await writeFile(join(folder, "tenon.toml"), '[project]\nname = "size"\n');
  const rows = [];
  let least;
  for (const [name, source, names] of apps) {
    const { bundle, compressed, component } = await made(
      `import { ${names} } from "@tenon/sdk"; ${source}; export default app;`,
    );
    least ??= component;
    rows.push(`| ${name} | ${kb(bundle)} | ${kb(compressed)} | ${kb(component)} | ${kb(component - least)} |`);
  }
  record(
    "bench/sdk/size",
    `
${conditions}. In kB.

| what is imported | minified | compressed | component | grows by |
|---|---:|---:|---:|---:|
${rows.join("\n")}
`,
  );
} finally {
  await rm(folder, { recursive: true });
}
