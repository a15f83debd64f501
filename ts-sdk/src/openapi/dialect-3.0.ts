/** OpenAPI 3.0.0, whose Schema Object is a variant of an early draft of JSON Schema (section 4.7.24). */
import type { SchemaObject } from "./components.ts";
import { all, type OpenApiDialect } from "./dialect.ts";
import { fromDraft, NULL } from "./drafts.ts";

const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object"]);

export const openapi30: OpenApiDialect = {
  name: "OpenAPI 3.0",
  openapi: "3.0.0",
  targets: ["openapi-3.0", "draft-07", "draft-2020-12"],
  keywords: {
    ...all("value", "title", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength"),
    ...all("value", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties"),
    ...all("value", "required", "enum", "type", "description", "format", "default", "nullable", "discriminator"),
    ...all("value", "readOnly", "writeOnly", "xml", "externalDocs", "example", "deprecated"),
    ...all("schemas", "allOf", "oneOf", "anyOf"),
    ...all("schema", "not", "items"),
    properties: "named",
    additionalProperties: "schema or boolean",
  },
  bytes: { type: "string", format: "binary" },

  orNull(value) {
    // Keywords beside a $ref have no effect, and a branch has to accept the null that "nullable" adds to the type.
    const branches = "$ref" in value || "oneOf" in value;
    const { enum: words, ...rest }: Value = branches ? { type: "object", anyOf: [value, NULL] } : value;
    return { ...rest, ...(words === undefined ? {} : { enum: [...words, null] }), nullable: true };
  },

  fromTarget: fromDraft,

  problem(key, value) {
    if (key === "items" && Array.isArray(value)) return 'has no tuples: "items" is one schema for all';
    if (key === "type" && !TYPES.has(value as string)) return `has no type ${JSON.stringify(value)}`;
    const isBound = key === "exclusiveMinimum" || key === "exclusiveMaximum";
    return isBound && typeof value !== "boolean" ? `has only true or false for "${key}"` : undefined;
  },
};

interface Value extends SchemaObject {
  readonly enum?: readonly unknown[];
}
