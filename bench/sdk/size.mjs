// The SDK's size in a component, by parts, and the gain of warming up: `npm run build && node bench/sdk/size.mjs`.
// Sizes are bytes of the output of `tenon build -r`; the growth is relative to a module without the SDK.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { prepareEngine } from "../../cli/dist/build/engine.js";
import { SdkParts } from "../../cli/dist/build/sdk-parts.js";
import { Runtime } from "../../cli/dist/index.js";
import { Terminal } from "../../cli/dist/terminal.js";
import { conditions, record } from "../results.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const ROUNDS = 15;
const REQUESTS = 100;

const engine = await prepareEngine([], new Terminal());
const environment = `import { getEnvironment } from "tenon:engine";
globalThis[Symbol.for("tenon.environment")] = getEnvironment;`;
const exported = "export const handler = { handle: app.handle };";

/** Makes a bundle and its component, with or without warming up; `source` defines `app`. */
async function made(source, names, warm) {
  const imported = names && `import { ${names}${warm ? ", warmUp" : ""} } from "@tenon/sdk";`;
  const contents = `${environment}${imported}${source};${warm ? "warmUp(app);" : ""}${exported}`;
  const code = await bundled(contents);
  const { component } = await engine.build("bench.js", Buffer.from(code), [], []);
  return { code: code.length, packed: gzipSync(code).length, component };
}

/** Bundles like `tenon build -r`, without the parts of the SDK that the source does not use. */
async function bundled(contents) {
  const parts = new SdkParts();
  parts.addFrom(contents);
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: here, loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["tenon", "worker", "import", "default"],
    target: "es2023",
    external: ["tenon:engine"],
    plugins: [parts.plugin],
  });
  return outputFiles[0].contents;
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

const posted = (body) => ({ url: "/users", method: "POST", headers: { "content-type": "application/json" }, body });
const requests = {
  "GET /": { url: "/" },
  "a query": { url: "/users?page=2&limit=5" },
  "a path": { url: "/users/7" },
  "a body": posted('{"name":"Ada","email":"ada@example.com"}'),
  "a wrong body": posted('{"name":1}'),
  "no such path": { url: "/nowhere" },
};

/** Measures the processor time of a request in a fresh instance, in microseconds; the apps alternate. */
async function processorTime(components, folder) {
  const runtimes = [];
  for (const [i, component] of components.entries()) {
    const file = join(folder, `${i}.wasm`);
    await writeFile(file, component);
    runtimes.push(await Runtime.create({ modules: { bench: file }, logLevel: "error" }));
  }
  const times = Object.fromEntries(Object.keys(requests).map((name) => [name, components.map(() => [])]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { url, ...request }] of Object.entries(requests)) {
      for (const [i, runtime] of runtimes.entries()) {
        const before = process.cpuUsage();
        for (let n = 0; n < REQUESTS; n++) {
          await (await runtime.fetch(new Request(`http://localhost/run/bench${url}`, request))).text();
        }
        const { user, system } = process.cpuUsage(before);
        if (round >= 0) times[name][i].push((user + system) / REQUESTS);
      }
    }
  }
  await Promise.all(runtimes.map((runtime) => runtime.close()));
  const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
  return Object.entries(times).map(([name, all]) => [name, ...all.map(median)]);
}

const kb = (bytes) => (bytes / 1000).toFixed(1);
await mkdir(join(here, ".tenon"), { recursive: true });
const folder = await mkdtemp(join(here, ".tenon/size-"));
try {
  const plain = await made("const app = { handle: () => ({ status: 200, headers: [] }) }", "", false);
  const sizes = [];
  for (const [name, source, names] of apps) {
    const [cold, warm] = [await made(source, names, false), await made(source, names, true)];
    const grown = ({ component }) => kb(component.length - plain.component.length);
    sizes.push(`| ${name} | ${kb(cold.code)} | ${kb(cold.packed)} | ${grown(cold)} | ${grown(warm)} |`);
  }
  const [, source, names] = apps.at(-1);
  const [cold, warm] = [await made(source, names, false), await made(source, names, true)];
  const times = await processorTime([cold.component, warm.component], folder);
  const rows = times.map(
    ([name, cold, warm]) => `| ${name} | ${cold.toFixed(0)} | ${warm.toFixed(0)} | ${(warm / cold).toFixed(2)} |`,
  );
  record(
    "bench/sdk/size",
    `
${conditions}. In kB; a component without the SDK has ${kb(plain.component.length)}.

| what is imported | minified | compressed | component grows by | with the warm-up by |
|---|---:|---:|---:|---:|
${sizes.join("\n")}

Processor time of a request to the last of these apps, in an instance of its own, in µs:

| request | without the warm-up | with it | ratio |
|---|---:|---:|---:|
${rows.join("\n")}
`,
  );
} finally {
  await rm(folder, { recursive: true });
}
