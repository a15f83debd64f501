import { expect, it } from "vitest";
import type { SchemaObject } from "./components.ts";
import { fromDraft } from "./drafts.ts";

const NULL = { type: "string", nullable: true, enum: [null] };

it.each<[string, SchemaObject, SchemaObject]>([
  ["a type or null", { type: ["string", "null"], minLength: 1 }, { type: "string", minLength: 1, nullable: true }],
  [
    "null or a type, of an enum with null",
    { type: ["null", "string"], enum: ["a", null] },
    { type: "string", enum: ["a", null], nullable: true },
  ],
  ["null that the enum leaves out", { type: ["string", "null"], enum: ["a"] }, { type: "string", enum: ["a"] }],
  [
    "several types",
    { type: ["string", "array", "null"], items: { type: "number" }, title: "T" },
    {
      title: "T",
      anyOf: [
        { type: "string", nullable: true },
        { type: "array", items: { type: "number" }, nullable: true },
      ],
    },
  ],
  [
    "several types beside anyOf",
    { type: ["string", "number"], anyOf: [{ minLength: 1 }] },
    { anyOf: [{ minLength: 1 }], allOf: [{ anyOf: [{ type: "string" }, { type: "number" }] }] },
  ],
  ["a list of anything", { type: "array" }, { type: "array", items: {} }],
  ["null", { type: "null", description: "Nothing" }, { ...NULL, description: "Nothing" }],
  ["the constant null", { const: null }, NULL],
  ["a constant text", { const: "z" }, { type: "string", enum: ["z"] }],
  ["a constant number, with its type", { type: "integer", const: 1 }, { type: "integer", enum: [1] }],
  ["a constant object", { const: { a: 1 } }, { enum: [{ a: 1 }] }],
  [
    "a schema or null",
    { anyOf: [{ type: ["string"], description: "Inner", maxLength: 4 }, { type: "null" }], description: "Outer" },
    { type: "string", maxLength: 4, description: "Outer", nullable: true },
  ],
  [
    "a constant or null",
    { oneOf: [{ const: "x" }, { const: null }] },
    { type: "string", enum: ["x", null], nullable: true },
  ],
  [
    "an enum or null",
    { anyOf: [{ type: "null" }, { enum: ["x", "y"] }] },
    { type: "string", enum: ["x", "y", null], nullable: true },
  ],
  [
    "a bound beside a schema or null",
    { anyOf: [{ type: "string", minLength: 2 }, { type: "null" }], minLength: 1 },
    { anyOf: [{ type: "string", minLength: 2 }, { type: "null" }], minLength: 1 },
  ],
  [
    "a reference or null: beside a reference nothing counts",
    { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] },
    { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] },
  ],
  [
    "two schemas or null",
    { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
    { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
  ],
  ["what stands beside a reference", { $ref: "#/$defs/A", title: "T" }, { title: "T", allOf: [{ $ref: "#/$defs/A" }] }],
  ["a reference alone", { $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }],
  [
    "a reference that is nullable",
    { nullable: true, allOf: [{ $ref: "#/$defs/A" }], title: "T" },
    { title: "T", anyOf: [{ $ref: "#/$defs/A" }, NULL] },
  ],
  [
    "several schemas that are nullable",
    { nullable: true, allOf: [{ minLength: 1 }, { maxLength: 2 }] },
    { anyOf: [{ allOf: [{ minLength: 1 }, { maxLength: 2 }] }, NULL] },
  ],
  ["a type that is nullable", { nullable: true, type: "object" }, { nullable: true, type: "object" }],
  ["anything that is nullable", { nullable: true, title: "T" }, { title: "T" }],
  [
    "a type and a reference that are nullable",
    { type: "object", nullable: true, allOf: [{ $ref: "#/$defs/A" }] },
    { type: "object", nullable: true, anyOf: [{ $ref: "#/$defs/A" }, NULL] },
  ],
  [
    "an enum that is nullable",
    { type: "string", enum: ["a"], nullable: true, default: "a" },
    { type: "string", enum: ["a", null], nullable: true, default: "a" },
  ],
  [
    "an enum that is nullable, without its type",
    { enum: [1, 2], nullable: true },
    { type: "number", enum: [1, 2, null], nullable: true },
  ],
  ["an enum of several types that is nullable", { enum: ["a", 1], nullable: true }, { enum: ["a", 1, null] }],
  ["an enum with null that is nullable", { enum: ["a", 1, null], nullable: true }, { enum: ["a", 1, null] }],
  [
    "a constant that is nullable",
    { const: "a", nullable: true },
    { type: "string", enum: ["a", null], nullable: true },
  ],
  [
    "a union that is nullable",
    { nullable: true, anyOf: [{ type: "string" }, { $ref: "#/$defs/A" }], title: "T" },
    { title: "T", anyOf: [{ type: "string" }, { $ref: "#/$defs/A" }, NULL] },
  ],
  [
    "a union that is nullable, with null in it",
    { nullable: true, anyOf: [{ type: "string" }, { type: "number", nullable: true }] },
    { anyOf: [{ type: "string" }, { type: "number", nullable: true }] },
  ],
  [
    "one of several that is nullable",
    { nullable: true, oneOf: [{ type: "string" }, { type: "number" }] },
    { anyOf: [{ oneOf: [{ type: "string" }, { type: "number" }] }, NULL] },
  ],
  [
    "a type with branches, or null",
    { anyOf: [{ type: "object", allOf: [{ $ref: "#/$defs/A" }] }, { type: "null" }] },
    { anyOf: [{ type: "object", allOf: [{ $ref: "#/$defs/A" }] }, { type: "null" }] },
  ],
  [
    "excluded bounds",
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 9 },
    { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
  ],
  [
    "excluded bounds that allow less",
    { minimum: 1, exclusiveMinimum: 1, maximum: 9, exclusiveMaximum: 5 },
    { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
  ],
  [
    "excluded bounds that allow more",
    { minimum: 2, exclusiveMinimum: 1, maximum: 4, exclusiveMaximum: 5 },
    { minimum: 2, maximum: 4 },
  ],
  ["bounds in OpenAPI's own form", { minimum: 2, exclusiveMinimum: true }, { minimum: 2, exclusiveMinimum: true }],
  ["examples", { type: "string", examples: ["x", "y"] }, { type: "string", example: "x" }],
  ["examples beside an example", { examples: ["x"], example: "own" }, { example: "own" }],
  [
    "base64",
    { type: "string", format: "base64", contentEncoding: "base64", maxLength: 8 },
    { type: "string", format: "byte", maxLength: 8 },
  ],
  ["base64url", { type: "string", contentEncoding: "base64url" }, { type: "string" }],
  [
    "another encoding, which it lacks",
    { type: "string", contentEncoding: "binary" },
    { type: "string", contentEncoding: "binary" },
  ],
  ["keys that are texts", { type: "object", propertyNames: { type: "string" } }, { type: "object" }],
  [
    "restricted keys, which it lacks",
    { propertyNames: { type: "string", maxLength: 1 } },
    { propertyNames: { type: "string", maxLength: 1 } },
  ],
  ["no required fields", { type: "object", required: [] }, { type: "object" }],
  ["no examples", { examples: [] }, {}],
])("says %s in the words of OpenAPI 3.0", (_what, draft, expected) => expect(fromDraft(draft)).toEqual(expected));
