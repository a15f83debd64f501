import {
  type App,
  accepted,
  created,
  del,
  ensure,
  env,
  error,
  field,
  get,
  guard,
  HttpClientError,
  httpClient,
  list,
  noContent,
  ok,
  Path,
  patch,
  post,
  put,
  Query,
  type Route,
  record,
  respond,
  routes,
  type Schema,
  Type,
} from "../../src/index.ts";
import { inBody, inPath, inQuery } from "./fields.ts";
import { foreignRoutes } from "./foreign.ts";

const Pair = Path("Pair", { a: field.string(), b: field.u32() });
const Search = Query("Search", { q: field.string().optional(), tags: list(field.string()).optional() });
const Odd = Type("Odd", {
  constructor: field.string().optional(),
  toString: field.u32().optional(),
  "a/b~c": field.string().optional(),
  größe: field.u32().optional(),
  "sp ace": field.u32().optional(),
});
const User = Type("User", { id: field.u32(), name: field.string() });

/** One route for each field in each place, which answers with its input. */
function echoes(): Record<string, Route> {
  const made: Record<string, Route> = {};
  for (const [name, v] of Object.entries(inBody)) {
    const body = Type(`Body.${name}`, { v });
    made[`body ${name}`] = post(`/body/${name}`, { body }, (input) => ok(input.body));
  }
  for (const [name, v] of Object.entries(inQuery)) {
    const query = Query(`Query.${name}`, { v });
    made[`query ${name}`] = get(`/query/${name}`, { query }, (input) => ok(input.query));
  }
  for (const [name, v] of Object.entries(inPath)) {
    const path = Path(`Path.${name}`, { v });
    made[`path ${name}`] = get(`/path/${name}/{v}`, { path }, (input) => ok(input.path));
  }
  return made;
}

const app: App = routes({
  ...echoes(),
  ...foreignRoutes,
  index: get(["/", ""], () => ok({ service: "conformance" })),
  literal: get("/route/literal", () => ok({ route: "literal" })),
  placeholder: get("/route/{name}", { path: Path("Name", { name: field.string() }) }, ({ path }) =>
    ok({ route: path.name }),
  ),
  known: post("/route/known", () => ok({ route: "known" })),
  deep: get("/route/literal/deep", () => ok({ route: "deep" })),
  deeper: get("/route/{name}/deeper", () => ok({ route: "deeper" })),
  written: put("/route/literal", () => ok({ route: "put" })),
  slash: get("/slash/", () => ok({ route: "with slash" })),
  encoded: get("/caf%C3%A9/ü", () => ok({ route: "encoded" })),
  pair: get("/pair/{a}/{b}", { path: Pair, query: Search }, ({ path, query }) => ok({ path, query })),
  all: post("/all/{a}/{b}", { path: Pair, query: Query("N", { n: field.u32() }), body: User }, (input) => ok(input)),
  odd: post("/odd", { body: Odd }, ({ body }) => ok({ keys: Object.keys(body), body })),
  many: post("/many", { body: list(User) }, ({ body }) => ok(body)),
  maybe: post("/maybe", { body: User.optional() }, ({ body }) => ok({ given: body ?? "nothing" })),
  nullable: post("/nullable", { body: User.nullable() }, ({ body }) => ok({ given: body ?? "null" })),
  either: post("/nullable/optional", { body: User.nullable().optional() }, ({ body }) =>
    ok({ given: body === undefined ? "nothing" : body }),
  ),
  shape: post("/shape", { body: inBody["shape"] as Schema }, ({ body }) => ok(body)),
  counts: post("/counts", { body: record(field.u32()) }, ({ body }) =>
    ok({ keys: Object.keys(body), own: body["own"] ?? null, inherited: body["toString"] ?? null, body }),
  ),
  inline: get(
    "/inline/{id}/{day}",
    {
      path: { id: field.u32({ max: 99 }), day: field.string({ format: "date" }) },
      query: { page: field.u32({ default: 1 }), tags: list(field.string(), { max: 2 }).optional() },
    },
    ({ path, query }) => ok({ path, query }),
  ),
  create: post("/users", { body: User, response: User, status: 201 }, ({ body }) => {
    guard(body.name !== "", 400, "name must not be empty");
    return created(`/users/${body.id}`, body);
  }),
  accept: post("/jobs", { status: 202 }, () => accepted()),
  remove: del("/users/{id}", { status: 204 }, () => noContent()),
  patched: patch("/users/{id}", (_, req) => ok({ method: req.method, path: req.path, query: req.query })),
  ensured: get("/ensure/{kind}", { path: Path("Kind", { kind: field.string() }) }, ({ path }) => {
    const values: Record<string, unknown> = { null: null, undefined: undefined, zero: 0, empty: "", false: false };
    if (path.kind === "throws") return ok(ensure(() => JSON.parse("{"), 422, "not JSON"));
    return ok({ value: ensure(values[path.kind], 404, "no such value") });
  }),
  erring: get("/error", () =>
    error(409, "taken", { type: "https://example.com/taken", instance: "/error/1", owner: "someone", status: 1 }),
  ),
  throwing: get("/throw", () => {
    throw new Error("the secret is 42");
  }),
  rejecting: get("/reject", async () => {
    await Promise.resolve();
    throw "a secret text";
  }),
  unsendable: get("/unsendable", () => ok({ big: 1n })),
  nothing: get("/nothing", () => undefined as never),
  html: get("/html", () => respond(200, { headers: { "content-type": "text/html" }, body: "<p>é</p>" })),
  text: get("/text", () => respond(200, { body: "grüße" })),
  bytes: get("/bytes", () => respond(200, { body: new Uint8Array([0, 255, 128, 10]) })),
  redirect: get("/redirect", () => respond(303, { headers: { location: "/text" } })),
  cookies: get("/cookies", () => ok(1).header("set-cookie", "a=1").header("Set-Cookie", "b=2").header("x-latin", "é")),
  injected: get("/inject", (_, req) => ok({}).header("x-name", req.query.replace("-", "\r\n"))),
  unmodified: get("/unmodified", () => respond(304, { headers: { etag: '"1"' }, body: "never sent" })),
  raw: post("/raw", (_, req) =>
    ok({
      text: req.text() ?? null,
      length: req.body?.length ?? null,
      url: req.url,
      one: req.headers.get("X-One") ?? null,
      all: req.headers.getAll("x-many"),
      joined: req.headers.get("x-many") ?? null,
    }),
  ),
  json: post("/json", (_, req) => ok({ json: req.json() })),
  environment: get("/env", () => ok({ greeting: env("GREETING") ?? null, missing: env("MISSING") ?? null })),
  fetching: get(
    "/fetch",
    {
      query: Query("Fetch", {
        url: field.string(),
        timeout: field.u32({ default: 5000 }),
        limit: field.u32({ default: 1000 }),
      }),
    },
    async ({ query }) => {
      try {
        const request = httpClient.request().post(query.url).header("x-a", "1").json({ a: "é" });
        const answer = await request.timeout(query.timeout).maxBytes(query.limit).send();
        return ok({ status: answer.status, text: answer.text(), x: answer.headers.get("x-b") });
      } catch (thrown) {
        if (thrown instanceof HttpClientError) return ok({ code: thrown.code });
        throw thrown;
      }
    },
  ),
  lying: get("/lying", { response: User }, () => ok({ id: "one" } as never)),
});

export default app;
