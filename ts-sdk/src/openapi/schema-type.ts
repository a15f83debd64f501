/** Writes JSON Schemas as types of TypeScript, for models and editors. */

/** The parts of a JSON Schema that a type shows. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly description?: string;
}

/** Depth of types in each other; deeper ones are `unknown`. */
export const MAX_TYPE_DEPTH = 20;

/** Returns the type of a schema. @param named returns the name of the type that a `$ref` refers to */
export function schemaType(schema: JsonSchema, named: (ref: string) => string, depth = 0): string {
  if (depth > MAX_TYPE_DEPTH || typeof schema !== "object" || schema === null) return "unknown";
  const next = (each: JsonSchema) => schemaType(each, named, depth + 1);
  if (schema.$ref !== undefined) return named(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ") || "never";
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.map(next).join(" | ") || "never";
  if (schema.allOf !== undefined) return schema.allOf.map(next).map(operand).join(" & ") || "unknown";
  const { type } = schema;
  if (Array.isArray(type)) return type.map((each) => next({ ...schema, type: each as string })).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return schema.items === undefined ? "unknown[]" : `Array<${next(schema.items)}>`;
    case "object": {
      const { properties = {}, required = [], additionalProperties } = schema;
      const members = Object.entries(properties).map(([name, each]) =>
        memberType(name, each, required.includes(name), named, depth + 1),
      );
      if (members.length > 0) return `{ ${members.join("; ")} }`;
      if (additionalProperties === false) return "Record<string, never>";
      return typeof additionalProperties === "object"
        ? `Record<string, ${next(additionalProperties)}>`
        : "Record<string, unknown>";
    }
    default:
      return "unknown";
  }
}

/** Puts a union into brackets, because `&` binds closer than `|`. */
const operand = (type: string): string => (type.includes(" | ") ? `(${type})` : type);

/** Returns a member of an object's type, with its description as a comment. */
export function memberType(
  name: string,
  schema: JsonSchema,
  isRequired: boolean,
  named: (ref: string) => string,
  depth = 0,
): string {
  const docs = schema.description === undefined ? "" : `/** ${inComment(schema.description)} */ `;
  const key = isPlainName(name) ? name : JSON.stringify(name);
  return `${docs}${key}${isRequired ? "" : "?"}: ${schemaType(schema, named, depth)}`;
}

/** Reports whether a name can be written without quotation marks. */
export const isPlainName = (name: string): boolean => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);

/** Returns a text for a comment, which it cannot end. */
export const inComment = (text: string): string => text.replaceAll("*/", "*\\/").replace(/\s+/g, " ").trim();
