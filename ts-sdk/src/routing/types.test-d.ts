/**
 * Uses that the type checker must refuse or accept. `tsc` checks this file: an `@ts-expect-error` above a valid line is
 * itself an error.
 */

import * as v from "valibot";
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import { z } from "zod";
import {
  accepted,
  created,
  del,
  ensure,
  error,
  Form,
  type FormFile,
  field,
  get,
  guard,
  httpClient,
  Id,
  type Infer,
  list,
  noContent,
  ok,
  Path,
  patch,
  post,
  put,
  Query,
  respond,
  routes,
  Type,
} from "../index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;

const Address = Type("Address", { street: field.string(), zip: field.string().optional() });
const User = Type("User", {
  id: field.u32(),
  name: field.string(),
  role: field.enum("admin", "user"),
  email: field.string().optional(),
  tags: list(field.string()),
  address: Address.optional(),
});
const Plain = Type("Plain", { id: field.u32(), name: field.string() });
const PlainList = Type("PlainList", { items: list(Plain) });
const UserId = Path("UserId", { id: field.u32() });
const Page = Query("Page", {
  page: field.u32({ default: 1 }),
  q: field.string().optional(),
  tag: list(field.enum("a", "b")).optional(),
});

// Infer

expectTypeOf<Infer<typeof User>>().toEqualTypeOf<{
  id: number;
  name: string;
  role: "admin" | "user";
  email?: string | undefined;
  tags: string[];
  address?: { street: string; zip?: string | undefined } | undefined;
}>();
expectTypeOf<Infer<typeof Page>>().toEqualTypeOf<{
  page: number;
  q?: string | undefined;
  tag?: ("a" | "b")[] | undefined;
}>();
expectTypeOf<Infer<typeof Id>>().toEqualTypeOf<{ id: string }>();
const numbers = list(list(field.f64()));
expectTypeOf<Infer<typeof numbers>>().toEqualTypeOf<number[][]>();
const maybe = field.bool().optional();
expectTypeOf<Infer<typeof maybe>>().toEqualTypeOf<boolean | undefined>();
const level = field.enum("low", "high", { default: "low", docs: "How much" });
expectTypeOf<Infer<typeof level>>().toEqualTypeOf<"low" | "high">();
// String literals keep their types where a schema is expected, too.
const Inline = Type("Inline", {
  plain: field.enum("a", "b"),
  docs: field.enum("a", "b", { docs: "x" }),
  level: field.enum("a", "b", { default: "a" }),
  all: list(field.enum("a", "b", { docs: "x" })),
});
expectTypeOf<Infer<typeof Inline>>().toEqualTypeOf<{
  plain: "a" | "b";
  docs: "a" | "b";
  level: "a" | "b";
  all: ("a" | "b")[];
}>();
const words: string[] = ["a"];
const anyWord = field.enum(...words, { docs: "x" });
expectTypeOf<Infer<typeof anyWord>>().toEqualTypeOf<string>();

// The input has exactly the declared kinds.

get("/", (input) => {
  // @ts-expect-error nothing is declared
  input.query;
  return ok({});
});
get("/users", { query: Page }, (input, req) => {
  expectTypeOf(input.query).toEqualTypeOf<Infer<typeof Page>>();
  expectTypeOf(req.text()).toEqualTypeOf<string | undefined>();
  // @ts-expect-error no body is declared
  input.body;
  return ok({});
});
put("/users/{id}", { path: UserId, query: Page, body: list(User) }, ({ path, query, body }) => {
  expectTypeOf(path).toEqualTypeOf<{ id: number }>();
  expectTypeOf(query.page).toEqualTypeOf<number>();
  expectTypeOf(body).toEqualTypeOf<Infer<typeof User>[]>();
  return ok({});
});

// Other libraries' schemas are typed by their output.

patch(
  "/users/{id}",
  {
    path: z.object({ id: z.coerce.number() }),
    query: v.object({ page: v.pipe(v.string(), v.transform(Number)) }),
    body: z.object({ name: z.string().transform((name) => name.length) }),
  },
  ({ path, query, body }) => {
    expectTypeOf(path.id).toEqualTypeOf<number>();
    expectTypeOf(query.page).toEqualTypeOf<number>();
    expectTypeOf(body.name).toEqualTypeOf<number>();
    return ok({});
  },
);
// @ts-expect-error the other library's path lacks {id}
get("/users/{id}", { path: z.object({ name: z.string() }) }, () => ok({}));

// A Path's fields are the placeholders of the route, of each of its paths.

get("/users/{id}", { path: Id }, ({ path }) => ok({ id: path.id }));
get("/users/{id}", () => ok({})); // without a Path there is nothing to compare
get(["/users/{id}", "/u/{id}"], { path: UserId }, () => ok({}));
get("/a/{x}/b/{y}", { path: Path("Two", { x: field.u32(), y: field.bool() }) }, () => ok({}));
// @ts-expect-error another name
get("/users/{userId}", { path: UserId }, () => ok({}));
// @ts-expect-error a placeholder without a field
get("/a/{id}/b/{other}", { path: UserId }, () => ok({}));
// @ts-expect-error a field without a placeholder
get("/users", { path: UserId }, () => ok({}));
// @ts-expect-error one of the paths lacks it
get(["/users/{id}", "/users"], { path: UserId }, () => ok({}));

// A returned body matches `response`.

get("/u", { response: Plain }, () => ok({ id: 1, name: "a" }));
get("/u", { response: list(Plain) }, () => ok([{ id: 1, name: "a" }]));
get("/u", { response: list(Plain) }, () => ok([]));
get("/u", { response: PlainList, query: Page }, ({ query }) => ok({ items: [], ...query }));
get("/u", { response: User }, async () => ok({ id: 1, name: "a", role: "admin", tags: [] }));
get("/u", { response: User }, () => {
  const user = { id: 1, name: "a", role: "user" as const, tags: ["x"], email: null as string | null };
  return ok(user);
});
get("/u", { response: Plain }, (_, req) => {
  if (req.query === "") return error(404, "none");
  if (req.query === "x") return respond(302, { headers: { location: "/" } });
  return ok({ id: 1, name: "a" }).header("x-a", "b");
});
// @ts-expect-error a wrong kind
get("/u", { response: Plain }, () => ok({ id: "1", name: "a" }));
// @ts-expect-error a missing field
get("/u", { response: Plain }, () => ok({ id: 1 }));
// @ts-expect-error a missing field, from an async handler
get("/u", { response: Plain }, async () => ok({ id: 1 }));
// @ts-expect-error a word that is not in the enum
get("/u", { response: User }, () => ok({ id: 1, name: "a", role: "root", tags: [] }));
// @ts-expect-error one where many are declared
get("/u", { response: list(Plain) }, () => ok({ id: 1, name: "a" }));
// @ts-expect-error null is no user
get("/u", { response: Plain }, () => ok(null));
// @ts-expect-error a text is no user
get("/u", { response: Plain }, () => respond(200, { body: "user" }));
// @ts-expect-error no body at all
post("/u", { response: Plain, status: 202 }, () => accepted());

// A returned status is the declared one.

post("/u", { status: 201 }, () => created("/u/1", {}));
post("/u", { status: 202 }, () => accepted());
post("/u", { status: 202, response: Plain }, () => accepted({ id: 1, name: "a" }));
del("/u", { status: 204 }, () => noContent());
del("/u", { status: 204 }, async () => respond(204));
get("/u", () => respond(200, { body: "text" }));
get("/u", () => respond(304));
get("/u", () => respond(503, { headers: { "retry-after": "1" } }));
// @ts-expect-error 200 where 201 is declared
post("/u", { status: 201 }, () => ok({}));
// @ts-expect-error 201 where 200 is the default
post("/u", () => created("/u/1", {}));
// @ts-expect-error 201 where 200 is the default, with options
post("/u", { body: Plain }, () => created("/u/1", {}));
// @ts-expect-error 200 where 204 is declared
del("/u", { status: 204 }, () => ok({}));
// @ts-expect-error 204 where 200 is the default
del("/u", () => noContent());
// @ts-expect-error a success that is not declared
get("/u", () => respond(206, { body: "part" }));
// @ts-expect-error one of two answers has another status
post("/u", { status: 201 }, (_, req) => (req.query ? ok({}) : created("/u/1", {})));
// @ts-expect-error nothing is returned
get("/u", () => {});
// @ts-expect-error a plain object is no answer
get("/u", () => ({ id: 1 }));

// Options and attributes that do not exist.

// @ts-expect-error no such option
get("/u", { querry: Page }, () => ok({}));
// @ts-expect-error no schema
get("/u", { query: { page: 1 } }, () => ok({}));
// @ts-expect-error a Type is no query
get("/u", { query: Plain }, () => ok({}));
// @ts-expect-error a Query is no body
post("/u", { body: Page }, () => ok({}));
// @ts-expect-error a Path is no response
get("/u", { response: Id }, () => ok({ id: "1" }));
// @ts-expect-error no such attribute
field.string({ minimum: 1 });
// @ts-expect-error no such attribute
field.u32({ mx: 1 });
// @ts-expect-error numbers have no format
field.u32({ format: "email" });
// @ts-expect-error no such format
field.string({ format: "mail" });
// @ts-expect-error a boolean has no bounds
field.bool({ min: 1 });
// @ts-expect-error a default of another kind
field.u32({ default: "1" });
// @ts-expect-error a default that is not among the words
field.enum("a", "b", { default: "c" });
// @ts-expect-error the same where a schema is expected
Type("Bad", { a: field.enum("a", "b", { default: "c" }) });
// @ts-expect-error no such attribute
field.enum("a", "b", { max: 3 });
// @ts-expect-error no such attribute
list(field.u32(), { unique: true });
// @ts-expect-error a default of another kind
list(field.u32(), { default: ["a"] });
// @ts-expect-error an extension is a text, a boolean or a number
field.string({ x_a: {} });
field.string({ min: 1, max: 2, format: "email", docs: "", deprecated: true, x_a: "", x_b: 1.5, x_c: true });

// Fields that can't stand where they are put.

// @ts-expect-error a placeholder is always there
Path("P", { id: field.u32().optional() });
// @ts-expect-error a placeholder is always there
Path("P", { id: field.u32({ default: 1 }) });
// @ts-expect-error a placeholder is one value
Path("P", { ids: list(field.u32()) });
// @ts-expect-error a query has no objects
Query("Q", { user: Plain });
// @ts-expect-error a query has no lists of lists
Query("Q", { xs: list(list(field.u32())) });
// @ts-expect-error an item is there or not
list(field.u32().optional());

// guard and ensure narrow.

declare const found: Infer<typeof Plain> | null | undefined;
expectTypeOf(ensure(found, 404, "none")).toEqualTypeOf<{ id: number; name: string }>();
expectTypeOf(ensure(() => found, 404, "none")).toEqualTypeOf<{ id: number; name: string }>();
expectTypeOf(ensure(() => JSON.parse("1") as string | undefined, 400, "none")).toEqualTypeOf<string>();
// @ts-expect-error a promise must be awaited first
ensure(Promise.resolve(found), 404, "none");
// @ts-expect-error a promise must be awaited first
ensure(async () => found, 404, "none");
expectTypeOf(ensure((): Infer<typeof Plain> | null => null, 404, "none")).toEqualTypeOf<{ id: number; name: string }>();
expectTypeOf(ensure(found as typeof found | string[], 404, "none").toString()).toEqualTypeOf<string>();
expectTypeOf(ensure("a" as string | null, 404, "none")).toEqualTypeOf<string>();
// In generic functions as well.
export const first = <T>(rows: readonly T[]): NonNullable<T> => ensure(rows[0], 404, "none");
export const must = <T>(value: T): NonNullable<T> => ensure(value, 404, "none");
export const row = <T extends object>(value: T | null | undefined): T => ensure(value, 404, "none");
export const parsed = <T>(parse: () => T): NonNullable<T> => ensure(() => parse(), 404, "none");
export const given = <T>(parse: () => T): NonNullable<T> => ensure(parse, 404, "none");
export const property = <T, K extends keyof T>(of: T, key: K): NonNullable<T[K]> => ensure(of[key], 404, "none");
expectTypeOf(must(found)).toEqualTypeOf<{ id: number; name: string }>();
// @ts-expect-error a promise of a generic type is one as well
export const pending = <T>(value: Promise<T>) => ensure(value, 404, "none");
// @ts-expect-error a promise that may be absent
ensure(Promise.resolve(found) as Promise<unknown> | undefined, 404, "none");
guard(found, 404, "none");
expectTypeOf(found).toEqualTypeOf<{ id: number; name: string }>();

// @ts-expect-error a route, not a handler
routes({ index: () => ok({}) });

// Forms are typed as their fields are.

const Upload = Form("Upload", {
  title: field.string(),
  size: field.u32().optional(),
  file: field.file(),
  more: list(field.file()),
});
post("/upload", { body: Upload }, ({ body }) => {
  expectTypeOf(body).toEqualTypeOf<{ title: string; size?: number | undefined; file: FormFile; more: FormFile[] }>();
  expectTypeOf(body.file.bytes).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
  return ok({});
});
// @ts-expect-error a form is no answer
get("/upload", { response: Upload }, () => ok({}));
// @ts-expect-error a form has no objects in it
Form("Nested", { address: Address });
// @ts-expect-error a file stands in a form
Query("WithFile", { file: field.file() });

// Bytes have an unshared buffer, as crypto.subtle requires.

post("/bytes", async (_input, req) => {
  expectTypeOf(req.body).toEqualTypeOf<Uint8Array<ArrayBuffer> | undefined>();
  expectTypeOf((await httpClient.get("http://a/")).bytes()).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
  return ok({});
});
