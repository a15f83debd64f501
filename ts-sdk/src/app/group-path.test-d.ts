import { expectTypeOf } from "vitest";
import { bearer, field, get, group, ok, post, routes, Type, use } from "../index.ts";

const signedIn = use(bearer(async (token) => ({ name: token })));
const Comment = Type("Comment", { text: field.string() });

// The placeholders of a prefix are texts.
export const comments = group(
  "/articles/{slug}/comments",
  {
    list: get("", ({ path }) => {
      expectTypeOf(path).toEqualTypeOf<{ slug: string }>();
      return ok({ of: path.slug });
    }),
    one: get("/{id}", { path: { id: field.u32() }, query: { q: field.string() } }, ({ path, query }) => {
      expectTypeOf(path.id).toEqualTypeOf<number>();
      expectTypeOf(path.slug).toEqualTypeOf<string>();
      expectTypeOf(query).toEqualTypeOf<{ q: string }>();
      return ok({});
    }),
    add: signedIn.post("", { body: Comment, response: Comment }, ({ path, body }, _req, { user }) => {
      expectTypeOf(path.slug).toEqualTypeOf<string>();
      expectTypeOf(user.name).toEqualTypeOf<string>();
      return ok(body);
    }),
    hand: get("/x", ({ path }: { path: { slug: string } }) => ok({ of: path.slug })),
    votes: group(
      "/{id}/votes",
      { add: post("", ({ path }) => ok({ of: path.slug, id: path.id })) },
      { path: { id: field.string() } },
    ),
  },
  { path: { slug: field.string() } },
);

export const users = group(
  "/users/{id}",
  (user) => ({
    one: user.get("", ({ path }) => {
      expectTypeOf(path).toEqualTypeOf<{ id: number }>();
      return ok(path);
    }),
    plain: get("", ({ path }) => {
      expectTypeOf(path).toEqualTypeOf<{ id: number }>();
      return ok(path);
    }),
    me: user.get("/me", (_in, _req, { user }) => ok({ name: user.name })),
    inner: group(
      "/a/{b}",
      (g) => ({
        get: g.get("", ({ path }) => ok({ id: path.id, b: path.b })),
        get2: get("", ({ path }) => ok({ id: path.id, b: path.b })),
      }),
      { path: { b: field.bool() } },
    ),
  }),
  { path: { id: field.u32() }, use: [bearer(async (token) => ({ name: token }))] },
);
routes({ comments, users });

const inline = get("", () => ok({}));
export const agreed = [
  group("/{id}", { inline }, { path: { id: field.u32() } }),
  group("/{id}", { hand: get("", ({ path }: { path: { id: number } }) => ok(path)) }, { path: { id: field.u32() } }),
  group(
    "/{id}",
    {
      hand: get(
        "/{x}",
        { path: { x: field.u32() }, body: Comment },
        ({ path, body }: { path: { id: number; x: number }; body: { text: string } }) => ok({ ...path, ...body }),
      ),
    },
    { path: { id: field.u32() } },
  ),
  // @ts-expect-error the placeholder is no text
  group("/{id}", { one: get("", ({ path }) => ok(path)) }, { path: { id: field.u32() } }),
  // @ts-expect-error the handler asks for a number
  group("/{id}", { one: get("", ({ path }: { path: { id: number } }) => ok(path)) }, { path: { id: field.string() } }),
  // @ts-expect-error there is no such placeholder
  group("/{id}", { one: get("", ({ path }) => ok(path.slug)) }, { path: { id: field.string() } }),
  // @ts-expect-error not a route
  group("/{id}", { one: 1 }, { path: { id: field.string() } }),
  // @ts-expect-error not a route
  group("/{id}", { one: {} }, { path: { id: field.string() } }),
  // @ts-expect-error not a route
  group("/{id}", () => ({ one: 1 }), { path: { id: field.string() } }),
];

// A group without placeholders adds no input, and passes on those of the groups around it.
export const nested = group(
  "/{id}",
  { inner: group("/in", { one: get("", ({ path }) => ok({ id: path.id })) }) },
  { path: { id: field.string() } },
);
// @ts-expect-error there are no placeholders
group("/plain", { one: get("", ({ path }) => ok(path)) });
