import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { scope, type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { get, ok, post, routes, type StandardSchema } from "../index.ts";
import type { OpenApiVersion } from "./dialects.ts";
import type { Document } from "./document.ts";
import { json } from "./json.ts";

const anything = () => ok({}) as never;
const ofBody = (body: StandardSchema, response: StandardSchema = body) => {
  const text = json(routes({ add: post("/add", { body, response }, anything) }), { name: "x" });
  const { paths, components } = JSON.parse(text) as Document;
  const { requestBody, responses } = paths["/add"]?.post ?? {};
  return {
    body: requestBody?.content["application/json"]?.schema,
    response: responses?.["200"]?.content?.["application/json"]?.schema,
    schemas: components.schemas,
  };
};

describe("Zod", () => {
  it("stands where it is used; what has an id is a component", () => {
    const Task = z.object({ id: z.int().min(1).max(9) }).meta({ id: "Task" });
    const { body, response, schemas } = ofBody(z.object({ tasks: z.array(Task), note: z.string().nullish() }));
    expect(body).toEqual({
      type: "object",
      properties: {
        tasks: { type: "array", items: { $ref: "#/components/schemas/Task" } },
        note: { type: "string", nullable: true },
      },
      required: ["tasks"],
    });
    // Zod drops unknown keys when it parses, but answers are not parsed.
    expect(response).toEqual(body);
    expect(schemas["Task"]).toEqual({
      type: "object",
      properties: { id: { type: "integer", minimum: 1, maximum: 9 } },
      required: ["id"],
    });
  });

  it("has a second component where a type comes out otherwise than it goes in", () => {
    const Inner = z.object({ n: z.int().default(1) }).meta({ id: "Inner" });
    const Outer = z.object({ inner: Inner }).meta({ id: "Outer" });
    const { body, response, schemas } = ofBody(Outer);
    expect(body).toEqual({ $ref: "#/components/schemas/Outer" });
    expect(response).toEqual({ $ref: "#/components/schemas/OuterOutput" });
    expect(schemas["OuterOutput"]).toMatchObject({
      properties: { inner: { $ref: "#/components/schemas/InnerOutput" } },
    });
    expect(schemas["InnerOutput"]).toMatchObject({ required: ["n"] });
    expect(schemas["Inner"]).not.toHaveProperty("required");
  });

  it("has a component for a type that holds itself", () => {
    const Tree = z.object({
      value: z.string(),
      get children() {
        return z.array(Tree);
      },
    });
    const { body, schemas } = ofBody(Tree, z.string());
    expect(body).toEqual({ $ref: "#/components/schemas/AddBody" });
    expect(schemas["AddBody"]).toMatchObject({
      properties: { children: { type: "array", items: { $ref: "#/components/schemas/AddBody" } } },
    });
  });

  it("has one shape of a type that holds itself, wherever it is used", () => {
    const Named: z.ZodType = z
      .object({
        value: z.number(),
        get next() {
          return Named.nullable();
        },
      })
      .meta({ id: "Node" });
    const { body, response, schemas } = ofBody(Named, z.object({ first: Named.describe("The first.") }));
    expect(body).toEqual({ $ref: "#/components/schemas/Node" });
    expect(response).toMatchObject({
      properties: { first: { description: "The first.", allOf: [{ $ref: "#/components/schemas/Node" }] } },
    });
    expect(Object.keys(schemas)).toEqual(["Node", "ProblemDetails"]);
  });

  it("may be sent although TypeScript may not change it, unless its meta says otherwise", () => {
    const Tags = z.array(z.string()).readonly();
    const id = z.string().meta({ readOnly: true }).optional();
    const { body, response } = ofBody(z.object({ tags: Tags, more: Tags.optional(), id }));
    const tags = { type: "array", items: { type: "string" } };
    expect(body).toMatchObject({ properties: { tags, more: tags, id: { type: "string", readOnly: true } } });
    expect(JSON.stringify(body).match(/readOnly/g)).toHaveLength(1);
    expect(response).toEqual(body);
  });

  it("names the field that OpenAPI can't express", () => {
    const body = z.object({ account: z.object({ balance: z.bigint() }) });
    expect(() => ofBody(body)).toThrow(
      /^add \(POST \/add\), body #\/account\/balance: zod can't write it for OpenAPI 3\.0: BigInt/,
    );
  });

  it("gives the parameters of a path and a query", () => {
    const query = z.object({ page: z.coerce.number().int().min(1).default(1), q: z.string().describe("Words") });
    const path = z.object({ id: z.uuid() }).meta({ id: "Where" });
    const text = json(routes({ find: get("/find/{id}", { path, query }, anything) }), { name: "x" });
    expect((JSON.parse(text) as Document).paths["/find/{id}"]?.get?.parameters).toMatchObject([
      { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
      { name: "page", in: "query", required: false, schema: { type: "integer", minimum: 1, default: 1 } },
      { name: "q", in: "query", required: true, description: "Words", schema: { type: "string" } },
    ]);
  });
});

it("gives the parameters of an intersection", () => {
  const valibot = toStandardJsonSchema(
    v.intersect([v.object({ a: v.string() }), v.object({ b: v.optional(v.string()) })]),
  );
  const named = z
    .object({ a: z.string() })
    .meta({ id: "A" })
    .and(z.object({ b: z.string().optional() }).meta({ id: "B" }));
  for (const query of [valibot, named, named.meta({ id: "Both" })]) {
    const text = json(routes({ find: get("/", { query: query as StandardSchema }, anything) }), { name: "x" });
    expect((JSON.parse(text) as Document).paths["/"]?.get?.parameters).toEqual([
      { name: "a", in: "query", required: true, schema: { type: "string" } },
      { name: "b", in: "query", required: false, schema: { type: "string" } },
    ]);
  }
  const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]);
  expect(() => json(routes({ find: get("/", { query: either }, anything) }), { name: "x" })).toThrow(
    "find (GET /), query: the schema is not an object with named fields",
  );
});

describe("Valibot", () => {
  const Shape = v.object({ unit: v.picklist(["day", "week"]), label: v.optional(v.pipe(v.string(), v.maxLength(5))) });

  it("has no list of required fields where there are none, because OpenAPI 3.0 permits no empty one", () => {
    const { body } = ofBody(toStandardJsonSchema(v.object({ a: v.optional(v.string()) })));
    expect(body).toEqual({ type: "object", properties: { a: { type: "string" } } });
  });

  it("has components for types that hold themselves, several in an app", () => {
    const tree = (value: v.GenericSchema) => {
      const node: v.GenericSchema = v.object({ value, children: v.array(v.lazy(() => node)) });
      return toStandardJsonSchema(node);
    };
    const { schemas } = ofBody(tree(v.string()), tree(v.number()));
    expect(schemas).toMatchObject({
      AddBody1: {
        properties: { value: { type: "string" }, children: { items: { $ref: "#/components/schemas/AddBody1" } } },
      },
      AddResponse1: { properties: { value: { type: "number" } } },
    });
    expect(Object.keys(schemas)).toEqual(["AddBody1", "AddResponse1", "ProblemDetails"]);
    const late = toStandardJsonSchema(v.object({ text: v.lazy(() => v.string()) }));
    expect(ofBody(late).body).toMatchObject({ properties: { text: { type: "string" } } });
  });

  it("has records, and texts in base64", () => {
    const { body } = ofBody(toStandardJsonSchema(v.record(v.string(), v.pipe(v.string(), v.base64()))));
    expect(body).toMatchObject({ type: "object", additionalProperties: { type: "string", format: "byte" } });
    expect(body).not.toHaveProperty("propertyNames");
  });

  it("needs its Standard JSON Schema, and then is written", () => {
    expect(ofBody(toStandardJsonSchema(Shape)).body).toMatchObject({
      type: "object",
      properties: { unit: { enum: ["day", "week"] }, label: { type: "string", maxLength: 5 } },
      required: ["unit"],
    });
    expect(() => ofBody(Shape)).toThrow(
      /^add \(POST \/add\), body: the schema, made with valibot, has no Standard JSON Schema; wrap it in toStandardJson/,
    );
  });
});

describe("ArkType", () => {
  it("is asked for a draft of JSON Schema, whose words are translated", () => {
    const Order = type({
      name: "string",
      note: "string | null",
      kind: "'big' | 'small'",
      only: "'z'",
      "price?": "0 < number <= 9",
      lines: "unknown[]",
      "gone?": "'a' | undefined",
      "+": "reject",
    });
    const { body, response } = ofBody(Order);
    const properties = {
      name: { type: "string" },
      note: { type: "string", nullable: true },
      kind: { enum: ["big", "small"] },
      only: { type: "string", enum: ["z"] },
      price: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 9 },
      lines: { type: "array", items: {} },
      gone: { anyOf: [{ type: "string", enum: ["a"] }, { not: {} }] },
    };
    const required = ["kind", "lines", "name", "note", "only"];
    expect(body).toEqual({
      type: "object",
      properties,
      required: expect.arrayContaining(required),
      additionalProperties: false,
    });
    expect(response).toMatchObject({ properties });
  });

  it("tells what goes in from what comes out", () => {
    const Text = type({ n: "string.numeric.parse" });
    const { body, response } = ofBody(Text);
    expect(body).toMatchObject({ properties: { n: { type: "string" } } });
    expect(response).toMatchObject({ properties: { n: { type: "number" } } });
  });

  it("has components for a type that holds itself, under names that do not depend on other types", () => {
    const tree = () => scope({ node: { value: "string", "next?": "node" } }).export().node;
    tree();
    const { body, schemas } = ofBody(tree(), z.string());
    expect(body).toEqual({ $ref: "#/components/schemas/AddBody1" });
    expect(schemas["AddBody1"]).toMatchObject({
      properties: { value: { type: "string" }, next: { $ref: "#/components/schemas/AddBody1" } },
    });
  });

  it.each<[string, StandardSchema, RegExp]>([
    ["a tuple", type({ pair: ["string", "number"] }), /^add \(POST \/add\), body #\/pair: OpenAPI 3\.0 has no tuples/],
    ["a date", type({ a: { at: "Date" } }), /^add \(POST \/add\), body #\/a\/at: arktype can't write it .* \(date\)$/],
    ["a bigint", type({ n: "bigint" }), /^add \(POST \/add\), body #\/n: arktype can't write it .* \(domain\)$/],
    ["a union with a date", type("Date | string"), /^add \(POST \/add\), body #: arktype can't write it/],
  ])("names the field that JSON can't express: %s", (_what, schema, message) => {
    expect(() => ofBody(schema)).toThrow(message);
  });
});

/** A schema of a library that writes for some targets only. */
function written(by: Record<string, object>, vendor = "other"): StandardSchema {
  const convert = ({ target }: { target: string }) => {
    if (by[target] === undefined) throw new Error(`no ${target}`);
    return by[target];
  };
  const jsonSchema = { input: convert, output: convert };
  return { "~standard": { version: 1, vendor, validate: () => ({ value: 1 }), jsonSchema } } as StandardSchema;
}

it.each<[string, Record<string, object>]>([
  ["OpenAPI", { "openapi-3.0": { type: "string" }, "draft-07": { type: "number" } }],
  ["draft-07", { "draft-07": { type: "string" }, "draft-2020-12": { type: "number" } }],
  ["draft-2020-12", { "draft-2020-12": { type: "string" } }],
])("asks for %s first, of what a library can write", (_target, by) => {
  expect(ofBody(written(by)).body).toEqual({ type: "string" });
});

/** A schema of a library, with an answer to every value. */
function answering(validate: StandardSchema["~standard"]["validate"]): StandardSchema {
  return { "~standard": { ...written({ "openapi-3.0": {} })["~standard"], validate } };
}

it.each<[StandardSchema, boolean]>([
  [z.object({}), true],
  [z.object({}).optional(), false],
  [z.object({}).prefault({}), false],
  [toStandardJsonSchema(v.optional(v.string())), false],
  [type({ a: "1" }), true],
  [
    z
      .string()
      .optional()
      .refine(() => Promise.reject(new Error("Not awaited."))),
    false,
  ],
  [answering(() => ({ value: 1 })), false],
  [answering(() => ({ issues: [] })), true],
  [answering(() => Promise.resolve({ value: 1 })), true],
  [answering(() => Promise.reject(new Error("Not awaited."))), true],
  [answering(() => JSON.parse("")), true],
])("says whether a body must be sent", (body, required) => {
  const { paths } = JSON.parse(json(routes({ add: post("/add", { body }, anything) }), { name: "x" })) as Document;
  expect(paths["/add"]?.post?.requestBody?.required).toBe(required);
});

it("says which library can't write any", () => {
  expect(() => ofBody(written({}))).toThrow(
    "add (POST /add), body #: other can't write it for OpenAPI 3.0: no openapi-3.0; no draft-07; no draft-2020-12",
  );
});

it.each<[string, object, object]>([
  [
    "$defs of 2020-12",
    { $ref: "#/$defs/A", $defs: { A: { type: ["string", "null"] } } },
    { type: "string", nullable: true },
  ],
  [
    "definitions of draft-07",
    { $ref: "#/definitions/A", definitions: { A: { const: 1 } } },
    { type: "number", enum: [1] },
  ],
])("makes components of %s", (_what, schema, expected) => {
  const { body, schemas } = ofBody(written({ "draft-2020-12": schema }), z.string());
  expect(body).toEqual({ $ref: "#/components/schemas/A" });
  expect(schemas["A"]).toEqual(expected);
});

it.each<[OpenApiVersion, object]>([
  ["3.0", { title: "T", allOf: [{ type: "string" }] }],
  ["3.1", { title: "T", allOf: [{ type: "string" }] }],
])("puts a definition without a name where it is used, in OpenAPI %s", (openapi, titled) => {
  const $defs = {
    __schema0: { type: "array", items: { $ref: "#/$defs/__schema0" } },
    __schema1: { type: "object", properties: { a: { $ref: "#/$defs/__schema2" }, b: { $ref: "#/$defs/__schema0" } } },
    __schema2: { type: "string" },
  };
  const plain = { $ref: "#/$defs/__schema1" };
  const schema = { type: "object", properties: { plain, titled: { $ref: "#/$defs/__schema2", title: "T" } }, $defs };
  const app = routes({ add: post("/add", { body: written({ "draft-2020-12": schema }) }, anything) });
  const { paths, components } = JSON.parse(json(app, { name: "x" }, { openapi })) as Document;
  const list = { $ref: "#/components/schemas/AddBodyschema0" };
  expect(paths["/add"]?.post?.requestBody?.content["application/json"]?.schema).toEqual({
    type: "object",
    properties: { plain: { type: "object", properties: { a: { type: "string" }, b: list } }, titled },
  });
  expect(components.schemas).toMatchObject({ AddBodyschema0: { type: "array", items: list } });
  expect(Object.keys(components.schemas)).toHaveLength(2);
});

it("reads a schema that is true or false", () => {
  const schema = { type: "object", properties: { any: true, none: false }, additionalProperties: false };
  expect(ofBody(written({ "draft-07": schema }), z.string()).body).toEqual({
    type: "object",
    properties: { any: {}, none: { not: {} } },
    additionalProperties: false,
  });
});

it("leaves out notes that JSON Schema does not know, and keeps extensions", () => {
  const { body } = ofBody(z.object({ name: z.string().meta({ label: "Name", "x-order": 1 }) }).meta({ form: "wide" }));
  expect(body).toEqual({
    type: "object",
    properties: { name: { type: "string", "x-order": 1 } },
    required: ["name"],
  });
});

it("takes the first of examples, and keeps the title", () => {
  const { body } = ofBody(z.object({ name: z.string().meta({ examples: ["x", "y"], title: "T" }) }));
  expect(body).toMatchObject({ properties: { name: { type: "string", example: "x", title: "T" } } });
});

it.each([
  ["My Type", "My_Type"],
  ["Page<User>", "Page_User_"],
  ["Ünï", "Uni"],
  ["a/b", "a_b"],
  ["a~b", "a_b"],
  ["a~1b", "a_1b"],
  ["a%20b", "a_20b"],
  ["100%", "100_"],
  ["用户", "u7528u6237"],
  ["v1.User-2", "v1.User-2"],
])("makes a component's name of %s: %s", (id, name) => {
  const { body, response, schemas } = ofBody(z.object({ n: z.object({ x: z.string() }).meta({ id }) }));
  const n = { $ref: `#/components/schemas/${name}` };
  expect(body).toMatchObject({ properties: { n } });
  expect(response).toMatchObject({ properties: { n } });
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining([name, "ProblemDetails"]));
  expect(Object.keys(schemas)).toHaveLength(2);
});

it("follows a reference that is percent-encoded", () => {
  const schema = { $ref: "#/definitions/My%20Type", definitions: { "My Type": { type: "string" } } };
  expect(ofBody(written({ "openapi-3.0": schema })).body).toEqual({ $ref: "#/components/schemas/My_Type" });
});

it("gives the second component of a renamed type its name, too", () => {
  const { body, response } = ofBody(z.object({ n: z.int().default(1) }).meta({ id: "My Type" }));
  expect(body).toEqual({ $ref: "#/components/schemas/My_Type" });
  expect(response).toEqual({ $ref: "#/components/schemas/My_TypeOutput" });
});

it("refuses two definitions that would have one name", () => {
  const both = z.object({ a: z.object({ x: z.string() }).meta({ id: "A B" }), b: z.object({}).meta({ id: "A_B" }) });
  expect(() => ofBody(both)).toThrow('two different types are called "A_B": one in add (POST /add), body');
});

it.each<[string, object, RegExp]>([
  ["a keyword", { properties: { a: { if: {} } } }, /body #\/a: OpenAPI 3\.0 has no "if"/],
  ["a map of patterns", { patternProperties: { "^a": {} } }, /body #: OpenAPI 3\.0 has no "patternProperties"/],
  ["a type", { properties: { a: { type: "any" } } }, /#\/a: OpenAPI 3\.0 has no type "any"/],
  ["a tuple", { properties: { a: { prefixItems: [{}] } } }, /#\/a: OpenAPI 3\.0 has no "prefixItems"/],
  ["draft-07's tuple", { type: "array", items: [{}] }, /#: OpenAPI 3\.0 has no tuples: "items" is one schema for all/],
  [
    "a bound",
    { items: { exclusiveMinimum: "1" }, type: "array" },
    /OpenAPI 3\.0 has only true or false for "exclusiveMinimum"/,
  ],
  ["a reference", { anyOf: [{ $ref: "#/definitions/Gone" }] }, /the reference #\/definitions\/Gone leads nowhere/],
  ["a reference to a field", { anyOf: [{ $ref: "#/properties/a" }] }, /the reference #\/properties\/a leads nowhere/],
  ["a reference that is no URI", { items: { $ref: "#/$defs/%" } }, /the reference #\/\$defs\/% leads nowhere/],
])("refuses %s that 3.0 does not have, and names the field", (_what, schema, message) => {
  expect(() => ofBody(written({ "openapi-3.0": schema }))).toThrow(message);
});

describe("regular expressions with flags", () => {
  const properties = (schema: StandardSchema) => (ofBody(schema).body as { properties: unknown }).properties;
  const refused = (schema: StandardSchema) => () => ofBody(schema);

  it("have patterns that match the same texts (Zod)", () => {
    const schema = z.object({
      i: z.string().regex(/^[a-z]x$/i),
      u: z.string().regex(/^\p{L}$/u),
      s: z.string().regex(/^a.b$/s),
      m: z.string().regex(/^a$/m),
      g: z.string().regex(/a/g),
      two: z.string().regex(/^a$/i).regex(/^a$/).regex(/b/i),
      format: z.stringFormat("hex", /^x$/i),
      optional: z.string().regex(/x/i).optional(),
      list: z.array(z.string().regex(/x/i)),
      keys: z.record(z.string().regex(/^k$/i), z.number()),
      plain: z.string().regex(/^x$/),
    });
    const ends = "[\\n\\r\\u2028\\u2029]";
    expect(properties(schema)).toMatchObject({
      i: { pattern: "^[A-Za-z][xX]$" },
      u: { pattern: "^\\p{L}$" },
      s: { pattern: "^a[\\s\\S]b$" },
      m: { pattern: `(?:^|(?<=${ends}))a(?=$|${ends})` },
      g: { pattern: "a" },
      two: { allOf: [{ pattern: "^[aA]$" }, { pattern: "^a$" }, { pattern: "[bB]" }] },
      format: { pattern: "^[xX]$" },
      optional: { pattern: "[xX]" },
      list: { items: { pattern: "[xX]" } },
      plain: { pattern: "^x$" },
    });
    const loose = z.object({ loose: z.looseRecord(z.string().regex(/^k$/i), z.number()) });
    const text = json(routes({ add: post("/add", { body: loose }, anything) }), { name: "x" }, { openapi: "3.1" });
    expect(JSON.parse(text).paths["/add"].post.requestBody.content["application/json"].schema).toMatchObject({
      properties: { loose: { patternProperties: { "^[kK]$": { type: "number" } } } },
    });
  });

  it("have patterns that match the same texts (Valibot, ArkType)", () => {
    const ofValibot = v.object({
      i: v.pipe(v.string(), v.regex(/^[a-z]$/i)),
      hex: v.pipe(v.string(), v.hexColor()),
      plain: v.pipe(v.string(), v.regex(/^x$/)),
    });
    const found = properties(toStandardJsonSchema(ofValibot)) as Record<string, { pattern: string }>;
    expect(found).toMatchObject({ i: { pattern: "^[A-Za-z]$" }, plain: { pattern: "^x$" } });
    expect(new RegExp(found["hex"]?.pattern ?? "").test("#AbC")).toBe(true);
    const ofArk = type({ i: /^x$/i, plain: /^y$/ });
    expect(properties(ofArk)).toMatchObject({ i: { pattern: "^[xX]$" }, plain: { pattern: "^y$" } });
  });

  it("are refused where none does, with the field", () => {
    const repeated = /^(a)\1$/i;
    expect(refused(z.object({ a: z.object({ b: z.string().regex(repeated) }) }))).toThrow(
      /#\/a\/b: zod can't write it .*: the regular expression \/\^\(a\)\\1\$\/i has no form without flags: it refers to a group/,
    );
    expect(refused(toStandardJsonSchema(v.object({ a: v.pipe(v.string(), v.regex(repeated)) })))).toThrow(
      /refers to a group/,
    );
    expect(refused(type({ a: repeated }))).toThrow(/refers to a group/);
  });
});
