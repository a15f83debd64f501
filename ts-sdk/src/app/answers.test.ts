import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { client } from "../client/index.ts";
import {
  accepted,
  created,
  error,
  field,
  get,
  group,
  guard,
  list,
  middleware,
  noContent,
  ok,
  oneOf,
  Problem,
  post,
  put,
  record,
  routes,
  Type,
} from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

const User = Type("User", { id: field.u32(), name: field.string(), email: field.string().optional() });
const Conflict = Type("Conflict", {
  type: field.string(),
  title: field.string(),
  status: field.u32(),
  detail: field.string(),
  current: field.u32(),
});

const warnings = vi.spyOn(console, "error").mockImplementation(() => {});
afterEach(() => warnings.mockClear());

/** The answer of a served app to a declared response, without the checks of tests. */
async function sent(response: never, body: unknown): Promise<string> {
  const app = routes({ it: get("/", { response }, () => ok(body) as never) });
  const answer = await testApp(app, { checkResponses: false }).get("/");
  return answer.status === 200 ? answer.text() : `${answer.status}`;
}

describe("several answers", () => {
  const app = routes({
    save: put(
      "/users/{id}",
      { path: { id: field.u32() }, responses: { 200: User, 201: User, 404: Problem, 409: Conflict } },
      ({ path: { id } }) => {
        guard(id !== 4, 404, "no such user");
        if (id === 9) return error(409, "taken", { current: 3, secret: "x" });
        return id === 1 ? created("/users/1", { id, name: "new" }) : ok({ id, name: "old" });
      },
    ),
    remove: post("/remove", { responses: { 202: { job: field.u32() }, 204: null } }, (_, req) =>
      req.query === "later" ? accepted({ job: 1 }) : noContent(),
    ),
    undeclared: get("/undeclared", { responses: { 200: User, 404: Problem } }, () => created("/", {}) as never),
    broken: get("/broken", { responses: { 201: User } }, () => created("/", { id: "x" }) as never),
  });

  it("are sent with their statuses and declared members", async () => {
    const test = testApp(app);
    expect(await test.put("/users/1")).toMatchObject({ status: 201 });
    expect((await test.put("/users/2")).json()).toEqual({ id: 2, name: "old" });
    expect((await test.put("/users/4")).json()).toMatchObject({ status: 404, detail: "no such user" });
    const conflict = await test.put("/users/9");
    expect(conflict.headers.get("content-type")).toBe("application/problem+json");
    expect(conflict.json()).toEqual({
      type: "about:blank",
      title: "Conflict",
      status: 409,
      detail: "taken",
      current: 3,
    });
    expect((await test.post("/remove?later")).json()).toEqual({ job: 1 });
    expect((await test.post("/remove")).status).toBe(204);
  });

  it("are checked in tests, each by its schema", async () => {
    expect((await testApp(app).get("/undeclared")).json().detail).toContain("answered 201, but declares 200, 404");
    expect((await testApp(app).get("/broken")).json().detail).toContain("#/id must be a whole number");
  });

  it("are in the document", () => {
    const { paths, components } = JSON.parse(json(app, { name: "x" }));
    const { responses } = paths["/users/{id}"].put;
    const ref = (type: string, name: string) => ({ [type]: { schema: { $ref: `#/components/schemas/${name}` } } });
    expect(responses).toEqual({
      200: { description: "Success", content: ref("application/json", "User") },
      201: { description: "Created", content: ref("application/json", "User") },
      404: { description: "Not Found", content: ref("application/problem+json", "Problem") },
      409: { description: "Conflict", content: ref("application/problem+json", "Conflict") },
      "4XX": expect.anything(),
      "5XX": expect.anything(),
    });
    expect(components.schemas.Problem.properties.errors.items).toEqual({ $ref: "#/components/schemas/InputError" });
    expect(paths["/remove"].post.responses).toMatchObject({
      202: { content: { "application/json": { schema: { type: "object", required: ["job"] } } } },
      204: { description: "No Content" },
    });
    expect(Object.keys(components.schemas)).toEqual(["Conflict", "InputError", "Problem", "ProblemDetails", "User"]);
  });

  it("are results of the typed client", async () => {
    const api = client<typeof app>(testApp(app));
    expect(await api.save({ path: { id: 1 } })).toMatchObject({ ok: true, status: 201, data: { name: "new" } });
    const conflict = await api.save({ path: { id: 9 } });
    expect(!conflict.ok && conflict.status === 409 && conflict.problem.current).toBe(3);
  });

  it("keep extension members of problem details", async () => {
    const extended = routes({
      it: get("/", { responses: { 200: User, 404: Problem } }, () => error(404, "none", { hint: "x" })),
    });
    expect((await testApp(extended).get("/")).json().hint).toBe("x");
  });

  it.each([
    ["response beside them", { responses: { 200: User }, response: User }, 'takes the place of "response"'],
    ["status beside them", { responses: { 200: User }, status: 201 }, 'takes the place of "status"'],
    ["errors alone", { responses: { 404: Problem } }, "must have a status below 400"],
    ["a status out of range", { responses: { 99: User } }, "must be from 200 to 599"],
    ["a body that is never sent", { responses: { 204: User } }, "must have no body"],
    ["no schema", { responses: { 200: { a: 1 } } }, "is not a schema"],
    ["no object", { responses: 1 }, "must be an object of schemas"],
    ["null", { responses: null }, "must be an object of schemas"],
  ])("refuse %s", (_what, options, message) => {
    expect(() => get("/", options as never, () => ok({}) as never)).toThrow(message);
  });
});

describe("what is declared is what is sent", () => {
  const secretive = { id: 1, name: "Ada", password: "hunter2" };

  it.each<[string, unknown, unknown, string]>([
    ["an object", User, secretive, '{"id":1,"name":"Ada"}'],
    ["a list", list(User), [secretive, secretive], '[{"id":1,"name":"Ada"},{"id":1,"name":"Ada"}]'],
    ["an empty list", list(User), [], "[]"],
    [
      "nested",
      Type("Page", { users: list(User), id: field.u32() }),
      { users: [secretive], id: 2, name: 3, x: 1 },
      '{"users":[{"id":1,"name":"Ada"}],"id":2}',
    ],
    [
      "a name that another level declares",
      Type("Outer", { password: field.string(), user: User }),
      { password: "mine", user: secretive },
      '{"password":"mine","user":{"id":1,"name":"Ada"}}',
    ],
    ["inline fields", { a: field.u32() }, { a: 1, b: 2 }, '{"a":1}'],
    ["lists of lists", list(list(User)), [[secretive]], '[[{"id":1,"name":"Ada"}]]'],
    [
      "a record",
      record(User),
      { x: secretive, 'y"': secretive },
      '{"x":{"id":1,"name":"Ada"},"y\\"":{"id":1,"name":"Ada"}}',
    ],
    ["a union", oneOf("kind", { user: User }), { kind: "user", ...secretive }, '{"kind":"user","id":1,"name":"Ada"}'],
    ["an unknown variant", oneOf("kind", { user: User }), { kind: "other", ...secretive }, '{"kind":"other"}'],
    [
      "any JSON",
      Type("Any", { any: field.json() }),
      { any: { deep: [1, null, { x: undefined }] }, b: 1 },
      '{"any":{"deep":[1,null,{}]}}',
    ],
    ["null of an optional member, which is left out", User, { ...secretive, email: null }, '{"id":1,"name":"Ada"}'],
    [
      "null of a nullable member",
      Type("N", {
        a: field.string().nullish(),
        b: User.nullable(),
        c: User.optional(),
        d: list(field.u32()).optional(),
      }),
      { a: null, b: null, c: null, d: null },
      '{"a":null,"b":null}',
    ],
    [
      "values with toJSON",
      Type("D", { at: field.string(), user: User }),
      { at: new Date(0), user: { toJSON: () => secretive } },
      '{"at":"1970-01-01T00:00:00.000Z","user":{"id":1,"name":"Ada"}}',
    ],
    ["a list in place of an object", Type("W", { user: User }), { user: [secretive] }, '{"user":{}}'],
    ["an object in place of a list", Type("V", { users: list(User) }), { users: secretive }, '{"users":{}}'],
    [
      "an object in place of a text",
      Type("U", { name: field.string(), user: User }),
      { name: secretive, user: secretive },
      '{"name":{},"user":{"id":1,"name":"Ada"}}',
    ],
    [
      "names that objects inherit",
      Type("I", { constructor: field.string().optional(), user: User.optional() }),
      { x: 1 },
      "{}",
    ],
  ])("%s", async (_what, schema, body, text) => {
    expect(await sent(schema as never, body)).toBe(text);
  });

  it("by other libraries' schemas that are closed", async () => {
    const Name = z.object({ name: z.string(), note: z.string().nullable().optional() }).meta({ id: "Name" });
    const Tree = z.object({
      v: z.number(),
      get kids() {
        return z.array(Tree).optional();
      },
    });
    const body = { name: "Ada", note: null, password: "x" };
    expect(await sent(Name as never, body)).toBe('{"name":"Ada","note":null}');
    expect(await sent(z.array(Name) as never, [body])).toBe('[{"name":"Ada","note":null}]');
    expect(await sent(z.object({ a: Name, b: Name.nullable() }) as never, { a: body, b: null, c: 1 })).toBe(
      '{"a":{"name":"Ada","note":null},"b":null}',
    );
    expect(await sent(z.looseObject({ name: z.string() }) as never, body)).toBe(JSON.stringify(body));
    expect(
      await sent(z.object({ at: z.date(), any: z.any() }) as never, { at: new Date(0), any: { x: 1 }, b: 1 }),
    ).toBe('{"at":"1970-01-01T00:00:00.000Z","any":{"x":1}}');
    expect(await sent(Tree as never, { v: 1, kids: [{ v: 2 }] })).toContain('"kids":[{"v":2}]');
  });

  it("also through middleware and groups, asynchronously, and for HEAD", async () => {
    const pass = middleware((_, next) => next());
    const answer = middleware(() => ok(secretive));
    const app = routes(
      {
        grouped: group("/g", { it: get("", { response: User }, async () => ok(secretive)) }, { use: [pass] }),
        answered: group("/a", { it: get("", { response: User }, () => ok({ id: 1, name: "" })) }, { use: [answer] }),
        later: get("/later", { response: User }, async () => ok(secretive)),
        other: get("/other", { response: User }, () => ok(secretive).header("x-a", "b")),
        free: get("/free", () => ok(secretive)),
      },
      { use: [pass] },
    );
    const test = testApp(app);
    for (const path of ["/g", "/a", "/later", "/other"]) {
      expect((await test.get(path)).text(), path).toBe('{"id":1,"name":"Ada"}');
    }
    expect((await test.head("/later")).headers.get("content-length")).toBe("21");
    expect((await test.get("/free")).json()).toEqual(secretive);
  });

  it("is warned about in tests and in development, once for a member and a route", async () => {
    const Rows = Type("Rows", { users: list(User) });
    const app = routes({ rows: get("/", { response: Rows }, () => ok({ users: [secretive, secretive], more: 1 })) });
    await testApp(app).get("/");
    await testApp(app).get("/");
    expect(warnings.mock.calls.flat()).toEqual([
      "warning: rows: the response does not declare #/users/*/password, so it is not sent",
      "warning: rows: the response does not declare #/more, so it is not sent",
    ]);
  });
});

describe("a promise in a body", () => {
  it("is an error in tests and in development that names its place", async () => {
    const app = routes({
      plain: get("/plain", () => ok({ users: [{ id: 1 }, { id: Promise.resolve(2) }] })),
      declared: get("/declared", { response: { user: User } }, () => ok({ user: Promise.resolve() } as never)),
      circular: get("/circular", { response: { a: field.u32() } }, () => {
        const body: Record<string, unknown> = { a: 1, toJSON: () => ({ a: 1 }) };
        body["self"] = body;
        return ok(body) as never;
      }),
    });
    expect((await testApp(app).get("/plain")).json().detail).toContain("#/users/1/id is a promise; await it first");
    expect((await testApp(app).get("/declared")).json().detail).toContain("#/user is a promise; await it first");
    expect((await testApp(app).get("/circular")).json()).toEqual({ a: 1 });
  });
});

describe("a promise as a body", () => {
  const load = async () => ({ id: 1, name: "Ada" });
  const app = routes({
    plain: get("/plain", () => ok(load() as never)),
    declared: get("/declared", { response: User }, () => ok(load() as never)),
    listed: get("/listed", { response: list(User) }, async () => ok(load() as never)),
  });

  it.each(["/plain", "/declared", "/listed"])("is an error that says so: %s", async (path) => {
    for (const checkResponses of [true, false]) {
      warnings.mockClear();
      expect((await testApp(app, { checkResponses }).get(path)).status).toBe(500);
      expect(String(warnings.mock.calls)).toContain("the body is a promise; await it first: ok(await …)");
    }
  });
});
