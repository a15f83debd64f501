import { describe, expect, it } from "vitest";
import { buildingKey } from "../abi.ts";
import {
  Form,
  field,
  list,
  ok,
  oneOf,
  partial,
  post,
  Query,
  record,
  routes,
  type StandardSchema,
  Type,
} from "../index.ts";
import { json } from "../openapi/index.ts";
import { platform } from "../platform.ts";
import { testApp } from "../testing/index.ts";

async function failures(schema: StandardSchema, value: unknown): Promise<unknown> {
  const { issues } = await schema["~standard"].validate(value);
  return issues?.map(({ path, message, ...rest }) => [path?.join("/"), (rest as { code?: string }).code, message]);
}
const even = (value: number) => (value % 2 === 0 ? undefined : "must be even");

describe("pattern", () => {
  const Slug = Type("Slug", { slug: field.string({ pattern: /^[a-z]+$/, max: 5 }) });

  it("is enforced, after the length, and in a query", async () => {
    expect(await failures(Slug, { slug: "abc" })).toBeUndefined();
    expect(await failures(Slug, { slug: "A1" })).toEqual([["slug", "format", "must match the pattern ^[a-z]+$"]]);
    const app = routes({ it: post("/", { query: { q: field.string({ pattern: /b/u }) } }, () => ok({})) });
    expect((await testApp(app).post("/?q=abc")).status).toBe(200);
    expect((await testApp(app).post("/?q=xyz")).status).toBe(400);
  });

  it("is a text in the document", () => {
    const app = routes({ it: post("/", { body: Slug }, () => ok({})) });
    const { components } = JSON.parse(json(app, { name: "x" }));
    expect(components.schemas.Slug.properties.slug).toEqual({ type: "string", pattern: "^[a-z]+$", maxLength: 5 });
  });

  it.each([/a/i, /a/g, /a/m, /a/y, /a/s])("refuses the flags of %s", (pattern) => {
    expect(() => field.string({ pattern })).toThrow('"pattern" must be a regular expression without flags but u or v');
  });

  it("holds for a default, and is a regular expression", () => {
    expect(() => field.string({ pattern: /^a$/, default: "b" })).toThrow('"default" must match the pattern ^a$');
    expect(() => field.string({ pattern: "a" as never })).toThrow('"pattern" must be a regular expression');
  });
});

describe("check", () => {
  it("is a rule for the keys of a query and the fields of a form together", async () => {
    const options = { check: ({ a, b }: { a: number; b: number }) => (a < b ? undefined : "must rise") };
    const app = routes({
      query: post("/query", { query: Query("Q", { a: field.u32(), b: field.u32() }, options) }, () => ok({})),
      form: post("/form", { body: Form("F", { a: field.u32(), b: field.u32() }, options) }, () => ok({})),
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const send = async (text: string) => {
      const query = await testApp(app).post(`/query?${text}`);
      const form = await testApp(app).post("/form", { body: text, headers });
      return [query, form].map((each) => [each.status, each.json().errors?.[0].code]);
    };
    expect(await send("a=1&b=2")).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
    expect(await send("a=2&b=2")).toEqual([
      [400, "check"],
      [400, "check"],
    ]);
    expect(() => Query("Q", { a: field.u32() }, { max: 1 } as never)).toThrow("max");
  });

  it("is a rule after all others, on every kind", async () => {
    const All = Type("All", {
      n: field.u32({ max: 10, check: even }),
      s: field.string({ check: (value) => (value === "x" ? "must not be x" : undefined) }).optional(),
      e: field.enum("a", "b", { check: (value) => (value === "b" ? "must not be b" : undefined) }).optional(),
      l: list(field.u32({ check: even }), {
        check: (all) => (all.length > 1 ? "must have one" : undefined),
      }).optional(),
      r: record(field.u32(), { check: (all) => (all["a"] === 1 ? "must have no a of 1" : undefined) }).nullish(),
    });
    expect(await failures(All, { n: 2, s: "y", e: "a", l: [4], r: null })).toBeUndefined();
    expect(await failures(All, { n: 12 })).toEqual([["n", "max", "must be at most 10"]]);
    expect(await failures(All, { n: 3, s: "x", e: "b", l: [1, 2], r: { a: 1 } })).toEqual([
      ["n", "check", "must be even"],
      ["s", "check", "must not be x"],
      ["e", "check", "must not be b"],
      ["l/0", "check", "must be even"],
      ["r", "check", "must have no a of 1"],
    ]);
    expect(await failures(All, { n: 2, l: [2, 2] })).toEqual([["l", "check", "must have one"]]);
  });

  it("is a rule of an object, which it gets typed, with defaults", async () => {
    const Span = Type(
      "Span",
      { from: field.u32(), to: field.u32({ default: 10 }) },
      { check: ({ from, to }) => (from <= to ? undefined : "must not end before its start") },
    );
    const app = routes({
      it: post("/", { body: Type("Outer", { span: Span, any: oneOf("k", { s: Span }).optional() }) }, ({ body }) =>
        ok(body),
      ),
    });
    expect((await testApp(app).post("/", { json: { span: { from: 1 } } })).json()).toEqual({
      span: { from: 1, to: 10 },
    });
    expect((await testApp(app).post("/", { json: { span: { from: 11 } } })).json().errors).toEqual([
      { in: "body", pointer: "#/span", code: "check", detail: "must not end before its start" },
    ]);
    expect(await failures(partial(Span), { from: 11 })).toBeUndefined();
  });

  it("holds for text and defaults, and is not called while a component is built", async () => {
    const app = routes({ it: post("/{n}", { path: { n: field.u32({ check: even }) } }, () => ok({})) });
    expect((await testApp(app).post("/3")).json().errors).toMatchObject([{ in: "path", code: "check" }]);
    expect((await testApp(app).post("/4")).status).toBe(200);
    expect(() => field.u32({ check: even, default: 3 })).toThrow('"default" must be even');
    platform[buildingKey] = new Map();
    expect(await failures(field.u32({ check: even }), 3)).toBeUndefined();
    delete platform[buildingKey];
  });

  it("must be a function that returns undefined or a text", async () => {
    expect(() => field.u32({ check: 1 as never })).toThrow('"check" must be a function');
    expect(() => Type("X", {}, { check: 1 as never })).toThrow('Type X: "check" must be a function');
    expect(() => Type("X", {}, { docs: "x" } as never)).toThrow('Type X: unknown "docs" (known: check)');
    const broken = field.u32({ check: (() => false) as never });
    expect(() => broken["~standard"].validate(1)).toThrow('"check" must return undefined or a text');
  });
});

it("nullish() is both nullable() and optional()", async () => {
  const Both = Type("Both", { a: field.string().nullish(), b: field.u32({ default: 1 }).nullish() });
  expect(await Both["~standard"].validate({ a: null, b: null })).toEqual({ value: { a: null, b: null } });
  expect(await Both["~standard"].validate({})).toEqual({ value: { b: 1 } });
  const app = routes({ it: post("/", { body: Both }, () => ok({})) });
  const { components } = JSON.parse(json(app, { name: "x" }));
  expect(components.schemas.Both).toMatchObject({ properties: { a: { nullable: true } } });
  expect(components.schemas.Both.required).toBeUndefined();
});
