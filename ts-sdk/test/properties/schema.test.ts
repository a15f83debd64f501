import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  field,
  get,
  list,
  type ObjectSchema,
  ok,
  Path,
  post,
  Query,
  type RecordSchema,
  routes,
  type Schema,
  Type,
  type UnionSchema,
} from "../../src/index.ts";
import { Failures, INVALID } from "../../src/schema/failures.ts";
import { testApp } from "../../src/testing/index.ts";
import { anyJson, anySchema, scalar } from "./arbitrary.ts";

/** The type `Infer` of a schema as a predicate, written independently of the parsers. */
function describes(schema: Schema, value: unknown): boolean {
  if (value === undefined) return schema.presence === "optional";
  if (value === null) return schema.takesNull;
  switch (schema.kind) {
    case "string":
      return typeof value === "string";
    case "bool":
      return typeof value === "boolean";
    case "enum":
      return (schema as Schema & { values: readonly unknown[] }).values.includes(value);
    case "list":
      return (
        Array.isArray(value) && value.every((item) => describes((schema as Schema & { items: Schema }).items, item))
      );
    case "object": {
      const { fields } = schema as Schema & { fields: Record<string, Schema> };
      if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
        return false;
      const known = Object.keys(value).every((key) => Object.hasOwn(fields, key));
      const held = (key: string) => (Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined);
      return known && Object.entries(fields).every(([key, field]) => describes(field, held(key)));
    }
    case "record": {
      const { items } = schema as RecordSchema;
      if (typeof value !== "object" || Object.getPrototypeOf(value) !== null) return false;
      return Object.values(value).every((item) => describes(items, item));
    }
    case "union": {
      const { tag, variants } = schema as UnionSchema;
      const word = (value as Record<string, unknown>)[tag];
      return typeof word === "string" && Object.hasOwn(variants, word) && describes(variants[word] as Schema, value);
    }
    case "json":
      return true;
    default:
      return (
        typeof value === "number" && Number.isFinite(value) && (schema.kind === "f64" || Number.isSafeInteger(value))
      );
  }
}

const validate = (schema: Schema, value: unknown) =>
  schema["~standard"].validate(value) as { value?: unknown; issues?: { message: string; path: PropertyKey[] }[] };

/** The same value with an unknown key, at the top and one level below, and with negative zeros. */
function withMore(value: unknown): unknown {
  if (value === 0) return -0;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withMore);
  const inner = Object.entries(value).map(([key, one]) => [
    key,
    one && typeof one === "object" ? { ...one, surplus: 1 } : one,
  ]);
  return { surplus: null, ...Object.fromEntries(inner) };
}

describe("a schema", () => {
  it("accepts every value of its type, and gives it back unchanged", () => {
    fc.assert(
      fc.property(
        anySchema.chain(({ schema, valid }) => fc.tuple(fc.constant(schema), valid)),
        ([schema, value]) => {
          const json = JSON.parse(JSON.stringify(value));
          expect(validate(schema, json)).toEqual({ value: json });
        },
      ),
      { numRuns: 500 },
    );
  });

  it("accepts all that is valid the quick way, and gives what the parsers give", () => {
    // Names that every object inherits are left to the parsers.
    const quickly = (schema: Schema): boolean =>
      Object.entries((schema as ObjectSchema).fields ?? {}).every(
        ([key, field]) => !(key in Object.prototype) && quickly(field),
      ) &&
      Object.values((schema as UnionSchema).variants ?? {}).every(quickly) &&
      !("items" in schema && !quickly(schema.items as Schema));
    fc.assert(
      fc.property(
        anySchema.chain((one) =>
          fc.tuple(fc.constant(one.schema), fc.oneof(one.valid, one.valid.map(withMore), anyJson)),
        ),
        ([schema, value]) => {
          const json = JSON.parse(JSON.stringify(value) ?? "null");
          const quick = schema.parsers.quick("json")(json);
          const parsed = schema.parsers.json(json, new Failures());
          expect(quick).toStrictEqual(parsed === INVALID || !quickly(schema) ? undefined : parsed);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("accepts of text what is written as the parsers would write it, and gives what they give", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "",
        "0",
        "-0",
        "007",
        "1e3",
        "1.5",
        ".5",
        "5.",
        "+1",
        " 1",
        "1 ",
        "0x10",
        "NaN",
        "Infinity",
        "true",
      ),
      fc.double().map(String),
      fc.integer().map(String),
      fc.bigInt().map(String),
    );
    fc.assert(
      fc.property(
        scalar.chain((one) => fc.tuple(fc.constant(one.schema), fc.oneof(one.valid.map(String), texts), one.valid)),
        ([schema, given, valid]) => {
          for (const text of [given, String(valid)]) {
            const quick = schema.parsers.quick("text")(text);
            if (quick !== undefined) expect(quick).toStrictEqual(schema.parsers.text(text, new Failures()));
          }
        },
      ),
      { numRuns: 2000 },
    );
    const Every = Query("Every", {
      text: field.string(),
      whole: field.i32(),
      fraction: field.f64(),
      flag: field.bool(),
      word: field.enum("a", "b"),
      many: list(field.u32()),
      page: field.u32({ default: 1 }),
    });
    const given = { text: "x", whole: "-7", fraction: "1.5", flag: "false", word: "b", many: ["1", "2"] };
    expect(Every.parsers.quick("text")(Object.assign(Object.create(null), given))).toEqual({
      ...{ text: "x", whole: -7, fraction: 1.5, flag: false, word: "b", many: [1, 2], page: 1 },
    });
  });

  it("gives nothing but what Infer describes, and else says where and why", () => {
    fc.assert(
      fc.property(anySchema, anyJson, ({ schema }, value) => {
        const result = validate(schema, value);
        if (!result.issues) return describes(schema, result.value);
        expect(result.issues.length).toBeGreaterThan(0);
        for (const { message, path } of result.issues) {
          expect(message).toMatch(/^(must|is required)/);
          expect(path.every((key) => typeof key === "string" || typeof key === "number")).toBe(true);
        }
        return true;
      }),
      { numRuns: 1000 },
    );
  });
});

/** Reports whether a text has a UTF-8 encoding: a lone surrogate has none. */
const isWellFormed = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text)) === text;

describe("parse after print is the identity", () => {
  it("for a path", async () => {
    await fc.assert(
      fc.asyncProperty(
        scalar
          .chain(({ schema, valid }) => fc.tuple(fc.constant(schema), valid))
          .filter(([, value]) => isWellFormed(String(value)) && value !== ""),
        async ([schema, value]) => {
          const path = Path("P", { v: schema as Schema<string, "required"> });
          const app = testApp(routes({ echo: get("/a/{v}/b", { path }, (input) => ok(input.path)) }));
          const answer = await app.get(`/a/${encodeURIComponent(String(value))}/b`);
          expect(answer.json()).toEqual({ v: value });
        },
      ),
      { numRuns: 300 },
    );
  });

  it("for a query, with lists, spaces as + or as %20, in any order among other keys", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 8 });
    const Q = Query("Q", { s: field.string(), "k y&=": list(field.string()).optional(), n: field.f64().optional() });
    const app = testApp(routes({ echo: get("/", { query: Q }, ({ query }) => ok(query)) }));
    const values = fc.record(
      {
        s: text,
        "k y&=": fc.array(text, { minLength: 1, maxLength: 4 }),
        n: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      },
      { requiredKeys: ["s"] },
    );
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.array(fc.tuple(text, text), { maxLength: 3 }),
        fc.boolean(),
        async (given, others, plus) => {
          const pairs = Object.entries(given).flatMap(([key, value]) =>
            (Array.isArray(value) ? value : [value]).map((one) => [key, String(one)]),
          );
          const noise = others.filter(([key]) => !Object.hasOwn(Q.fields, key));
          const encode = (part: string) =>
            plus ? encodeURIComponent(part).replaceAll("%20", "+") : encodeURIComponent(part);
          const query = [...noise, ...pairs]
            .map((pair) => pair.map((part) => encode(part as string)).join("="))
            .join("&");
          expect((await app.get(`/?${query}`)).json()).toEqual(given);
        },
      ),
      { numRuns: 500 },
    );
  });
});

it("reads the query as the platform's URLSearchParams does", async () => {
  const Q = Query("Q", { a: list(field.string()).optional(), b: field.string().optional() });
  const app = testApp(routes({ echo: get("/", { query: Q }, ({ query }) => ok(query)) }));
  const piece = fc.constantFrom("a", "b", "=", "&", "+", "%20", "%26", "%61", "%C3%A9", "é", "?", "/", " ", "c", "");
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const query = pieces.join("");
      const oracle = new URLSearchParams(`&${query}`); // it would drop a leading "?"
      const [a, b] = [oracle.getAll("a"), oracle.getAll("b").at(-1)];
      expect((await app.get(`/?${query}`)).json()).toEqual({
        ...(a.length > 0 && { a }),
        ...(b !== undefined && { b }),
      });
    }),
    { numRuns: 1000 },
  );
});

it("takes a body that is a type of its own", async () => {
  const app = testApp(routes({ echo: post("/", { body: Type("T", { a: field.u32() }) }, ({ body }) => ok(body)) }));
  await fc.assert(
    fc.asyncProperty(fc.nat(4_294_967_295), async (a) => {
      expect((await app.post("/", { json: { a } })).json()).toEqual({ a });
    }),
  );
});
