/**
 * Uses of null, records, any JSON, unions, derived Types and inline inputs that the type checker must refuse or accept.
 */
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import {
  extend,
  field,
  get,
  type Infer,
  type Json,
  list,
  ok,
  omit,
  oneOf,
  PageInfo,
  Path,
  pageInfo,
  partial,
  patch,
  pick,
  post,
  Query,
  record,
  Type,
} from "../index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;

const User = Type("User", {
  id: field.u32(),
  name: field.string({ default: "x" }),
  note: field.string().nullable(),
  email: field.string().optional(),
  phone: field.string().nullable().optional(),
  role: field.enum("a", "b").nullable(),
  tags: list(field.u32().nullable()),
  scores: record(field.u32()),
  meta: field.json(),
});
type User = {
  id: number;
  name: string;
  note: string | null;
  email?: string | undefined;
  phone?: string | null | undefined;
  role: "a" | "b" | null;
  tags: (number | null)[];
  scores: { [key: string]: number };
  meta: Json;
};
expectTypeOf<Infer<typeof User>>().toEqualTypeOf<User>();

// Null.

const maybe = User.nullable();
expectTypeOf<Infer<typeof maybe>>().toEqualTypeOf<User | null>();
const both = field.u32().nullable().optional();
expectTypeOf<Infer<typeof both>>().toEqualTypeOf<number | null | undefined>();
const filled = Type("Filled", { a: field.u32({ default: 1 }).nullable(), b: field.u32({ default: 1 }).optional() });
expectTypeOf<Infer<typeof filled>>().toEqualTypeOf<{ a: number | null; b: number }>();
post("/", { body: User.nullable() }, ({ body }) => {
  // @ts-expect-error it may be null
  body.id;
  return ok(body?.id ?? null);
});
const Note = Type("Note", { note: field.string().nullable() });
post("/", { response: Note }, () => ok({ note: null }));
// @ts-expect-error null is no absence
post("/", { response: Note }, () => ok({}));
get("/", { response: Note.nullable() }, () => ok(null));
get("/", { response: Note.nullable() }, () => ok({ note: null }));
// @ts-expect-error this one is never null
get("/", { response: Note }, () => ok(null));
// @ts-expect-error a path has no null
Path("P", { id: field.u32().nullable() });
// @ts-expect-error a query has no null
Query("Q", { id: field.u32().nullable() });
// @ts-expect-error a default is of the kind
field.u32({ default: null });

// Records and any JSON.

const counts = record(list(field.bool()), { min: 1, default: { a: [true] } });
expectTypeOf<Infer<typeof counts>>().toEqualTypeOf<{ [key: string]: boolean[] }>();
post("/", { response: record(Note) }, () => ok({ any: { note: null } }));
// @ts-expect-error a value of another kind
post("/", { response: record(field.u32()) }, () => ok({ any: "x" }));
// @ts-expect-error a value is there or not
record(field.u32().optional());
// @ts-expect-error no such attribute
record(field.u32(), { unique: true });
// @ts-expect-error a default of another kind
record(field.u32(), { default: { a: "1" } });
// @ts-expect-error a query has no objects
Query("Q", { scores: record(field.u32()) });
// @ts-expect-error a query has no objects
Query("Q", { any: field.json() });
// @ts-expect-error no such attribute
field.json({ max: 1 });

interface Named {
  readonly name: string;
}
const Any = Type("Any", { any: field.json() });
declare const named: Named;
post("/", { body: Any, response: Any }, ({ body }) => ok(body));
post("/", { response: Any }, () => ok({ any: { named, list: [named, undefined, { a: 1 }], gone: undefined } }));
post("/", { response: Any }, () => ok({ any: null }));
// @ts-expect-error JSON has no dates
post("/", { response: Any }, () => ok({ any: new Date() }));
// @ts-expect-error JSON has no bigints
post("/", { response: Any }, () => ok({ any: 1n }));
// @ts-expect-error nested values are unknown
post("/", { body: Any }, ({ body }) => ok(body.any.name));

// Unions.

const Circle = Type("Circle", { radius: field.f64() });
const Square = Type("Square", { kind: field.enum("square"), side: field.f64(), label: field.string().optional() });
const Shape = oneOf("kind", { circle: Circle, square: Square });
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number; label?: string | undefined };
expectTypeOf<Infer<typeof Shape>>().toEqualTypeOf<Shape>();
post("/", { body: Shape, response: list(Shape) }, ({ body }) => {
  // @ts-expect-error only a circle has it
  body.radius;
  if (body.kind === "circle") expectTypeOf(body.radius).toEqualTypeOf<number>();
  else expectTypeOf(body.label).toEqualTypeOf<string | undefined>();
  return ok([body, { kind: "square", side: 1, label: null }]);
});
// @ts-expect-error a circle has no side
post("/", { response: Shape }, () => ok({ kind: "circle", side: 1 }));
// @ts-expect-error no such kind
post("/", { response: Shape }, () => ok({ kind: "oval", radius: 1 }));
// @ts-expect-error the tag is missing
post("/", { response: Shape }, () => ok({ radius: 1 }));
// @ts-expect-error a variant is a Type
oneOf("kind", { n: field.u32() });
// @ts-expect-error a variant is always there
oneOf("kind", { circle: Circle.optional() });
// @ts-expect-error a query has no objects
Query("Q", { shape: Shape });

// Derived Types.

const Patch = partial(User);
expectTypeOf<Infer<typeof Patch>>().toEqualTypeOf<{
  id?: number | undefined;
  name?: string | undefined;
  note?: string | null | undefined;
  email?: string | undefined;
  phone?: string | null | undefined;
  role?: "a" | "b" | null | undefined;
  tags?: (number | null)[] | undefined;
  scores?: { [key: string]: number } | undefined;
  meta?: Json | undefined;
}>();
const Some = pick(User, ["id", "email"]);
expectTypeOf<Infer<typeof Some>>().toEqualTypeOf<{ id: number; email?: string | undefined }>();
const Rest = omit(User, ["name", "note", "role", "tags", "scores", "meta"]);
expectTypeOf<Infer<typeof Rest>>().toEqualTypeOf<{
  id: number;
  email?: string | undefined;
  phone?: string | null | undefined;
}>();
const More = extend(Some, "More", { id: field.string(), level: field.u32().optional() });
expectTypeOf<Infer<typeof More>>().toEqualTypeOf<{
  id: string;
  email?: string | undefined;
  level?: number | undefined;
}>();
patch("/", { body: partial(omit(User, ["id"]), "UserPatch"), response: pick(User, ["id"]) }, ({ body }) => {
  // @ts-expect-error it was left out
  body.id;
  return ok({ id: body.name?.length ?? 0 });
});
// @ts-expect-error no such field
pick(User, ["nam"]);
// @ts-expect-error no such field
omit(User, ["nam"]);
// @ts-expect-error a Query is no Type
partial(Query("Q", { a: field.u32() }));
// @ts-expect-error fields are schemas
extend(User, "More", { level: 1 });
// @ts-expect-error a name is needed
extend(User, { level: field.u32() });

// PageInfo is a value and a type.

const Users = Type("Users", { users: list(pick(User, ["id"])), page: PageInfo });
declare const rows: { id: number }[];
get("/", { response: Users }, () => {
  const { rows: users, page } = pageInfo(rows, { order: "id", limit: 1 });
  expectTypeOf(page).toEqualTypeOf<PageInfo>();
  return ok({ users, page });
});
expectTypeOf<Infer<typeof PageInfo>>().toEqualTypeOf<PageInfo>();
// @ts-expect-error a cursor may be null, and is not left out
get("/", { response: PageInfo }, () => ok({ has_next: false, has_prev: false, next_cursor: null }));

// Inline fields of a path and a query.

get(
  "/users/{id}/{day}",
  {
    path: { id: field.u32(), day: field.string() },
    query: {
      page: field.u32({ default: 1 }),
      q: field.string().optional(),
      sort: field.enum("a", "b"),
      tags: list(field.bool()).optional(),
    },
  },
  ({ path, query }) => {
    expectTypeOf(path).toEqualTypeOf<{ id: number; day: string }>();
    expectTypeOf(query).toEqualTypeOf<{
      page: number;
      q?: string | undefined;
      sort: "a" | "b";
      tags?: boolean[] | undefined;
    }>();
    return ok({});
  },
);
const at = { id: field.u32() };
get(["/users/{id}", "/u/{id}"], { path: at, query: { q: field.string() }, response: Note }, ({ path, query }) =>
  ok({ note: `${path.id}${query.q}` }),
);
// @ts-expect-error another name
get("/users/{user}", { path: { id: field.u32() } }, () => ok({}));
// @ts-expect-error a placeholder without a field
get("/users/{id}/{day}", { path: { id: field.u32() } }, () => ok({}));
// @ts-expect-error a field without a placeholder
get("/users/{id}", { path: { id: field.u32(), day: field.string() } }, () => ok({}));
// @ts-expect-error a placeholder is always there
get("/users/{id}", { path: { id: field.u32().optional() } }, () => ok({}));
// @ts-expect-error a placeholder is one value
get("/users/{id}", { path: { id: list(field.u32()) } }, () => ok({}));
// @ts-expect-error a query has no objects
get("/users", { query: { user: User } }, () => ok({}));
// @ts-expect-error a query has no null
get("/users", { query: { q: field.string().nullable() } }, () => ok({}));
// @ts-expect-error no schema
get("/users", { query: { page: 1 } }, () => ok({}));
get("/users", { query: { page: field.u32() } }, ({ query }) => {
  // @ts-expect-error it is not declared
  query.limit;
  return ok({});
});

// Numbers.

const Numbers = Type("Numbers", {
  a: field.i32(),
  b: field.i64({ min: -1 }).optional(),
  c: field.f64({ default: 0.5 }),
});
expectTypeOf<Infer<typeof Numbers>>().toEqualTypeOf<{ a: number; b?: number | undefined; c: number }>();
// @ts-expect-error a default is a number
field.i64({ default: "1" });
