import { expect, it } from "vitest";
import { Form, field, list, oneOf, partial, pick, record, type Schema, Type } from "../index.ts";
import { Components } from "./components.ts";
import { openapi30 } from "./dialect-3.0.ts";
import { bodySchema, parameterSchema } from "./schema.ts";

const Zip = Type("Zip", { code: field.string() });
const Village = Type("Village", { kind: field.enum("village", "hamlet"), zip: Zip });
const shape = oneOf("kind", { zip: Zip, village: Village, hamlet: Village });
const union = {
  oneOf: [{ $ref: "#/components/schemas/ZipWithKind" }, { $ref: "#/components/schemas/Village" }],
  discriminator: {
    propertyName: "kind",
    mapping: {
      zip: "#/components/schemas/ZipWithKind",
      village: "#/components/schemas/Village",
      hamlet: "#/components/schemas/Village",
    },
  },
};
const u32 = { type: "integer", minimum: 0, maximum: 4294967295 };
const zip = { $ref: "#/components/schemas/Zip" };

it.each<[Schema, object]>([
  [field.string(), { type: "string" }],
  [field.string({ min: 1, max: 100 }), { type: "string", minLength: 1, maxLength: 100 }],
  [field.string({ format: "email" }), { type: "string", format: "email" }],
  [field.u32(), u32],
  [field.u32({ max: 100, default: 10 }), { ...u32, maximum: 100, default: 10 }],
  [field.i32(), { type: "integer", format: "int32", minimum: -2147483648, maximum: 2147483647 }],
  [field.i64({ min: 0 }), { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER }],
  [field.f64({ max: 0.5 }), { type: "number", format: "double", maximum: 0.5 }],
  [field.bool({ default: false }), { type: "boolean", default: false }],
  [field.enum("a", "b"), { type: "string", enum: ["a", "b"] }],
  [field.enum("a", "b").optional(), { type: "string", enum: ["a", "b"] }],
  [field.string().optional(), { type: "string" }],
  [field.string().nullish(), { type: "string", nullable: true }],
  [field.string({ docs: "A name", deprecated: true }), { type: "string", description: "A name", deprecated: true }],
  [field.string({ deprecated: false }), { type: "string" }],
  [
    field.bool({ x_internal_id: "a_b", x_on: true, x_n: 0.5 }),
    { type: "boolean", "x-internal-id": "a_b", "x-on": true, "x-n": 0.5 },
  ],
  [list(field.u32()), { type: "array", items: u32 }],
  [
    list(Zip, { min: 1, max: 3, docs: "Many" }),
    { type: "array", items: zip, minItems: 1, maxItems: 3, description: "Many" },
  ],
  [list(list(field.bool())), { type: "array", items: { type: "array", items: { type: "boolean" } } }],
  [Zip, zip],
  // Keywords beside a $ref have no effect, nor has "nullable" without a type, and branches have to accept null as well.
  [Zip.optional(), zip],
  [Zip.nullish(), { type: "object", anyOf: [zip, { type: "string", nullable: true, enum: [null] }], nullable: true }],
  [field.string().nullable(), { type: "string", nullable: true }],
  [field.string().nullable().optional(), { type: "string", nullable: true }],
  [field.enum("a", "b").nullable(), { type: "string", enum: ["a", "b", null], nullable: true }],
  [Zip.nullable(), { type: "object", anyOf: [zip, { type: "string", nullable: true, enum: [null] }], nullable: true }],
  [list(field.u32().nullable()), { type: "array", items: { ...u32, nullable: true } }],
  [record(Zip), { type: "object", additionalProperties: zip, maxProperties: 1000 }],
  [
    record(field.bool(), { min: 1, max: 3, docs: "Flags", default: { a: true } }).nullable(),
    {
      ...{ type: "object", additionalProperties: { type: "boolean" }, minProperties: 1, maxProperties: 3 },
      ...{ description: "Flags", default: { a: true }, nullable: true },
    },
  ],
  // A schema without a type takes every value, null among them.
  [field.json(), {}],
  [field.json({ docs: "Anything", default: null }).optional(), { description: "Anything", default: null }],
  [shape, union],
  // Only a branch accepts null here.
  [
    shape.nullable(),
    { type: "object", anyOf: [union, { type: "string", nullable: true, enum: [null] }], nullable: true },
  ],
])("%#: %o", (schema, expected) => {
  expect(bodySchema(schema, new Components(openapi30), "here")).toEqual(expected);
});

it("knows no null in a path or query", () => {
  expect(parameterSchema(field.string().optional(), new Components(openapi30), "here")).toEqual({ type: "string" });
});

it("lists as required what has neither a default nor is optional; nested types are components", () => {
  const components = new Components(openapi30);
  const Person = Type("Person", {
    name: field.string(),
    age: field.u32().optional(),
    role: field.enum("a", { default: "a" }),
    home: Zip,
  });
  bodySchema(Person, components, "here");
  bodySchema(Type("Nothing", { maybe: field.bool().optional() }), components, "here");
  expect(Object.keys(components.toJSON())).toEqual(["Nothing", "Person", "ProblemDetails", "Zip"]);
  expect(components.get("Person")).toMatchObject({ type: "object", required: ["name", "home"] });
  expect(components.get("Person")).toMatchObject({ properties: { home: zip } });
  expect(components.get("Nothing")).not.toHaveProperty("required");
});

it("requires of a variant its tag, which leads to it", () => {
  const components = new Components(openapi30);
  bodySchema(shape, components, "here");
  expect(components.get("ZipWithKind")).toEqual({
    type: "object",
    properties: { kind: { type: "string", enum: ["zip"] }, code: { type: "string" } },
    required: ["kind", "code"],
  });
  expect(Object.keys(components.toJSON())).toEqual(["ProblemDetails", "Village", "Zip", "ZipWithKind"]);
});

it("has Types that are made of others as components of their own, what may be null being required", () => {
  const components = new Components(openapi30);
  const Person = Type("Person", {
    name: field.string(),
    note: field.string().nullable(),
    age: field.u32({ default: 1 }),
  });
  bodySchema(Person, components, "here");
  bodySchema(partial(Person), components, "here");
  bodySchema(pick(Person, ["name", "note"]), components, "here");
  bodySchema(pick(Person, ["note", "name"]), components, "there");
  expect(components.get("Person")).toMatchObject({ required: ["name", "note"] });
  expect(components.get("PartialPerson")).toEqual({
    type: "object",
    properties: {
      name: { type: "string" },
      note: { type: "string", nullable: true },
      age: u32,
    },
  });
  expect(components.get("PersonNameAndNote")).toMatchObject({ required: ["name", "note"] });
});

it("refuses two shapes of one name, and names where each is used", () => {
  const components = new Components(openapi30);
  bodySchema(Zip, components, "one (GET /a), response #");
  bodySchema(Type("Zip", { code: field.string() }), components, "the same shape again");
  const Other = Type("Outer", { zip: Type("Zip", { code: field.u32() }) });
  expect(() => bodySchema(Other, components, "two (POST /b), body #")).toThrow(
    'two different types are called "Zip": one in one (GET /a), response #, another in two (POST /b), body #/zip;',
  );
  expect(() => bodySchema(Type("ProblemDetails", {}), components, "three")).toThrow(
    /in error answers, another in three/,
  );
});

it("has no null in a form, where what is optional is absent", () => {
  const components = new Components(openapi30);
  const Up = Form("Up", { name: field.string().optional(), file: field.file().optional() });
  expect(bodySchema(Up.optional(), components, "body")).toEqual({ $ref: "#/components/schemas/Up" });
  expect(components.get("Up")).toEqual({
    type: "object",
    properties: { name: { type: "string" }, file: { type: "string", format: "binary" } },
  });
});

it("has at least one item in a required list of a form, as in a query", () => {
  const components = new Components(openapi30);
  const fields = { tags: list(field.bool()), two: list(field.bool(), { min: 2 }), any: list(field.bool()).optional() };
  bodySchema(Form("Tags", fields), components, "body");
  const array = { type: "array", items: { type: "boolean" } };
  expect(components.get("Tags")).toEqual({
    type: "object",
    properties: { tags: { ...array, minItems: 1 }, two: { ...array, minItems: 2 }, any: array },
    required: ["tags", "two"],
  });
});
