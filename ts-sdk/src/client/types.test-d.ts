/** The input and output types of a client's calls. */
import type { expectTypeOf as expectTypeOfValue } from "vitest";
import {
  type App,
  created,
  extend,
  Form,
  field,
  get,
  group,
  type Json,
  list,
  noContent,
  ok,
  omit,
  oneOf,
  Path,
  post,
  Query,
  record,
  routes,
  type StandardSchema,
  Type,
} from "../index.ts";
import { client } from "./index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;

const User = Type("User", { id: field.u32(), name: field.string(), note: field.string().optional() });
const WithDefaults = Type("WithDefaults", { a: field.string(), role: field.enum("x", "y", { default: "x" }) });
/** A schema of another library whose input differs from its output. */
declare const Foreign: StandardSchema<{ a: string; b?: number }, { a: string; b: number }>;
const index = get("/", () => ok({ a: 1 }));
declare const Answered: StandardSchema<{ a: string; b?: number }>;
const Shown = Type("Shown", {
  plain: User,
  many: list(User),
  named: record(User),
  shape: oneOf("kind", { user: User, none: Type("None", {}) }),
  words: list(field.enum("a", "b")).optional(),
  none: field.string().nullable(),
  any: field.json(),
});
const app = routes({
  index,
  shown: get("/shown", { response: Shown }, () =>
    ok({ plain: { id: 1, name: "a", note: null }, many: [], named: {}, shape: { kind: "none" }, none: null, any: 1 }),
  ),
  foreignly: get("/foreignly", { response: Answered }, () => ok({ a: "a" })),
  users: group("/users", {
    list: get("", { query: Query("Page", { page: field.u32({ default: 1 }) }), response: list(User) }, () => ok([])),
    one: get("/{id}", { path: Path("UserId", { id: field.u32() }), response: User }, () => ok({ id: 1, name: "a" })),
    inline: get(
      "/in/{id}",
      {
        path: { id: field.u32() },
        query: { q: field.string(), r: field.u32({ default: 1 }), s: field.bool().optional() },
      },
      () => ok({}),
    ),
    named: get(
      "/named",
      { query: Query("Named", { q: field.string(), r: field.u32({ default: 1 }), s: list(field.u32()).optional() }) },
      () => ok({}),
    ),
    defaults: post(
      "/defaults",
      { body: WithDefaults, query: Query("Only", { page: field.u32({ default: 1 }) }) },
      ({ body }) => ok(body),
    ),
    picked: post(
      "/picked",
      { body: omit(extend(WithDefaults, "More", { size: field.u32({ default: 1 }) }), ["a"]) },
      () => ok({}),
    ),
    foreign: post("/foreign", { body: Foreign, query: Foreign }, () => ok({})),
    create: post("", { body: User, response: User, status: 201 }, ({ body }) => created("/", body)),
    change: post("/change", { body: User.optional(), status: 204 }, () => noContent()),
    untyped: get("/raw/{id}/{name}", () => ok({})),
    deeper: group("/deeper", {
      upload: post(
        "/upload",
        { body: Form("Up", { file: field.file(), n: field.u32(), m: field.u32({ default: 1 }) }) },
        () => ok({}),
      ),
    }),
  }),
});
declare const thens: App<{ then: typeof index }>;
const api = client<typeof app>("http://a/");

const listed = await api.users.list({ query: { page: 2 } });
if (listed.ok) {
  expectTypeOf(listed.status).toEqualTypeOf<200>();
  expectTypeOf(listed.data).toEqualTypeOf<{ id: number; name: string; note?: string | undefined }[]>();
} else {
  expectTypeOf(listed.status).toEqualTypeOf<number>();
  expectTypeOf(listed.problem.title).toEqualTypeOf<string>();
  // @ts-expect-error there is no data
  listed.data;
}
await api.users.list();
await api.index();

// A handler may answer null for an optional member of a declared response, at any depth; it is not sent.
const shown = await api.shown();
if (shown.ok) {
  expectTypeOf(shown.data).toEqualTypeOf<{
    plain: { id: number; name: string; note?: string | undefined };
    many: { id: number; name: string; note?: string | undefined }[];
    named: { [key: string]: { id: number; name: string; note?: string | undefined } };
    shape: { kind: "user"; id: number; name: string; note?: string | undefined } | { kind: "none" };
    words?: ("a" | "b")[] | undefined;
    none: string | null;
    any: Json;
  }>();
}
const foreign = await api.foreignly();
if (foreign.ok) expectTypeOf(foreign.data).toEqualTypeOf<{ a: string; b?: number }>();
const one = await api.users.one({ path: { id: 1 } });
if (one.ok) expectTypeOf(one.data.name).toEqualTypeOf<string>();
await api.users.inline({ path: { id: 1 }, query: { q: "x" } });
await api.users.inline({ path: { id: 1 }, query: { q: "x", r: 2, s: true } });
await api.users.named({ query: { q: "x" } });
await api.users.named({ query: { q: "x", r: 1, s: [1] } });
await api.users.foreign({ query: { a: "x" }, body: { a: "x" } });
await api.users.defaults({ body: { a: "x" } });
await api.users.defaults({ body: { a: "x", role: "y" } });
await api.users.picked({ body: {} });
await api.users.picked({ body: { role: "y", size: 2 } });
const added = await api.users.create({ body: { id: 1, name: "a" } });
if (added.ok) expectTypeOf(added.status).toEqualTypeOf<201>();
await api.users.change();
await api.users.untyped({ path: { id: 1, name: "x" }, headers: { "x-a": "b" } });
await api.users.deeper.upload({ form: { file: new Blob([]), n: 1 } });

// @ts-expect-error the path is needed
await api.users.one();
// @ts-expect-error of another type
await api.users.one({ path: { id: "1" } });
// @ts-expect-error a query that has a required field
await api.users.inline({ path: { id: 1 } });
// @ts-expect-error the required field of an inline query
await api.users.inline({ path: { id: 1 }, query: { r: 1 } });
// @ts-expect-error the required field of a Query
await api.users.named({ query: { r: 1 } });
// @ts-expect-error a query that has a required field
await api.users.named();
// @ts-expect-error of another type
await api.users.named({ query: { q: 1 } });
// @ts-expect-error the required field beside one with a default
await api.users.defaults({ body: { role: "y" } });
// @ts-expect-error a word outside the enum
await api.users.defaults({ body: { a: "x", role: "z" } });
// @ts-expect-error the field was left out
await api.users.picked({ body: { a: "x" } });
// @ts-expect-error the other library's schema needs the field
await api.users.foreign({ query: { b: 1 }, body: { a: "x" } });
// @ts-expect-error an unknown key of the query
await api.users.list({ query: { pages: 1 } });
// @ts-expect-error a body that lacks a field
await api.users.create({ body: { id: 1 } });
// @ts-expect-error no such route
await api.users.other();
// @ts-expect-error no such group
await api.posts.list();
// @ts-expect-error a form is no body
await api.users.deeper.upload({ body: { file: new Blob([]), n: 1 } });
const awaitable = client<typeof thens>("http://a/");
// @ts-expect-error a member "then" would make the client a promise
await awaitable.then();
// @ts-expect-error a placeholder is missing
await api.users.untyped({ path: { id: 1 } });

// Placeholders of a group's prefix are inputs of its routes.
const grouped = routes({
  articles: group(
    "/articles/{slug}",
    {
      read: get("", ({ path }) => ok(path)),
      comments: group(
        "/comments/{number}",
        ({ get }) => ({
          one: get("/{id}", { path: { id: field.u32() }, response: User }, ({ path }) => ok({ id: path.id, name: "" })),
        }),
        { path: Path("Comment", { number: field.u32() }) },
      ),
    },
    { path: { slug: field.string() } },
  ),
});
const inGroups = client<typeof grouped>("https://host.example");
inGroups.articles.read({ path: { slug: "a" } });
inGroups.articles.comments.one({ path: { slug: "a", number: 1, id: 2 } });
// @ts-expect-error the group's placeholder is missing
inGroups.articles.read();
// @ts-expect-error the outer group's placeholder is missing
inGroups.articles.comments.one({ path: { number: 1, id: 2 } });
// @ts-expect-error a number is needed
inGroups.articles.comments.one({ path: { slug: "a", number: "1", id: 2 } });
