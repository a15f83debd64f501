/** What section 7 of the contract promises to the compiler: contexts, groups, forms, schemas, statements, the client. */
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import {
  type App,
  apiKey,
  basicAuth,
  bearer,
  cors,
  error,
  etag,
  Form,
  field,
  get,
  group,
  type Infer,
  jwt,
  list,
  middleware,
  noContent,
  ok,
  omit,
  oneOf,
  PageInfo,
  pageInfo,
  partial,
  pick,
  post,
  Query,
  type Request,
  record,
  redirect,
  respond,
  routes,
  safeEqual,
  secret,
  secureHeaders,
  sidecar,
  signature,
  sqlCount,
  sqlCreate,
  Type,
  table,
  use,
} from "./index.ts";
import { testApp } from "./testing/index.ts";
import { client } from "./typed-client/index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;

interface Someone {
  id: number;
  name: string;
}
declare function findUser(token: string): Promise<Someone | undefined>;

// The contract's example.
const User = Type("User", { id: field.u32(), name: field.string() });
const Page = Query("Page", { page: field.u32({ default: 1 }), limit: field.u32({ default: 10, max: 100 }) });
const Users = Type("Users", { users: list(User), page: field.u32(), limit: field.u32() });
const signedIn = use(bearer(async (token) => findUser(token)));
const timed = middleware(async (_req, next) => (await next()).header("server-timing", "app"));
const users = group(
  "/users",
  {
    list: get("", { query: Page, response: Users }, ({ query }) => ok({ users: [], ...query })),
    me: signedIn.get("/me", { response: User }, (_, _req, { user }) => ok(user)),
  },
  { use: [timed] },
);
const app = routes(
  { users, health: get("/health", () => ok({})) },
  { prefix: "/api/v1", use: [cors({ origin: ["https://app.example"] })], onError: () => undefined },
);
expectTypeOf(app).toExtend<App>();
routes({ users }, { onError: (thrown, req) => (thrown instanceof RangeError ? error(400, req.path) : undefined) });
routes({ users }, { onError: async () => respond(503, { body: "x" }) });

// Contexts merge, and what nobody adds is refused.
const tenant = middleware<{ tenant: string }, { user: Someone }>(async (_req, next, { user }) =>
  next({ tenant: user.name }),
);
const early = middleware(async (req, next) => {
  if (req.headers.get("x") === undefined) return error(401, "no");
  return next({ early: 1 });
});
signedIn.use(tenant, early, timed, etag(), secureHeaders()).post("/", (_, _req, context) => {
  expectTypeOf(context).toEqualTypeOf<{ user: Someone; tenant: string; early: number }>();
  return ok({});
});
use(jwt({ key: "x", algorithms: ["HS256"] })).get("/", (_, _req, { claims }) => {
  expectTypeOf(claims.sub).toEqualTypeOf<string | undefined>();
  return ok({});
});
use(basicAuth((name, password) => (safeEqual(password, "x") ? { name } : undefined))).get("/", (_, _req, context) => {
  expectTypeOf(context).toEqualTypeOf<{ user: { name: string } }>();
  return ok({});
});
use(apiKey({ header: "x-key" }, async (key) => (key === "" ? undefined : 7))).get("/", (_, _req, { user }) => {
  expectTypeOf(user).toEqualTypeOf<number>();
  return ok({});
});
const asking = { it: get("/", (_, _req: Request, { user }: { user: Someone }) => ok(user)) };
routes(asking, { use: [bearer(findUser)] });
routes({ g: group("/g", { h: group("/h", asking) }, { use: [bearer(findUser)] }) });
// @ts-expect-error nobody adds the user
use(tenant);
// @ts-expect-error nobody adds the user
routes(asking);
// @ts-expect-error nobody adds the user
routes({ g: group("/g", asking) });
signature({ scheme: "github", secret: () => secret("X") });
// @ts-expect-error no such scheme
signature({ scheme: "gitlab", secret: "x" });

// Every route may redirect.
routes({ a: post("/", { status: 201, response: User }, () => redirect("/x", 303)), b: get("/b", () => redirect("/")) });
// @ts-expect-error no redirect
redirect("/", 200);

// Schemas.
const Note = Type("Note", { a: field.string().nullable(), b: field.string().nullable().optional() });
expectTypeOf<Infer<typeof Note>>().toEqualTypeOf<{ a: string | null; b?: string | null | undefined }>();
const Changes = partial(User);
expectTypeOf<Infer<typeof Changes>>().toEqualTypeOf<{ id?: number | undefined; name?: string | undefined }>();
// @ts-expect-error no such field
pick(User, ["nope"]);
// @ts-expect-error no such field
omit(User, ["nope"]);
const Shape = oneOf("kind", {
  circle: Type("Circle", { radius: field.f64() }),
  square: Type("Square", { side: field.f64() }),
});
expectTypeOf<Infer<typeof Shape>>().toEqualTypeOf<
  { kind: "circle"; radius: number } | { kind: "square"; side: number }
>();
const counts = record(field.u32());
expectTypeOf<Infer<typeof counts>>().toEqualTypeOf<Record<string, number>>();
const Listed = Type("Listed", { users: list(User), page: PageInfo });
get("/", { response: Listed }, () => ok({ users: [], page: pageInfo([], { order: ["id"], limit: 1 }).page }));
get("/{id}", { path: { id: field.u32() }, query: { q: field.string().optional() } }, ({ path, query }) => {
  expectTypeOf(path).toEqualTypeOf<{ id: number }>();
  expectTypeOf(query).toEqualTypeOf<{ q?: string | undefined }>();
  return ok({});
});
// @ts-expect-error the path has another placeholder
get("/{id}", { path: { other: field.u32() } }, () => ok({}));

// Forms, cookies and bytes.
const Profile = Form("Profile", {
  age: field.u32(),
  picture: field.file({ max: 1_000_000, types: ["image/png"] }).optional(),
});
post("/", { body: Profile, status: 204 }, ({ body }) => {
  expectTypeOf(body.age).toEqualTypeOf<number>();
  expectTypeOf(body.picture).toEqualTypeOf<
    { readonly name: string; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined
  >();
  return noContent().cookie("a", "b", { maxAge: 1, sameSite: "Lax", partitioned: true, sign: "k" }).clearCookie("c");
});
declare const req: Request;
expectTypeOf(req.body).toEqualTypeOf<Uint8Array<ArrayBuffer> | undefined>();
expectTypeOf(req.cookies.get("a")).toEqualTypeOf<string | undefined>();
expectTypeOf(req.cookies.signed("a", "k")).toEqualTypeOf<Promise<string | undefined>>();
expectTypeOf((await testApp(app).get("/")).bytes()).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
expectTypeOf((await sidecar("stripe").get("/v1")).bytes()).toEqualTypeOf<Uint8Array<ArrayBuffer>>();

// Statements in a table's own vocabulary.
const people = table(User);
sqlCount(people, { filter: { id: 1 } });
sqlCreate(people, [{ id: 1, name: "x" }], { onConflict: { columns: ["id"], set: "excluded" }, returning: ["id"] });
sqlCreate(people, { id: 1, name: "x", onConflict: { columns: ["id"], set: { name: "y" } } });
sqlCreate(people, { id: 1, name: "x", onConflict: { columns: ["id"], nothing: true } });
// @ts-expect-error no such column
sqlCount(people, { filter: { other: 1 } });
// @ts-expect-error no such column
sqlCreate(people, { id: 1, name: "x", onConflict: { columns: ["other"], nothing: true } });

// The client knows names, nesting, input and output.
const api = client<typeof app>(testApp(app));
const listed = await api.users.list({ query: { page: 2 } });
if (listed.ok) expectTypeOf(listed.data).toEqualTypeOf<Infer<typeof Users>>();
else expectTypeOf(listed.problem.status).toEqualTypeOf<number>();
// @ts-expect-error no such route
api.users.other();
