import { expect, it, vi } from "vitest";
import {
  bearer,
  ensure,
  error,
  field,
  get,
  group,
  guard,
  middleware,
  ok,
  Problem,
  post,
  routes,
  Type,
  use,
} from "../index.ts";
import { json } from "../openapi/index.ts";
import { testApp } from "../testing/index.ts";

vi.spyOn(console, "error").mockImplementation(() => {});
const Body = Type("Body", { a: field.u32() });
const add = post("/", { body: Body }, ({ body }) => ok(body));

it("answers inputs that do not validate, and no others", async () => {
  const app = routes(
    { add, raw: get("/{id}", (_, req) => ok({ path: req.path })) },
    {
      onInvalid: (problem, req) =>
        req.query === "own" ? error(422, "not valid", { errors: problem.errors, path: req.path }) : undefined,
    },
  );
  const test = testApp(app);
  expect((await test.post("/?own", { json: {} })).json()).toMatchObject({
    status: 422,
    path: "/",
    errors: [{ in: "body", pointer: "#/a" }],
  });
  expect((await test.post("/", { json: {} })).status).toBe(400);
  expect((await test.post("/?own", { body: "x", headers: { "content-type": "text/plain" } })).status).toBe(415);
  expect((await test.get("/%zz?own")).status).toBe(422);
  expect((await test.post("/?own", { json: { a: 1 } })).status).toBe(200);
});

it("may wait, and must return a response", async () => {
  const waiting = routes({ add }, { onInvalid: async () => error(422, "later") });
  expect((await testApp(waiting).post("/", { json: {} })).status).toBe(422);
  const broken = routes({ add }, { onInvalid: (() => 1) as never });
  expect((await testApp(broken).post("/", { json: {} })).status).toBe(500);
  expect(() => routes({}, { onInvalid: 1 as never })).toThrow('"onInvalid" must be a function');
});

it("guard and ensure add members to their problem details", async () => {
  const app = routes({
    guarded: get("/guard", () => {
      guard(false, 409, "taken", { type: "https://example.com/taken", field: "email" });
      return ok({});
    }),
    ensured: get("/ensure", () => ok(ensure(null as object | null, 404, "none", { kind: "user" }))),
    thrown: get("/thrown", () => ok(ensure(() => JSON.parse("{"), 400, "no JSON", { kind: "text" }))),
  });
  expect((await testApp(app).get("/guard")).json()).toMatchObject({
    type: "https://example.com/taken",
    field: "email",
  });
  expect((await testApp(app).get("/ensure")).json()).toMatchObject({ detail: "none", kind: "user" });
  expect((await testApp(app).get("/thrown")).json()).toMatchObject({ detail: "no JSON", kind: "text" });
});

it("middleware describes security schemes and answers of its own", () => {
  const session = middleware((_, next) => next(), {
    openapi: {
      security: { session: { type: "apiKey", in: "cookie", name: "sid" } },
      responses: { 402: Problem, 404: null },
    },
  });
  const signedIn = use(bearer(() => ({ name: "" })));
  const app = routes({
    of: group("/a", { plain: get("", () => ok({})), both: signedIn.get("/b", () => ok({})) }, { use: [session] }),
    own: use(session).get("/c", { responses: { 200: Body, 404: Problem } }, () => ok({ a: 1 })),
    none: get("/none", () => ok({})),
  });
  const { paths, components } = JSON.parse(json(app, { name: "x" }));
  expect(paths["/a"].get.security).toEqual([{ session: [] }]);
  expect(paths["/a/b"].get.security).toEqual([{ session: [], bearer: [] }]);
  expect(paths["/none"].get.security).toBeUndefined();
  expect(components.securitySchemes.session).toEqual({ type: "apiKey", in: "cookie", name: "sid" });
  expect(Object.keys(paths["/a"].get.responses)).toEqual(["200", "402", "404", "4XX", "5XX"]);
  expect(paths["/a"].get.responses[402].content).toHaveProperty("application/problem+json");
  expect(paths["/a"].get.responses[404]).toEqual({ description: "Not Found" });
  expect(paths["/c"].get.responses[404].content).toHaveProperty("application/problem+json");

  const other = middleware((_, next) => next(), { openapi: { security: { session: { type: "http", scheme: "x" } } } });
  const clash = routes({ a: use(session).get("/a", () => ok({})), b: use(other).get("/b", () => ok({})) });
  expect(() => json(clash, { name: "x" })).toThrow('two different security schemes are called "session"');
});
