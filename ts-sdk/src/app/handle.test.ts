import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { created, error, field, get, HttpError, list, noContent, ok, post, respond, routes, Type } from "../index.ts";
import { testApp } from "../testing/index.ts";

const User = Type("User", { id: field.u32(), name: field.string(), email: field.string().optional() });
let reported: MockInstance<typeof console.error>;
beforeEach(() => {
  reported = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => reported.mockRestore());

it("answers with an answer that is thrown", async () => {
  const app = routes({
    thrown: get("/", async () => {
      throw error(418, "teapot", { title: undefined, type: undefined });
    }),
  });
  const answer = await testApp(app).get("/");
  expect(answer.json()).toEqual({ type: "about:blank", title: "I'm a teapot", status: 418, detail: "teapot" });
  expect(reported).not.toHaveBeenCalled();
});

it("says whether there are more failures than it lists", async () => {
  const test = testApp(routes({ many: post("/", { body: list(field.u32(), { max: 100 }) }, () => ok({})) }));
  const detailOf = async (count: number) => (await test.post("/", { json: new Array(count).fill("x") })).json();
  expect(await detailOf(100)).toMatchObject({ detail: "The input is not valid.", errors: { length: 100 } });
  expect(await detailOf(101)).toMatchObject({
    detail: "The input is not valid; the first 100 errors are listed.",
    errors: { length: 100 },
  });
});

it("gives a body that is not there its default, a new one each time", async () => {
  const numbers = list(field.u32(), { default: [1] });
  const app = routes({
    add: post("/", { body: numbers }, ({ body }) => ok({ sum: body.push(2), body })),
    optional: post("/optional", { body: numbers.optional() }, ({ body }) => ok({ body })),
    nothing: post("/nothing", { body: User.optional() }, ({ body }) => ok({ isThere: body !== undefined })),
  });
  const test = testApp(app);
  for (let time = 0; time < 2; time++) expect((await test.post("/")).json()).toEqual({ sum: 2, body: [1, 2] });
  expect((await test.post("/", { json: [5] })).json()).toEqual({ sum: 2, body: [5, 2] });
  expect((await test.post("/optional")).json()).toEqual({ body: [1] });
  expect((await test.post("/nothing")).json()).toEqual({ isThere: false });
  for (const path of ["/optional", "/nothing"]) {
    const { status, errors } = (await test.post(path, { json: null })).json();
    expect([status, errors]).toMatchObject([400, [{ pointer: "#", code: "type" }]]);
  }
});

describe("what was not expected", () => {
  it("answers 500 with nothing of the exception, which goes to stderr with its stack and causes", async () => {
    const app = routes({
      explode: get("/", () => {
        const cause = new RangeError("deep inside", { cause: new Error("inside", { cause: new Error("deepest") }) });
        throw new Error("the password is hunter2", { cause });
      }),
    });
    const answer = await testApp(app).get("/");
    expect(answer.status).toBe(500);
    expect(answer.text()).not.toMatch(/hunter2|inside|handle\.test/);
    const text = String(reported.mock.calls[0]?.[0]);
    expect(text).toMatch(
      /^Uncaught exception in handler "explode"\nError: the password is hunter2\n +at .*handle\.test\.ts/,
    );
    expect(text).toMatch(/\nCaused by: RangeError: deep inside\n/);
    // Not the cause whose message is the end of that, because it was made by the same call.
    expect(text.match(/^Caused by: .*$/gm)).toEqual([
      "Caused by: RangeError: deep inside",
      "Caused by: Error: deepest",
    ]);
  });

  it("shows the stack of a cause that its error quotes and another function threw", async () => {
    const load = () => {
      throw new RangeError("no such file");
    };
    const app = routes({
      wrap: get("/", () => {
        try {
          return load();
        } catch (cause) {
          throw new Error(`cannot load: ${(cause as Error).message}`, { cause });
        }
      }),
    });
    expect((await testApp(app).get("/")).status).toBe(500);
    expect(String(reported.mock.calls[0]?.[0])).toMatch(/\nCaused by: RangeError: no such file\n +at load /);
  });

  it.each([
    [
      "a text",
      () => {
        throw "text";
      },
    ],
    [
      "nothing",
      () => {
        throw undefined;
      },
    ],
    [
      "an object that can't be shown",
      () => {
        throw {
          toString() {
            throw new Error("no");
          },
        };
      },
    ],
    [
      "an error whose message can't be read",
      () => {
        throw Object.defineProperty(new Error("x", { cause: new Error("y") }), "message", {
          get() {
            throw new Error("no");
          },
        });
      },
    ],
    ["a rejected promise", () => Promise.reject(new Error("x"))],
    ["no response", () => ({ status: 200 })],
    ["a promise of no response", async () => undefined],
    [
      "a body that is cyclic",
      () => {
        const a: Record<string, unknown> = {};
        a["a"] = a;
        return ok(a);
      },
    ],
    [
      "a body that throws when it is written",
      () =>
        ok({
          toJSON() {
            throw new Error("no");
          },
        }),
    ],
    ["a body that is a function", () => ok(() => 1)],
    [
      "an error whose extra can't be written",
      () => {
        throw new HttpError(error(400, "x", { big: 1n }));
      },
    ],
  ])("answers 500 to %s", async (_what, handler) => {
    const answer = await testApp(routes({ handler: get("/", handler as never) })).get("/");
    expect(answer.status).toBe(500);
    expect(answer.json()).toEqual({
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The request failed.",
    });
    expect(reported).toHaveBeenCalledOnce();
  });

  it("answers 400 to a body that breaks off", async () => {
    const app = routes({ posted: post("/", () => ok({})) });
    const rest = async () => {
      throw new Error("gone");
    };
    const upload = { next: rest, rest };
    const { status, body } = await app.handle({ method: "POST", pathWithQuery: "/", headers: [], upload });
    expect(status).toBe(400);
    expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ detail: "The body broke off." });
  });

  it("says nothing on stderr about errors that are answers", async () => {
    const app = testApp(routes({ get: get("/", () => error(404, "gone")) }));
    for (const path of ["/", "/x", "/%zz"]) await app.get(path);
    expect(reported).not.toHaveBeenCalled();
  });
});

describe("answers that are checked", () => {
  const app = routes({
    wrong: get("/wrong", { response: User }, () => ok({ id: -1, email: 5 } as never)),
    many: get("/many", { response: list(User) }, () => ok([{ id: 1, name: "a" }, {}] as never)),
    status: post("/status", { status: 201 }, () => ok({}) as never),
    raw: get("/raw", { response: User }, () => respond(200, { body: "x" }) as never),
    none: post("/none", { response: User, status: 202 }, () => respond(202) as never),
    fine: get("/fine", { response: User }, () => ok({ id: 1, name: "a", email: null, more: new Date(0) })),
    refused: post("/refused", { body: User, response: User, status: 201 }, () => error(409, "taken")),
    redirected: get("/redirected", { response: User }, () => respond(302, { headers: { location: "/" } })),
    defaulted: get("/defaulted", { response: Type("D", { a: field.u32({ default: 1 }) }) }, () => ok({} as never)),
  });

  it.each([
    [
      "/wrong",
      "wrong: the response body #/id must be a whole number from 0 to 4294967295; #/name is required; #/email must be a string",
    ],
    ["/many", "many: the response body #/1/id is required; #/1/name is required"],
    ["/raw", "raw: declares a JSON body, but answered with respond(), stream() or sse()"],
    ["/defaulted", "defaulted: the response body #/a is required"],
  ])("GET %s is 500 and says where", async (path, detail) => {
    const answer = await testApp(app).get(path);
    expect(answer.status).toBe(500);
    expect(answer.json().detail).toBe(detail);
    expect(reported).toHaveBeenCalledOnce();
  });

  it("compares the status", async () => {
    expect((await testApp(app).post("/status")).json().detail).toBe("status: answered 200, but declares 201");
    expect((await testApp(app).post("/none")).status).toBe(500);
  });

  it("lets through what matches, errors and redirects", async () => {
    // The null of an optional member is not sent.
    expect((await testApp(app).get("/fine")).json()).toEqual({ id: 1, name: "a" });
    expect((await testApp(app).get("/redirected")).status).toBe(302);
    expect((await testApp(app).post("/refused")).status).toBe(400);
    expect((await testApp(app).post("/refused", { json: { id: 1, name: "" } })).status).toBe(409);
  });

  it("is off unless it is asked for", async () => {
    expect((await app.handle({ method: "GET", pathWithQuery: "/wrong", headers: [] })).status).toBe(200);
    expect((await testApp(app, { checkResponses: false }).get("/wrong")).status).toBe(200);
  });
});

describe("many failures", () => {
  it("lists the first hundred, and says so", async () => {
    const app = routes({ many: post("/", { body: list(User) }, () => ok({})) });
    const problem = (await testApp(app).post("/", { json: Array(1000).fill({}) })).json();
    expect(problem.errors).toHaveLength(100);
    expect(problem.detail).toMatch(/the first 100 errors are listed/);
    expect(problem.errors[99]).toMatchObject({ in: "body", pointer: "#/49/name", code: "required" });
  });

  it("never repeats what was given", async () => {
    const secret = "hunter2-hunter2";
    const Login = Type("Login", {
      a: field.u32(),
      b: field.string({ max: 3, format: "email" }),
      c: field.enum("x"),
      d: field.bool(),
      e: list(field.u32()),
    });
    const app = routes({ login: post("/", { body: Login, status: 204 }, () => noContent()) });
    const body = { a: secret, b: secret, c: secret, d: secret, e: [secret] };
    const answer = await testApp(app).post("/", { json: body });
    expect(answer.status).toBe(400);
    expect(answer.text()).not.toContain("hunter");
    expect((await testApp(app).post("/", { body: `{"${secret}` })).text()).not.toContain("hunter");
  });
});

describe("a handler's input", () => {
  it("is not shared between requests", async () => {
    const app = routes({
      grow: get("/", (input) => {
        (input as Record<string, unknown>)["x"] = 1;
        return ok(input);
      }),
    });
    expect((await testApp(app).get("/")).status).toBe(500); // the empty input is frozen
  });

  it("is awaited when the handler is asynchronous", async () => {
    const app = routes({ later: get("/", async () => created("/1", await Promise.resolve({ a: 1 })) as never) });
    const answer = await testApp(app, { checkResponses: false }).get("/");
    expect([answer.status, answer.headers.get("location"), answer.json()]).toEqual([201, "/1", { a: 1 }]);
  });
});

it("answers without a body when ok() is given undefined", async () => {
  const app = testApp(routes({ nothing: get("/", () => ok(undefined)) }), { checkResponses: false });
  for (const answer of [await app.get("/"), await app.head("/")]) {
    expect([answer.status, answer.text(), answer.headers.get("content-type")]).toEqual([200, "", "application/json"]);
  }
});
