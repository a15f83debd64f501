/** Schemas of fields and types. */
import type { Attributes } from "../schema/attributes.ts";
import type { EnumSchema } from "../schema/enum.ts";
import type { ListSchema } from "../schema/list.ts";
import { INLINE, type ObjectSchema } from "../schema/object.ts";
import type { UnionSchema } from "../schema/one-of.ts";
import type { RecordSchema } from "../schema/record.ts";
import type { Schema } from "../schema/schema.ts";
import type { Components, SchemaObject } from "./components.ts";

/** The schema of a body or a value in one: in JSON, a nullable one may be null. Types become components. */
export function bodySchema(schema: Schema, components: Components, at: string): SchemaObject {
  const value = valueSchema(schema, components, at);
  const orNull = schema.takesNull && schema.kind !== "json";
  if (!orNull) return { ...value, ...annotations(schema.attributes) };
  return { ...components.dialect.orNull(value), ...annotations(schema.attributes) };
}

/** The schema of a value in a path, a query or a form, where there is no null. */
export function parameterSchema(schema: Schema, components: Components, at: string): SchemaObject {
  // A repeated key fills a list: an absent key means no list, so a required list has at least one item.
  const isFilled = schema.kind === "list" && schema.presence === "required";
  const items = isFilled ? { minItems: Math.max(1, schema.attributes.min ?? 0) } : {};
  return { ...valueSchema(schema, components, at), ...items, ...annotations(schema.attributes) };
}

function valueSchema(schema: Schema, components: Components, at: string): SchemaObject {
  const { min, max, format, pattern } = schema.attributes;
  switch (schema.kind) {
    case "string":
      return defined({ type: "string", format, pattern: pattern?.source, minLength: min, maxLength: max });
    case "bool":
      return { type: "boolean" };
    case "enum":
      return { type: "string", enum: (schema as EnumSchema).values };
    case "list": {
      const items = bodySchema((schema as ListSchema).items, components, `${at}/items`);
      return defined({ type: "array", items, minItems: min, maxItems: max });
    }
    case "object": {
      const { name } = schema as ObjectSchema;
      if (name === INLINE) return objectSchema(schema as ObjectSchema, components, at);
      return components.add(name, objectSchema(schema as ObjectSchema, components, at), at);
    }
    case "record": {
      const additionalProperties = bodySchema((schema as RecordSchema).items, components, `${at}/*`);
      return defined({ type: "object", additionalProperties, minProperties: min, maxProperties: max });
    }
    case "union":
      return unionSchema(schema as UnionSchema, components, at);
    case "json":
      return {};
    case "file":
      return components.dialect.bytes;
    default:
      return numberSchema(schema.kind, min, max);
  }
}

/** The components of the variants, and the tag's value for each. */
function unionSchema({ tag, variants }: UnionSchema, components: Components, at: string): SchemaObject {
  const refs = Object.entries(variants).map(
    ([value, type]) => [value, bodySchema(type, components, at)["$ref"] as string] as const,
  );
  const oneOf = [...new Set(refs.map(([, $ref]) => $ref))].map(($ref) => ({ $ref }));
  return { oneOf, discriminator: { propertyName: tag, mapping: Object.fromEntries(refs) } };
}

/** Writes the bounds of the kind, too, because values outside are refused. */
function numberSchema(kind: "u32" | "i32" | "i64" | "f64", min?: number, max?: number): SchemaObject {
  const bounds = (low: number, high: number) => ({ minimum: min ?? low, maximum: max ?? high });
  switch (kind) {
    case "u32":
      return { type: "integer", ...bounds(0, 4_294_967_295) };
    case "i32":
      return { type: "integer", format: "int32", ...bounds(-2_147_483_648, 2_147_483_647) };
    case "i64":
      return { type: "integer", format: "int64", ...bounds(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) };
    case "f64":
      return defined({ type: "number", format: "double", minimum: min, maximum: max });
  }
}

/** A form is text: what is optional is absent and never null. */
function isForm(schema: Schema): boolean {
  return (schema as Partial<ObjectSchema>).role === "form";
}

function objectSchema(schema: ObjectSchema, components: Components, at: string): SchemaObject {
  const entries = Object.entries(schema.fields);
  const schemaOf = isForm(schema) ? parameterSchema : bodySchema;
  const properties = entries.map(([key, field]) => [key, schemaOf(field, components, `${at}/${key}`)] as const);
  // A field with a default need not be sent. It is always in an answer, but one schema can't express both.
  const required = entries.filter(([, { presence }]) => presence === "required").map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

function annotations({ default: fallback, docs, deprecated, ...others }: Attributes): SchemaObject {
  const extensions = Object.entries(others).filter(([key]) => key.startsWith("x_"));
  return {
    ...defined({ default: fallback, description: docs, deprecated: deprecated || undefined }),
    ...Object.fromEntries(extensions.map(([key, value]) => [key.replaceAll("_", "-"), value])),
  };
}

function defined(members: Record<string, unknown>): SchemaObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
