import { expect, it } from "vitest";
import { type JsonSchema, schemaType } from "./schema-type.ts";

it.each<[JsonSchema, string]>([
  [{ allOf: [{ type: ["string", "null"] }, { enum: ["a", "b"] }] }, '(string | null) & ("a" | "b")'],
  [{ type: "array", items: { anyOf: [{ type: "integer" }, { $ref: "#/$defs/A" }] } }, "Array<number | A>"],
  [{ type: "object", properties: { "a-b": { description: "*/", const: 1 } } }, '{ /** *\\/ */ "a-b"?: 1 }'],
])("%j is %s", (schema, type) => {
  expect(schemaType(schema, () => "A")).toBe(type);
});
