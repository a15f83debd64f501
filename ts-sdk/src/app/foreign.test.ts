import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { get, ok, post, routes, type StandardSchema } from "../index.ts";
import { testApp } from "../testing/index.ts";

const SECRET = "hunter2";

describe.each<[string, StandardSchema]>([
  ["Zod", z.object({ name: z.string(), age: z.number().min(18), role: z.enum(["a", "b"]) })],
  ["Valibot", v.object({ name: v.string(), age: v.pipe(v.number(), v.minValue(18)), role: v.picklist(["a", "b"]) })],
  ["ArkType", type({ name: "string", age: "number >= 18", role: "'a' | 'b'" })],
])("%s", (_name, body) => {
  const app = testApp(routes({ echo: post("/", { body }, (input) => ok(input.body)) }));

  it("gives the validated value", async () => {
    const json = { name: "Ada", age: 36, role: "a" };
    expect((await app.post("/", { json })).json()).toEqual(json);
  });

  it("lists all failures in our shape, and repeats no value", async () => {
    const answer = await app.post("/", { json: { name: 4711, age: 17, role: SECRET } });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    const errors = answer.json().errors as { in: string; pointer: string; detail: string }[];
    expect(errors.map((error) => `${error.in} ${error.pointer}`).sort()).toEqual([
      "body #/age",
      "body #/name",
      "body #/role",
    ]);
    expect(answer.text()).not.toMatch(/hunter2|4711|\b17\b/);
  });

  it("calls what is absent required", async () => {
    const { errors } = (await app.post("/", { json: { name: "", age: 20 } })).json();
    expect(errors).toMatchObject([{ pointer: "#/role", code: "required" }]);
  });
});

it("awaits a schema that validates asynchronously, beside others that don't", async () => {
  const free = z.object({ name: z.string().refine(async (name) => name !== "taken", "the name is not free") });
  const query = v.objectAsync({
    q: v.pipeAsync(
      v.string(),
      v.checkAsync(async (q) => q === "ok", "not ok"),
    ),
  });
  const app = testApp(routes({ claim: post("/", { body: free, query }, (input) => ok(input)) }));
  expect((await app.post("/?q=ok", { json: { name: "free" } })).json()).toEqual({
    body: { name: "free" },
    query: { q: "ok" },
  });
  const { errors } = (await app.post("/?q=no", { json: { name: "taken" } })).json();
  expect(errors).toEqual([
    { in: "query", pointer: "#/q", code: "type", detail: "not ok" },
    { in: "body", pointer: "#/name", code: "type", detail: "the name is not free" },
  ]);
});

it("answers 500 when a foreign schema throws", async () => {
  const schema: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "broken",
      validate: () => {
        throw new Error("broken");
      },
    },
  };
  const reported = vi.spyOn(console, "error").mockImplementation(() => {});
  const app = testApp(routes({ broken: post("/", { body: schema }, () => ok({})) }));
  expect((await app.post("/", { json: {} })).status).toBe(500);
  expect(reported).toHaveBeenCalledOnce();
  reported.mockRestore();
});

describe("a message", () => {
  const refused = async (body: StandardSchema, json: unknown) => {
    const answer = await testApp(routes({ a: post("/", { body }, () => ok({})) })).post("/", { json });
    return (answer.json().errors as { detail: string }[]).map(({ detail }) => detail);
  };

  it.each<[string, StandardSchema, unknown]>([
    ["escaped", type({ email: "string.email" }), { email: 'hunter2"cret\\x' }],
    ["of several lines", type({ email: "string.email" }), { email: "hunter2\nret" }],
    ["of the whole body", type({ a: "string" }).narrow((_, c) => c.mustBe("equal")), { a: "hunter2" }],
    ["trimmed", type("string.trim").to("string.email"), " hunter2 "],
    ["trimmed", v.pipe(v.string(), v.trim(), v.email()), " hunter2 "],
    ["in lower case", v.pipe(v.string(), v.toLowerCase(), v.email()), "Hunter2"],
    ["as a number", v.pipe(v.string(), v.transform(Number), v.minValue(18)), "07.50"],
    ["that is a boolean", v.string(), true],
    [
      "in the author's words",
      z.string().refine(() => false, { error: ({ input }) => `no ${JSON.stringify(input)}` }),
      'hunter2"',
    ],
    ["in the author's words, lower case", z.string().refine(() => false, { error: "no hunter2!" }), "HUNTER2"],
    [
      "of another field",
      z.object({ p: z.string(), c: z.string() }).superRefine(({ p }, context) => {
        context.addIssue({ code: "custom", path: ["c"], message: `must equal ${p}` });
      }),
      { p: "hunter2", c: "x" },
    ],
    [
      "of another field",
      type({ p: "string", c: "string" }).narrow(({ p }, context) =>
        context.reject({ path: ["c"], expected: `identical to ${p}` }),
      ),
      { p: "hunter2", c: "x" },
    ],
    [
      "of another field",
      v.pipe(
        v.object({ p: v.string(), c: v.string() }),
        v.forward(
          v.partialCheck(
            [["p"], ["c"]],
            ({ p, c }) => p === c,
            ({ input }) => `must equal ${(input as { p: string }).p}`,
          ),
          ["c"],
        ),
      ),
      { p: "hunter2", c: "x" },
    ],
    ["inside a word", z.string().refine(() => false, { error: "badXhunter2X" }), "hunter2"],
    ["in the author's words, as a number", z.string().refine(() => false, { error: "not 7.5" }), "07.50"],
  ])("never repeats a value %s", async (_what, schema, json) => {
    const [detail] = await refused(schema, json);
    expect(detail).not.toMatch(/hunter2|ret\b|7\.5|true/i);
  });

  it("stays the author's where it repeats nothing", async () => {
    expect(await refused(v.object({ a: v.pipe(v.string(), v.email("Not an address.")) }), { a: "x" })).toEqual([
      "Not an address.",
    ]);
    expect(await refused(type({ a: "string.email", b: "number>=18" }), { a: "x", b: 1 })).toEqual([
      "a must be an email address",
      "b must be at least 18",
    ]);
    expect(await refused(v.object({ a: v.string() }), { a: true })).toEqual(["Invalid type: Expected string"]);
    const unequal = z.object({ p: z.string(), c: z.string() }).refine(({ p, c }) => p === c, "must be equal");
    expect(await refused(unequal, { p: "hunter2", c: "x" })).toEqual(["must be equal"]);
  });
});

it("tells ArkType's codes apart, and where they are", async () => {
  const body = type({
    n: "number>=18",
    s: "string<=2",
    l: "string[]<=1",
    e: "string.email",
    c: "'a'|'b'",
    k: "1",
    t: "string",
  });
  const app = testApp(routes({ a: post("/", { body }, () => ok({})) }));
  const errors = async (json: unknown) =>
    (await app.post("/", { json })).json().errors as { pointer: string; code: string }[];
  const json = { n: 1, s: "abc", l: ["a", "b"], e: "x", c: "z", k: 2, t: 1 };
  expect(Object.fromEntries((await errors(json)).map(({ pointer, code }) => [pointer, code]))).toEqual({
    "#/n": "min",
    "#/s": "max",
    "#/l": "max",
    "#/e": "format",
    "#/c": "enum",
    "#/k": "enum",
    "#/t": "type",
  });
  expect(await errors(null)).toMatchObject([{ pointer: "#", code: "type", detail: "must be an object" }]);
});

it.each<[string, StandardSchema]>([
  ["Zod", z.object({ a: z.string() }).optional()],
  ["Valibot", v.optional(v.object({ a: v.string() }))],
])("needs no body where %s says so", async (_name, body) => {
  const app = testApp(routes({ a: post("/", { body }, (input) => ok({ given: input.body ?? null })) }));
  expect((await app.post("/")).json()).toEqual({ given: null });
  const required = testApp(routes({ a: post("/", { body: z.object({}) }, () => ok({})) }));
  expect((await required.post("/")).json().errors).toEqual([
    { in: "body", pointer: "#", code: "required", detail: "is required" },
  ]);
});

describe("a foreign schema of a query", () => {
  const parsed = async (query: StandardSchema, text: string) =>
    (await testApp(routes({ a: get("/", { query }, (input) => ok(input.query)) })).get(`/?${text}`)).json();

  it("gets one text or several where it takes both", async () => {
    const query = z.object({ t: z.union([z.string(), z.array(z.string())]) });
    expect(await parsed(query, "t=1&t=2")).toEqual({ t: ["1", "2"] });
    expect(await parsed(query, "t=1")).toEqual({ t: "1" });
    expect(await parsed(z.object({ t: z.array(z.string()).nullish() }), "t=1")).toEqual({ t: ["1"] });
  });

  it("gets lists beside what JSON Schema can't express", async () => {
    const query = z.object({ t: z.array(z.string()), d: z.coerce.date() });
    expect(await parsed(query, "t=1&d=2000-01-01")).toEqual({ t: ["1"], d: "2000-01-01T00:00:00.000Z" });
  });

  it("gets the other form where there is no JSON Schema and the first is refused", async () => {
    const query = v.object({ page: v.pipe(v.string(), v.transform(Number), v.number()), t: v.array(v.string()) });
    expect(await parsed(query, "page=1&page=2&t=a")).toEqual({ page: 2, t: ["a"] });
    expect(await parsed(query, "page=x&t=a")).toMatchObject({ errors: [{ pointer: "#/page" }] });
  });

  it("is not asked about keys that it does not declare", async () => {
    expect(await parsed(z.object({ a: z.string().optional() }), "utm=%zz&a=1")).toEqual({ a: "1" });
    expect(await parsed(z.object({ a: z.string().optional() }), "a=%zz")).toMatchObject({
      errors: [{ pointer: "#/a" }],
    });
  });

  it("gets lists where its JSON Schema says so, else the last text", async () => {
    const query = z.object({ tags: z.array(z.string()).optional(), page: z.string().optional() });
    const app = testApp(routes({ list: get("/", { query }, (input) => ok(input.query)) }));
    expect((await app.get("/?tags=a&page=1&page=2")).json()).toEqual({ tags: ["a"], page: "2" });
    expect((await app.get("/?tags=a&tags=b")).json()).toEqual({ tags: ["a", "b"] });
  });

  it("gets a list of a repeated key where there is no JSON Schema", async () => {
    const query = v.object({ tags: v.optional(v.array(v.string())), page: v.optional(v.string()) });
    const app = testApp(routes({ list: get("/", { query }, (input) => ok(input.query)) }));
    expect((await app.get("/?tags=a&tags=b&page=1")).json()).toEqual({ tags: ["a", "b"], page: "1" });
  });
});
