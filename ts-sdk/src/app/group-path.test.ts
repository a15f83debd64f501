import { expect, it } from "vitest";
import { client } from "../client/index.ts";
import { del, field, get, group, middleware, noContent, ok, Path, post, routes, Type } from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

interface Of {
  path: { slug: string };
}

// Declared outside its group, so the handler names the type of the placeholder.
const votes = group("/votes", { add: post("", ({ path }: Of) => ok({ voted: path.slug })) }, { tags: ["Votes"] });
const comments = group(
  "/articles/{slug}/comments",
  {
    list: get("", { query: { page: field.u32({ default: 1 }) } }, ({ path, query }) =>
      ok({ slug: path.slug, page: query.page }),
    ),
    one: get("/{id}", { path: { id: field.u32() } }, ({ path }) => ok(path)),
    remove: del("/{id}", { path: Path("CommentAt", { id: field.u32() }), status: 204 }, () => noContent()),
    votes,
  },
  { path: { slug: field.string({ max: 10 }) }, tags: ["Comments"] },
);
const app = routes({ comments }, { prefix: "/api" });

it("hands its placeholders to handlers, merged with their own", async () => {
  const test = testApp(app);
  expect((await test.get("/api/articles/a%20b/comments")).json()).toEqual({ slug: "a b", page: 1 });
  expect((await test.get("/api/articles/a/comments/7")).json()).toEqual({ slug: "a", id: 7 });
  expect((await test.post("/api/articles/a/comments/votes")).json()).toEqual({ voted: "a" });
  expect((await test.del("/api/articles/a/comments/7")).status).toBe(204);
  expect((await test.get("/api/articles/a%20very%20long%20slug/comments/x")).json().errors).toMatchObject([
    { in: "path", pointer: "#/slug", code: "max" },
    { in: "path", pointer: "#/id", code: "type" },
  ]);
});

it("takes a function that makes the definitions from the group's own route functions", async () => {
  const named = middleware((_req, next) => next({ name: "ada" }));
  const user = group(
    "/users/{id}",
    ({ get, use }) => ({
      one: get("", ({ path }, _req, { name }) => ok({ next: path.id + 1, name })),
      twice: use(middleware((_req, next) => next({ age: 36 }))).get("/age", (_in, _req, context) => ok(context)),
    }),
    { path: { id: field.u32() }, use: [named] },
  );
  const test = testApp(routes({ user }));
  expect((await test.get("/users/7")).json()).toEqual({ next: 8, name: "ada" });
  expect((await test.get("/users/7/age")).json()).toEqual({ name: "ada", age: 36 });
  expect((await test.get("/users/x")).status).toBe(400);
});

it("describes them in the document, with the tags of the nearest group", () => {
  const { paths } = JSON.parse(json(app, { name: "x" }));
  const one = paths["/api/articles/{slug}/comments/{id}"].get;
  expect(one.parameters.map((each: { name: string }) => each.name)).toEqual(["slug", "id"]);
  expect(one.parameters[0].schema).toEqual({ type: "string", maxLength: 10 });
  expect(one.tags).toEqual(["Comments"]);
  expect(paths["/api/articles/{slug}/comments/votes"].post.tags).toEqual(["Votes"]);
});

it("is called by the typed client", async () => {
  const api = client<typeof app>(testApp(app));
  const path = { slug: "a", id: 7 };
  expect(await api.comments.one({ path })).toMatchObject({ data: path });
});

it.each([
  [
    "a placeholder without a field",
    () =>
      routes({
        a: group("/{id}/{x}" as string, { b: get("", () => ok({})) }, { path: { id: field.string() } } as never),
      }),
    /no field for \{x\}/,
  ],
  [
    "a field without a placeholder",
    () => routes({ a: group("/a", { b: get("", () => ok({})) }, { path: { id: field.string() } } as never) }),
    /has no \{id\}/,
  ],
  ["no fields", () => group("/{id}" as string, {}, { path: { id: 1 } } as never), /"path" must be fields or a Path/],
  [
    "an optional field",
    () =>
      routes({
        a: group("/{id}" as string, { b: get("", () => ok({})) }, { path: { id: field.string().optional() } } as never),
      }),
    /always there/,
  ],
  [
    "the rest of the path",
    () => routes({ a: group("/{id*}" as string, {}, { path: { id: field.string() } } as never) }),
    /must not end in .*"\*\}"/,
  ],
  [
    "a placeholder twice",
    () => routes({ a: group("/{id}", { b: get("/{id}", () => ok({})) }, { path: { id: field.string() } }) }),
    /has \{id\} twice/,
  ],
  ["a function without definitions", () => group("/a", (() => undefined) as never), /expects its routes/],
  ["tags that are no texts", () => group("/a", {}, { tags: [1] } as never), /"tags" must be a list of texts/],
])("refuses %s", (_what, make, message) => {
  expect(make as () => never).toThrow(message);
});

it("leaves a route that is used elsewhere as it is", async () => {
  const Named = Type("Named", { a: field.u32() });
  const route = get("/x", { response: Named }, () => ok({ a: 1 }));
  const both = routes({ plain: route, of: group("/{id}", { route }, { path: { id: field.string() } }) });
  expect((await testApp(both).get("/x")).json()).toEqual({ a: 1 });
  expect((await testApp(both).get("/7/x")).json()).toEqual({ a: 1 });
});
