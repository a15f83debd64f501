/** Type tests of declarations: headers, several answers, promises, paths, placeholders of groups, inline fields. */
import { expectTypeOf } from "vitest";
import { client } from "../client/index.ts";
import {
  accepted,
  created,
  error,
  field,
  get,
  guard,
  Id,
  type Infer,
  type InputError,
  list,
  noContent,
  ok,
  Problem,
  type ProblemDetails,
  post,
  put,
  redirect,
  respond,
  routes,
  Type,
} from "../index.ts";

const Body = Type("Body", { a: field.u32() });

// Headers.

const pay = post(
  "/pay",
  { headers: { "idempotency-key": field.string().optional(), "x-n": field.u32({ default: 1 }) }, body: Body },
  ({ headers }) => {
    expectTypeOf(headers).toEqualTypeOf<{ "idempotency-key"?: string | undefined; "x-n": number }>();
    // @ts-expect-error no such header is declared
    headers["x-other"];
    return ok({});
  },
);
const tenant = get("/t", { headers: { "x-tenant": field.string(), "x-tags": list(field.u32()) } }, () => ok({}));
get("/t", (input) => {
  // @ts-expect-error no header is declared
  input.headers;
  return ok({});
});
// @ts-expect-error a header is no object
get("/t", { headers: { "x-a": Body } }, () => ok({}));
const withHeaders = routes({ pay, tenant });
const headersApi = client<typeof withHeaders>("http://localhost");
headersApi.pay({ body: { a: 1 } });
headersApi.pay({ body: { a: 1 }, headers: { "x-n": 1, other: "x" } });
headersApi.tenant({ headers: { "x-tenant": "a", "x-tags": [1, 2], authorization: "x" } });
// @ts-expect-error a declared header that has to be sent
headersApi.tenant();
// @ts-expect-error a declared header of another kind
headersApi.pay({ body: { a: 1 }, headers: { "x-n": "1" } });

// Several answers.

const User = Type("User", { id: field.u32(), name: field.string() });
const Conflict = Type("Conflict", { title: field.string(), current: field.u32() });
const save = put(
  "/u",
  { responses: { 200: User, 201: { id: field.u32() }, 404: Problem, 409: Conflict } },
  (_, req) => {
    if (req.query === "a") return created("/u/1", { id: 1 });
    if (req.query === "b") return error(404, "none");
    if (req.query === "c") return error(418, "an error is always allowed");
    guard(req.query !== "d", 409, "taken");
    return ok({ id: 1, name: "a" });
  },
);
put("/u", { responses: { 200: User, 204: null } }, async (_, req) =>
  req.query ? noContent() : ok({ id: 1, name: "" }),
);
// @ts-expect-error another body than the status declares
put("/u", { responses: { 200: User, 201: Conflict } }, () => created("/u/1", { id: 1, name: "a" }));
// @ts-expect-error a status that is not declared
put("/u", { responses: { 200: User } }, () => created("/u/1", { id: 1, name: "a" }));
// @ts-expect-error a redirect that is not declared
put("/u", { responses: { 200: User } }, () => redirect("/"));
put("/u", { responses: { 200: User, 302: null } }, () => redirect("/"));
// @ts-expect-error an error that is no problem details
put("/u", { responses: { 200: User } }, () => respond(404, { body: "none" }));
// @ts-expect-error no schema
put("/u", { responses: { 200: 1 } }, () => ok({}));
// @ts-expect-error a Path is no response
put("/u", { responses: { 200: Id } }, () => ok({ id: "1" }));
const Item = Type("Item", { id: field.u32() });
// @ts-expect-error a missing member
get("/u", { responses: { 200: Item } }, () => ok({}));

const withResponses = routes({ save });
const saved = await client<typeof withResponses>("http://localhost").save();
if (saved.status === 200) {
  expectTypeOf(saved.ok).toEqualTypeOf<true>();
  expectTypeOf(saved.data).toEqualTypeOf<{ id: number; name: string }>();
} else if (saved.status === 201) expectTypeOf(saved.data).toEqualTypeOf<{ id: number }>();
else if (saved.status === 409) expectTypeOf(saved.problem.current).toEqualTypeOf<number>();
else if (saved.status === 404) expectTypeOf(saved.problem.errors).toEqualTypeOf<InputError[] | undefined>();
else expectTypeOf(saved.problem).toEqualTypeOf<ProblemDetails>();

// Inline fields of bodies.

const add = post(
  "/x",
  {
    body: { name: field.string(), age: field.u32({ default: 1 }) },
    response: { id: field.u32(), note: field.string().optional() },
  },
  ({ body }) => {
    expectTypeOf(body).toEqualTypeOf<{ name: string; age: number }>();
    return ok({ id: body.age });
  },
);
// @ts-expect-error another body than the inline fields
post("/x", { response: { id: field.u32() } }, () => ok({ id: "1" }));
// @ts-expect-error a file stands in a Form
post("/x", { body: { file: field.file() } }, () => ok({}));
const inline = routes({ add });
const inlineApi = client<typeof inline>("http://localhost");
const added = await inlineApi.add({ body: { name: "a" } });
if (added.ok) expectTypeOf(added.data).toEqualTypeOf<{ id: number; note?: string | undefined }>();
// @ts-expect-error a missing member
inlineApi.add({ body: { age: 1 } });

// Paths as Tenon writes them.

// @ts-expect-error the placeholder is written {id}
get("/a/:id", () => ok({}));
// @ts-expect-error the placeholder is written {id}
get("/a/:id/b", { response: User }, () => ok({ id: 1, name: "a" }));
// @ts-expect-error the placeholder is written {id}
get("/a/:id", { path: { id: field.u32() } }, () => ok({}));
// @ts-expect-error the rest is written {name*}
get("/files/*", () => ok({}));
// @ts-expect-error the rest of the path must be the last segment
get("/{rest*}/tail", () => ok({}));
// @ts-expect-error the rest is written {name*}
get(["/files", "/files/*"], { deprecated: true }, () => ok({}));
// @ts-expect-error one of the paths spells a placeholder in another way
get(["/", "/a/:id"], () => ok({}));
// @ts-expect-error the rest is written {name*}
get("*", () => ok({}));
// @ts-expect-error the rest is written {name*}
get("/files/a*", () => ok({}));
get(["/files", "/files/{path*}"], () => ok({}));
get("/v1/things:batch", () => ok({}));
const file = get("/files/{bucket}/{path*}", { path: { bucket: field.string(), path: field.string() } }, ({ path }) => {
  expectTypeOf(path).toEqualTypeOf<{ bucket: string; path: string }>();
  return ok({});
});
const raw = get("/raw/{path*}", () => ok({}));
// @ts-expect-error no field for the rest
get("/files/{path*}", { path: { other: field.string() } }, () => ok({}));
const files = routes({ file, raw });
const filesApi = client<typeof files>("http://localhost");
filesApi.file({ path: { bucket: "b", path: "a/b" } });
filesApi.raw({ path: { path: "a/b" } });
// @ts-expect-error the star is no part of the name
filesApi.raw({ path: { "path*": "a/b" } });

// A promise is no body.

declare const pending: Promise<{ id: number; name: string }>;
// @ts-expect-error the promise must be awaited
get("/u", () => ok(pending));
// @ts-expect-error the promise must be awaited
get("/u", { response: User }, () => ok(pending));
// @ts-expect-error the promise must be awaited
post("/u", { status: 201 }, () => created("/u/1", pending));
// @ts-expect-error the promise must be awaited
post("/u", { status: 202 }, () => accepted(pending));
get("/u", { response: User }, async () => ok(await pending));
declare const unknownBody: unknown;
get("/u", () => ok(unknownBody));
// biome-ignore lint/suspicious/noExplicitAny: such a value comes from JSON.parse
declare const anyBody: any;
get("/u", { response: User }, () => ok(anyBody));

// Rules of one's own.

field.u32({ check: (value) => (value % 2 ? "must be even" : undefined) });
list(field.string(), { max: 2, check: (all) => (all[0] === "" ? "must not begin so" : undefined) });
const Span = Type(
  "Span",
  { from: field.u32(), to: field.u32().optional() },
  {
    check: ({ from, to }) => {
      expectTypeOf(from).toEqualTypeOf<number>();
      expectTypeOf(to).toEqualTypeOf<number | undefined>();
      return undefined;
    },
  },
);
expectTypeOf<Infer<typeof Span>>().toEqualTypeOf<{ from: number; to?: number | undefined }>();
const Nullish = Type("Nullish", { a: field.string().nullish() });
expectTypeOf<Infer<typeof Nullish>>().toEqualTypeOf<{ a?: string | null | undefined }>();
// @ts-expect-error a text, not a boolean
field.u32({ check: (value) => value > 1 });
// @ts-expect-error another kind of value
field.string({ check: (value: number) => (value ? "x" : undefined) });
// @ts-expect-error a pattern is a regular expression
field.string({ pattern: "a" });
// @ts-expect-error numbers have no pattern
field.u32({ pattern: /a/ });
// @ts-expect-error a Type has no such option
Type("X", {}, { docs: "x" });

// Prefixes of groups.
// @ts-expect-error the placeholders are not declared
group("/articles/{slug}", { list: get("", () => ok({})) });
// @ts-expect-error a placeholder of another router
group("/articles/:slug", { list: get("", () => ok({})) });
// @ts-expect-error another name
group("/articles/{slug}", { list: get("", () => ok({})) }, { path: { id: field.string() } });
