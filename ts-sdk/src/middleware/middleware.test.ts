import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { warmUp } from "../app/warm-up.ts";
import {
  del,
  error,
  field,
  get,
  group,
  guard,
  type Middleware,
  middleware,
  ok,
  post,
  type Request,
  respond,
  routes,
  Type,
  use,
} from "../index.ts";
import { testApp } from "../testing/index.ts";

const Item = Type("Item", { name: field.string() });

/** A middleware that logs when it runs. */
const trace = (log: string[], name: string) =>
  middleware(async (_req, next) => {
    log.push(`${name} >`);
    const answer = await next();
    log.push(`${name} < ${answer.status}`);
    return answer.header("x-by", name);
  });

const signedIn = middleware(async (req, next) => {
  const token = req.headers.get("authorization");
  guard(token !== undefined, 401, "sign in first");
  return next({ user: { name: token } });
});

let logged: string[];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((text: string) => void logged.push(text));
});
afterEach(() => vi.restoreAllMocks());

describe("the order of things", () => {
  const log: string[] = [];
  const of = (name: string) => trace(log, name);
  const kit = use(of("kit 1")).use(of("kit 2"));
  const app = routes(
    {
      a: group(
        "/a",
        { b: group("/b", { c: kit.get("", () => ok({ here: log.push("handler") })) }, { use: [of("b")] }) },
        {
          use: [of("a 1"), of("a 2")],
        },
      ),
      plain: get("/plain", () => ok({})),
    },
    { use: [of("app")] },
  );
  beforeEach(() => log.splice(0));

  it("goes from the app over its groups and the kit to the handler, and back", async () => {
    const answer = await testApp(app).get("/a/b");
    const names = ["app", "a 1", "a 2", "b", "kit 1", "kit 2"];
    expect(log).toEqual([
      ...names.map((name) => `${name} >`),
      "handler",
      ...[...names].reverse().map((name) => `${name} < 200`),
    ]);
    expect(answer.headers.getAll("x-by")).toEqual([...names].reverse());
  });

  it.each([
    ["GET", "/nowhere", 404],
    ["GET", "/%zz", 400],
    ["DELETE", "/plain", 405],
    ["OPTIONS", "/plain", 204],
  ])("the app's is around what matches no route: %s %s is %d", async (method, path, status) => {
    const answer = await testApp(app).request(method, path);
    expect(answer.status).toBe(status);
    expect(log).toEqual(["app >", `app < ${status}`]);
  });

  it("a group's is around its routes alone", async () => {
    await testApp(app).get("/plain");
    expect(log).toEqual(["app >", "app < 200"]);
  });

  it("nothing of it runs while an app is warmed up", () => {
    warmUp(app);
    expect(log).toEqual([]);
  });
});

describe("before the input", () => {
  const app = routes({
    create: use(signedIn).post("/items", { body: Item, status: 201 }, ({ body }, _req, { user }) =>
      respond(201, { body: `${user.name}: ${body.name}` }),
    ),
  });

  it("an anonymous request with a wrong body is 401, and with a token 400", async () => {
    expect((await testApp(app).post("/items", { json: {} })).status).toBe(401);
    const headers = { authorization: "Ada" };
    expect((await testApp(app).post("/items", { headers, json: {} })).status).toBe(400);
    expect((await testApp(app).post("/items", { headers, body: "x", ...{} })).status).toBe(400);
    const typed = { ...headers, "content-type": "text/plain" };
    expect((await testApp(app).post("/items", { headers: typed, body: "x" })).status).toBe(415);
    expect((await testApp(app).post("/items", { headers, json: { name: "x" } })).text()).toBe("Ada: x");
  });
});

describe("next", () => {
  it("resolves to every answer of the inside: 400, 404, 405, 415 and 500", async () => {
    const seen: number[] = [];
    const watch = middleware(async (_req, next) => {
      const answer = await next();
      seen.push(answer.status);
      return answer.header("x-seen", String(answer.status));
    });
    const app = routes(
      {
        create: post("/items", { body: Item }, () => ok({})),
        breaks: get("/breaks", () => {
          throw new Error("private");
        }),
        rejects: get("/rejects", async () => Promise.reject(new Error("private"))),
        unsendable: get("/unsendable", () => ok({ big: 1n })),
        nothing: get("/nothing", (() => undefined) as never),
      },
      { use: [watch] },
    );
    const test = testApp(app);
    const json = { "content-type": "text/plain" };
    const answers = [
      await test.post("/items", { json: 1 }),
      await test.get("/other"),
      await test.del("/items"),
      await test.post("/items", { headers: json, body: "x" }),
      await test.get("/breaks"),
      await test.get("/rejects"),
      await test.get("/unsendable"),
      await test.get("/nothing"),
    ];
    expect(seen).toEqual([400, 404, 405, 415, 500, 500, 500, 500]);
    expect(answers.map(({ headers }) => headers.get("x-seen"))).toEqual(seen.map(String));
    expect(answers.every(({ headers }) => headers.get("content-type") === "application/problem+json")).toBe(true);
    expect(logged).toHaveLength(4);
    expect(answers.some((answer) => answer.text()?.includes("private"))).toBe(false);
  });

  it("hands a context on: what is added inside replaces what was added outside, and the siblings do not see it", async () => {
    const adds = <C extends object>(context: C) => middleware((_req, next) => next(context));
    const outer = use(adds({ a: 1, b: 1 }));
    const app = routes({
      both: outer.use(adds({ b: 2, c: 2 })).get("/both", (_in, _req, context) => ok(context)),
      one: outer.get("/one", (_in, _req, context) => ok(context)),
      none: get("/none", (_in, _req, context) => ok(context)),
    });
    expect((await testApp(app).get("/both")).json()).toEqual({ a: 1, b: 2, c: 2 });
    expect((await testApp(app).get("/one")).json()).toEqual({ a: 1, b: 1 });
    expect((await testApp(app).get("/none")).json()).toEqual({});
  });

  it("gives a middleware the context of those before it", async () => {
    const admin = middleware<object, { user: { name: string } }>((_req, next, { user }) =>
      user.name === "root" ? next() : error(403, "not for you"),
    );
    const app = routes({ a: use(signedIn, admin).get("/a", (_in, _req, { user }) => ok(user)) });
    expect((await testApp(app).get("/a", { headers: { authorization: "Ada" } })).status).toBe(403);
    expect((await testApp(app).get("/a", { headers: { authorization: "root" } })).json()).toEqual({ name: "root" });
  });

  it("throws when it is called again", async () => {
    let calls = 0;
    const twice = middleware(async (_req, next) => {
      await next();
      return next();
    });
    const app = routes({ a: use(twice).get("/a", () => ok({ calls: ++calls })) });
    expect((await testApp(app).get("/a")).status).toBe(500);
    expect(calls).toBe(1);
    expect(logged[0]).toMatch(/next\(\) was called twice/);
  });

  it("need not be called", async () => {
    let calls = 0;
    const closed = middleware(() => error(503, "closed", { until: "noon" }));
    const app = routes({ a: get("/a", () => ok({ calls: ++calls })) }, { use: [closed] });
    const answer = await testApp(app).get("/a");
    expect([answer.status, answer.json(), calls]).toEqual([503, expect.objectContaining({ until: "noon" }), 0]);
  });
});

describe("errors", () => {
  it("guard, ensure and throw error(…) answer, also to the middleware outside", async () => {
    const seen: number[] = [];
    const watch = middleware(async (_req, next) => {
      const answer = await next();
      seen.push(answer.status);
      return answer;
    });
    const thrower = middleware(() => {
      throw error(418, "tea");
    });
    const app = routes({
      a: use(watch, thrower).get("/a", () => ok({})),
      b: use(watch, signedIn).get("/b", () => ok({})),
    });
    expect((await testApp(app).get("/a")).status).toBe(418);
    expect((await testApp(app).get("/b")).status).toBe(401);
    expect(seen).toEqual([418, 401]);
    expect(logged).toEqual([]);
  });

  it.each<[string, Middleware]>([
    ["throws", middleware(() => Promise.reject(new Error("secret")))],
    ["returns nothing", middleware((() => undefined) as never)],
    ["returns what can't be sent", middleware(() => ok({ big: 1n }))],
  ])("a middleware that %s is 500, and its exception is logged", async (_what, broken) => {
    const app = routes({ a: get("/a", () => ok({})) }, { use: [broken] });
    const answer = await testApp(app).get("/a");
    expect([answer.status, answer.text()?.includes("secret"), logged.length]).toEqual([500, false, 1]);
  });

  const http = { type: "http", scheme: "bearer" };
  it.each<[unknown, string]>([
    [1, '"openapi": must be an object'],
    [{ security: [] }, '"security": must be an object'],
    [{ security: { a: 1 } }, '"security.a": must be an object'],
    [{ security: { "a b": http } }, '"security.a b": a name must have letters, digits, ".", "_" and "-" only'],
    [{ security: { a: { type: "key" } } }, '"security.a": "type" must be one of apiKey, http, oauth2'],
    [{ security: { a: { type: "toString" } } }, '"type" must be one of'],
    [{ security: { a: { type: "http" } } }, '"security.a": a scheme of type "http" must have "scheme"'],
    [{ security: { a: { type: "apiKey", name: "x", in: "body" } } }, '"in" must be one of query, header, cookie'],
    [{ responses: { 4000: null } }, '"responses.4000": a status must be from 100 to 599'],
    [{ responses: { 402: { a: 1 } } }, '"responses.402": must be a schema, or null for an answer without a body'],
  ])("refuses %j for the OpenAPI document", (openapi, message) => {
    expect(() => middleware((_, next) => next(), { openapi } as never)).toThrow(`middleware: "openapi"`);
    expect(() => middleware((_, next) => next(), { openapi } as never)).toThrow(message);
  });

  it("takes nothing but functions and middleware", () => {
    expect(() => middleware(1 as never)).toThrow("middleware: expects a function");
    const openapi = { responses: {}, tags: [] } as never;
    expect(() => middleware((_, next) => next(), { openapi })).toThrow('unknown "tags" (known: security, responses)');
    expect(() => middleware((_, next) => next(), openapi)).toThrow('middleware: unknown "responses" (known: openapi)');
    expect(() => use((() => ok({})) as unknown as Middleware)).toThrow("use: expects middleware");
    expect(() => routes({}, { use: [1] } as never)).toThrow('routes: "use": expects middleware');
    expect(() => routes({}, { use: signedIn } as never)).toThrow('routes: "use": expects middleware');
  });
});

describe("onError", () => {
  class NotThere extends Error {}
  const broken = (thrown: unknown) => () => {
    throw thrown;
  };
  const onError = (thrown: unknown, req: Request) => {
    if (thrown instanceof NotThere) return error(404, `nothing at ${req.path}`);
    if (thrown === "worse") throw new Error("of onError");
    if (thrown === "answers") throw error(409, "not this");
    if (thrown === "nonsense") return "x" as never;
    if (thrown === "big") return ok({ big: 1n });
    return undefined;
  };
  const kinds = ["worse", "answers", "nonsense", "big", "other"];
  const app = routes(
    {
      missing: get("/missing", broken(new NotThere())),
      later: get("/later", async () => Promise.reject(new NotThere())),
      answer: get("/answer", broken(error(402, "pay"))),
      inside: use(middleware(broken(new NotThere()))).get("/inside", () => ok({})),
      around: use(middleware(async (_req, next) => (await next()).header("x-around", "1"))).get(
        "/around",
        broken(new NotThere()),
      ),
      unsendable: get("/unsendable", () => ok({ big: 1n })),
      ...Object.fromEntries(kinds.map((kind) => [kind, get(`/${kind}`, broken(kind))])),
    },
    { onError },
  );

  it.each(["/missing", "/later", "/inside", "/around"])("answers for what %s throws", async (path) => {
    const answer = await testApp(app).get(path);
    expect([answer.status, answer.json()]).toEqual([404, expect.objectContaining({ detail: `nothing at ${path}` })]);
    expect(logged).toEqual([]);
  });

  it("its answer passes the middleware around", async () => {
    expect((await testApp(app).get("/around")).headers.get("x-around")).toBe("1");
  });

  it("is not asked for answers that are thrown", async () => {
    expect((await testApp(app).get("/answer")).status).toBe(402);
  });

  it.each(kinds)("the answer is the ordinary 500 where it has none: %s", async (kind) => {
    const answer = await testApp(app).get(`/${kind}`);
    expect([answer.status, answer.json()]).toEqual([
      500,
      {
        type: "about:blank",
        title: "Internal Server Error",
        status: 500,
        detail: "The request failed.",
      },
    ]);
    expect(logged.at(-1)).toContain(kind);
  });

  it("may take its time", async () => {
    const slow = routes({ a: get("/a", broken(new Error("x"))) }, { onError: async () => error(502, "later") });
    expect((await testApp(slow).get("/a")).status).toBe(502);
  });

  it("is asked for what can't be sent", async () => {
    const seen: unknown[] = [];
    const asked = routes(
      { a: get("/a", () => ok({ big: 1n })) },
      { onError: (thrown) => void seen.push(thrown) as undefined },
    );
    expect((await testApp(asked).get("/a")).status).toBe(500);
    expect(seen).toEqual([expect.any(TypeError)]);
  });
});

it("a HEAD request and a 204 pass as they are", async () => {
  const pass = middleware((_req, next) => next());
  const app = routes(
    { a: get("/a", () => ok({ a: 1 })), b: del("/b", { status: 204 }, () => respond(204)) },
    { use: [pass] },
  );
  const head = await testApp(app).head("/a");
  expect([head.status, head.headers.get("content-length"), head.text()]).toEqual([200, "7", ""]);
  expect((await testApp(app).del("/b")).status).toBe(204);
});
