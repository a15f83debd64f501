/** OpenAPI 3.1, whose Schema Object is JSON Schema draft 2020-12 (section 4.8.24). */
import type { SchemaObject } from "./components.ts";
import { all, type OpenApiDialect } from "./dialect.ts";

const TYPES = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

export const openapi31: OpenApiDialect = {
  name: "OpenAPI 3.1",
  openapi: "3.1.0",
  targets: ["draft-2020-12", "draft-07"],
  keywords: {
    ...all("value", "title", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength"),
    ...all("value", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains"),
    ...all("value", "maxProperties", "minProperties", "required", "dependentRequired", "enum", "const", "type"),
    ...all("value", "description", "format", "default", "examples", "readOnly", "writeOnly", "deprecated"),
    ...all("value", "contentEncoding", "contentMediaType", "discriminator", "xml", "externalDocs", "example"),
    ...all("schemas", "allOf", "oneOf", "anyOf", "prefixItems"),
    ...all("schema", "not", "if", "then", "else", "contains", "propertyNames", "contentSchema"),
    ...all("named", "properties", "patternProperties", "dependentSchemas"),
    ...all("schema or boolean", "items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
  },
  bytes: { type: "string", contentMediaType: "application/octet-stream" },

  orNull(value) {
    const { type, enum: words, ...rest } = value as { type?: string; enum?: readonly unknown[] };
    if (type === undefined) return { anyOf: [value, { type: "null" }] };
    return { type: [type, "null"], ...(words === undefined ? {} : { enum: [...words, null] }), ...rest };
  },

  fromTarget: (schema) => [tuple, dependencies].reduce((so, step) => step(so), schema),

  problem(key, value) {
    if (key !== "type") return undefined;
    const unknown = [value].flat().find((each) => !TYPES.has(each as string));
    return unknown === undefined ? undefined : `has no type ${JSON.stringify(unknown)}`;
  },
};

/** Converts draft-07's tuples: `items: [a, b], additionalItems: c` → `prefixItems: [a, b], items: c`. */
function tuple(schema: SchemaObject): SchemaObject {
  const { items, additionalItems, ...rest } = schema as { items?: unknown; additionalItems?: unknown };
  if (Array.isArray(items)) {
    return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
  }
  return items === undefined ? rest : { ...rest, items };
}

/** Converts draft-07's `dependencies` to `dependentRequired` and `dependentSchemas`. */
function dependencies(schema: SchemaObject): SchemaObject {
  const { dependencies: given, ...rest } = schema as { dependencies?: object };
  if (given === undefined) return schema;
  const entries = Object.entries(given);
  const lists = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  return {
    ...rest,
    ...(lists.length === 0 ? {} : { dependentRequired: Object.fromEntries(lists) }),
    ...(schemas.length === 0 ? {} : { dependentSchemas: Object.fromEntries(schemas) }),
  };
}
