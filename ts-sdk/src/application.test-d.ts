/** Types that section 7 of the contract promises: contexts, groups, forms, schemas, statements, the client. */
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import { client } from "./client/index.ts";
import {
  type App,
  apiKey,
  basicAuth,
  bearer,
  cors,
  created,
  error,
  etag,
  extend,
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
  type Response,
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
  sse,
  stream,
  Type,
  table,
  use,
} from "./index.ts";
import { testApp } from "./testing/index.ts";

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

// Contexts merge, and a context that no middleware adds is refused.
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
// @ts-expect-error no middleware adds the user
use(tenant);
// @ts-expect-error no middleware adds the user
routes(asking);
// @ts-expect-error no middleware adds the user
routes({ g: group("/g", asking) });
signature({ scheme: "github", secret: () => secret("X") });
// @ts-expect-error no such scheme
signature({ scheme: "gitlab", secret: "x" });

// Unknown options and wrong values. `cors` throws for credentials with "*".
cors({ origin: "*", maxAge: 60 });
cors({ origin: (origin, from) => origin === from.headers.get("x-partner"), credentials: true });
cors({ origin: async () => undefined });
// @ts-expect-error the allowed origins have no default
cors({ credentials: true });
// @ts-expect-error one origin is a list of one
cors({ origin: "https://app.example" });
// @ts-expect-error no such option: it is called headers
cors({ origin: "*", allowHeaders: ["x-a"] });
// @ts-expect-error no such option: it is called maxAge
cors({ origin: "*", maxage: 1 });
// @ts-expect-error seconds are a number
cors({ origin: "*", maxAge: "60" });
// @ts-expect-error an unsigned token is no token
jwt({ key: "x", algorithms: ["none"] });
// @ts-expect-error the algorithms have no default
jwt({ key: "x" });
// @ts-expect-error no such option: it is called issuer
jwt({ key: "x", algorithms: ["HS256"], iss: "me" });
// @ts-expect-error a key in a JSON Web Key Set is an object
jwt({ jwks: { keys: ["x"] }, algorithms: ["RS256"] });
jwt({ key: () => secret("JWT"), algorithms: ["HS256"], audience: ["a", "b"], leeway: 5 });
jwt({ jwks: "https://issuer.example/keys", algorithms: ["RS256", "ES256"], issuer: "https://issuer.example" });
// @ts-expect-error it needs a function that knows the token
bearer();
// @ts-expect-error the token is a text
bearer((token: number) => token);
// @ts-expect-error the name and the password are texts
basicAuth((name: number) => name);
// @ts-expect-error no such option
basicAuth(() => undefined, { relam: "x" });
// @ts-expect-error it needs the header's name
apiKey((key: string) => key);
// @ts-expect-error it needs a function that knows the key
apiKey({ header: "x-key" });
use(bearer(() => undefined)).get("/", (_, _req, { user }) => {
  expectTypeOf(user).toEqualTypeOf<undefined>();
  return ok({});
});
// @ts-expect-error a secret is needed
signature({ scheme: "stripe" });
signature({ scheme: "standard-webhooks", secret: async () => secret("X"), tolerance: 60 });
secureHeaders({ "x-frame-options": "DENY", "content-security-policy": false });
secureHeaders({ "x-frame-options": true, xContentTypeOptions: false, permissionsPolicy: "camera=()" });
// @ts-expect-error a header is a text, or left out by false
secureHeaders({ "x-frame-options": 1 });
// @ts-expect-error this header has no default
secureHeaders({ permissionsPolicy: true });
// @ts-expect-error the names are those of headers
secureHeaders({ xFrameOption: false });
// @ts-expect-error etag has no options
etag({ weak: true });
// @ts-expect-error the arguments are texts or bytes
safeEqual("a", undefined);

// Every route may redirect.
expectTypeOf(redirect("/x")).toEqualTypeOf<Response<302, undefined>>();
expectTypeOf(redirect("/x", 308)).toEqualTypeOf<Response<308, undefined>>();
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
expectTypeOf(req.ip).toEqualTypeOf<string | undefined>();
expectTypeOf(req.base).toEqualTypeOf<string>();
expectTypeOf(req.url).toEqualTypeOf<string>();
expectTypeOf(secret("NAME")).toEqualTypeOf<string>();
// @ts-expect-error a secret has a name
secret();
// @ts-expect-error they come from the runtime
req.ip = "192.0.2.1";
// @ts-expect-error no such value
ok({}).cookie("a", "b", { sameSite: "sometimes" });
// @ts-expect-error no such option: it is called maxAge
ok({}).cookie("a", "b", { maxage: 1 });
// @ts-expect-error a moment is a Date
ok({}).cookie("a", "b", { expires: "Thu, 01 Jan 1970 00:00:00 GMT" });
// @ts-expect-error a value is a text
ok({}).cookie("a", 1);
// @ts-expect-error only path and domain distinguish cookies of one name
ok({}).clearCookie("a", { secure: false });
expectTypeOf(req.cookies.signed("a", "k")).toEqualTypeOf<Promise<string | undefined>>();
expectTypeOf((await testApp(app).get("/")).bytes()).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
expectTypeOf((await sidecar("stripe").get("/v1")).bytes()).toEqualTypeOf<Uint8Array<ArrayBuffer>>();

// @ts-expect-error media types are a list
field.file({ types: "image/png" });
// @ts-expect-error a file stands in a Form
Type("WithFile", { name: field.string(), file: field.file() });
// @ts-expect-error a file stands in a Form, also one that may be absent
extend(User, "WithPicture", { picture: field.file({ max: 1 }).optional() });
// @ts-expect-error the path has a placeholder, and no field
get("/{id}", { path: {} }, () => ok({}));
// @ts-expect-error a form has no nested Type
Form("Nested", { user: User });

// Streams: pieces are texts or bytes, events are objects.
get("/", () =>
  stream(
    async function* () {
      yield "text";
      yield new Uint8Array(1);
    },
    { status: 200, headers: { "content-type": "text/csv" } },
  ),
);
get("/", () =>
  sse(async function* () {
    yield { event: "user", data: { id: 1 }, id: 7, retry: 1_000 };
    yield { data: "text" };
  }),
);
// @ts-expect-error a number is no piece
stream(async function* () {
  yield 1;
});
// @ts-expect-error an event has data
sse(async function* () {
  yield { event: "user" };
});
// @ts-expect-error a generator has to be asynchronous
stream(function* () {
  yield "text";
});

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
const me = await api.users.me({ headers: { authorization: "Bearer x" } });
if (me.ok) {
  expectTypeOf(me.data).toEqualTypeOf<{ id: number; name: string }>();
  expectTypeOf(me.status).toEqualTypeOf<200>();
  expectTypeOf(me.headers.get("etag")).toEqualTypeOf<string | undefined>();
  // @ts-expect-error a success has no problem
  me.problem;
} else {
  expectTypeOf(me.problem.detail).toEqualTypeOf<string | undefined>();
  // @ts-expect-error a failure has no data
  me.data;
}
const shapes = client<typeof drawn>("https://host.example");
const drawn = routes({
  shapes: group("/shapes", {
    add: post("/{id}", { path: { id: field.u32() }, body: Shape, response: Shape, status: 201 }, ({ body }) =>
      created("/shapes/1", body),
    ),
    send: post("", { body: Profile, status: 204 }, () => noContent()),
  }),
});
const added = await shapes.shapes.add({ path: { id: 1 }, body: { kind: "circle", radius: 1 } });
if (added.ok) expectTypeOf(added.status).toEqualTypeOf<201>();
if (added.ok && added.data.kind === "square") expectTypeOf(added.data.side).toEqualTypeOf<number>();
shapes.shapes.send({ form: { age: 1, picture: new Blob([]) } });
// @ts-expect-error the union has no such kind
shapes.shapes.add({ path: { id: 1 }, body: { kind: "triangle", side: 1 } });
// @ts-expect-error the path is needed
shapes.shapes.add({ body: { kind: "circle", radius: 1 } });
// @ts-expect-error a form is no JSON body
shapes.shapes.send({ body: { age: 1 } });
// @ts-expect-error a file is a Blob
shapes.shapes.send({ form: { age: 1, picture: "x" } });
// @ts-expect-error the page is a number
api.users.list({ query: { page: "2" } });
// @ts-expect-error the query has no such key
api.users.list({ query: { offset: 2 } });
// @ts-expect-error no such route
api.users.other();
// @ts-expect-error a group is no route
api.users();
