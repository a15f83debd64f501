import { describe, expect, it } from "vitest";
import { field, get, group, ok, Path, post, routes } from "../index.ts";
import { testApp } from "../testing/index.ts";

const named = (name: string) => () => ok({ name });
const One = Path("One", { id: field.u32() });

describe("groups", () => {
  const posts = group("/posts", { list: get("", named("posts.list")) });
  const users = group("/users", {
    list: get(["", "/"], named("users.list")),
    one: get("/{id}", { path: One }, ({ path }) => ok(path)),
    posts,
  });
  const app = routes({ users, posts, health: get("/health", named("health")) }, { prefix: "/api/v1" });

  it("names routes behind their groups, and puts the prefixes in front of their paths", () => {
    expect(app.operations.map(({ name, paths }) => [name, paths])).toEqual([
      ["users.list", ["/api/v1/users", "/api/v1/users/"]],
      ["users.one", ["/api/v1/users/{id}"]],
      ["users.posts.list", ["/api/v1/users/posts"]],
      ["posts.list", ["/api/v1/posts"]],
      ["health", ["/api/v1/health"]],
    ]);
    expect(app.prefix).toBe("/api/v1");
  });

  it("keeps routes of one key in two groups apart", async () => {
    const test = testApp(app);
    expect((await test.get("/api/v1/users")).json()).toEqual({ name: "users.list" });
    expect((await test.get("/api/v1/posts")).json()).toEqual({ name: "posts.list" });
    expect((await test.get("/api/v1/users/posts")).json()).toEqual({ name: "posts.list" });
    expect((await test.get("/api/v1/users/7")).json()).toEqual({ id: 7 });
    expect((await test.get("/users")).status).toBe(404);
    expect((await test.post("/api/v1/users")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });

  it("may have no prefix of its own", async () => {
    const test = testApp(routes({ plain: group("", { index: get("/", named("index")) }) }));
    expect((await test.get("/")).status).toBe(200);
  });

  const loose = (make: () => unknown) => make as () => never;
  it.each([
    ["no slash", () => routes({ a: group("a", {}) }), /"a": the path "a" must start with "\/"/],
    ["a slash at the end", () => routes({ a: group("/a/", {}) }), /the prefix "\/a\/" must not end in "\/"/],
    [
      "a placeholder",
      () => routes({ a: group("/{id}" as string, {}) }),
      /the prefix "\/\{id\}" must not .* have placeholders/,
    ],
    ["the app's prefix", () => routes({}, { prefix: "api" }), /"routes": the path "api" must start with "\/"/],
    ["a route without a slash", () => routes({ a: group("/a", { b: get("b" as "/b", named("b")) }) }), /"a.b": .*"b"/],
    ["no route", () => routes({ a: group("/a", { b: named("b") as never }) }), /"a.b" is not a route/],
    ["no definitions", () => routes({ a: group("/a", undefined as never) }), /group\("\/a"\): expects its routes/],
    ["no prefix", () => group(undefined as never, {}), /group: expects a prefix such as "\/users"/],
    ["an unknown option", () => group("/a", {}, { uses: [] } as never), /group\("\/a"\): unknown "uses"/],
    [
      "no middleware",
      () => group("/a", {}, { use: [() => ok({})] } as never),
      /group\("\/a"\), "use": expects middleware/,
    ],
    ["an unknown option of routes", () => routes({}, { perfix: "/" } as never), /routes: unknown "perfix"/],
    ["onError that is no function", () => routes({}, { onError: 1 } as never), /"onError" must be a function/],
    [
      "one name twice",
      () => routes({ a: group("/a", { b: get("", named("a")) }), "a.b": post("/b", named("b")) }),
      /two routes are called "a.b"/,
    ],
    [
      "one path twice",
      () => routes({ a: group("/a", { b: get("", named("a")) }), c: get("/a", named("b")) }),
      /a.b \(GET "\/a"\) and c \(GET "\/a"\)/,
    ],
  ])("refuses %s", (_what, make, message) => {
    expect(loose(make)).toThrow(message);
  });
});
