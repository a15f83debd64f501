import type { SchemaObject } from "./components.ts";

/** The schema of null alone. OpenAPI 3.0 has no such type: "nullable" has effect only beside another type. */
export const NULL: SchemaObject = { type: "string", nullable: true, enum: [null] };

/** Keywords that restrict no value, so they may be moved to another schema. */
const ANNOTATIONS = new Set(["title", "description", "default", "example", "deprecated"]);

/** Keywords that apply to null as to any other value, even beside "nullable". */
const COMBINATORS = new Set(["allOf", "anyOf", "oneOf", "not", "discriminator"]);

/**
 * Converts a schema of JSON Schema draft-07 or 2020-12 to a Schema Object, as far as OpenAPI 3.0 can express it: lists
 * of types, `null`, `const`, exclusive bounds, `examples`, and base64. Keywords without an equivalent stay, and so do nested
 * schemas, except one whose only alternative is null.
 */
export function fromDraft(schema: SchemaObject): SchemaObject {
  const bounds = [bound("inimum"), bound("aximum")];
  const steps = [
    beside,
    onlyNull,
    constant,
    nullable,
    types,
    nullBranch,
    examples,
    ...bounds,
    encoding,
    keys,
    required,
  ];
  return steps.reduce((so, step) => step(so), schema);
}

/** Keywords beside a reference have no effect, so the reference moves into a list of one. */
function beside({ $ref, ...rest }: SchemaObject): SchemaObject {
  if ($ref === undefined) return rest;
  return Object.keys(rest).length === 0 ? { $ref } : { ...rest, allOf: [{ $ref }, ...listOf(rest["allOf"])] };
}

function onlyNull(schema: SchemaObject): SchemaObject {
  if (!isNull(schema)) return schema;
  const { type: _type, const: _const, enum: _enum, ...rest } = schema as Record<string, unknown>;
  return { ...rest, ...NULL };
}

function isNull({ type, const: only, enum: values }: Keywords): boolean {
  return type === "null" || only === null || (Array.isArray(values) && values.length === 1 && values[0] === null);
}

function constant(schema: SchemaObject): SchemaObject {
  if (!Object.hasOwn(schema, "const")) return schema;
  const { const: value, ...rest } = schema as Keywords;
  return { ...typeOf([value]), ...rest, enum: [value] };
}

/** Adds null: "nullable" alone adds it only to a type, so an enum and branches have to accept it as well. */
function nullable(schema: SchemaObject): SchemaObject {
  const { nullable: may, enum: values } = schema as Keywords;
  if (may !== true) return schema;
  const listed = Array.isArray(values) ? { ...typeOf(values), ...schema, enum: withNull(values) } : schema;
  const widened = branchesOrNull(listed);
  const { nullable: _nullable, ...untyped } = widened as Keywords;
  return untyped.type === undefined ? untyped : widened;
}

/** Lets null pass the branches: as another branch of "anyOf", or as the alternative to all of them. */
function branchesOrNull(schema: SchemaObject): SchemaObject {
  const entries = Object.entries(schema);
  const combined = Object.fromEntries(entries.filter(([key]) => COMBINATORS.has(key))) as Keywords;
  const rest = Object.fromEntries(entries.filter(([key]) => !COMBINATORS.has(key)));
  const keys = Object.keys(combined).join();
  if (keys === "") return schema;
  const any = keys === "anyOf" ? listOf(combined.anyOf) : [];
  if (any.some((branch) => isNull(branch) || branch["nullable"] === true)) return schema;
  if (any.length > 0) return { ...rest, anyOf: [...any, NULL] };
  const [only, ...more] = keys === "allOf" ? listOf(combined.allOf) : [];
  return { ...rest, anyOf: [only !== undefined && more.length === 0 ? only : combined, NULL] };
}

function types(schema: SchemaObject): SchemaObject {
  const { type, enum: values, items, ...rest } = schema as Keywords;
  // A list needs "items" in OpenAPI 3.0.
  if (type === "array" && items === undefined && rest.prefixItems === undefined) return { ...schema, items: {} };
  if (!Array.isArray(type)) return schema;
  const [first, ...more] = type.filter((each) => each !== "null");
  const accepts = type.includes("null") && (!Array.isArray(values) || values.includes(null));
  const nullable = accepts ? { nullable: true } : {};
  const kept: SchemaObject = { ...rest, ...(values === undefined ? {} : { enum: values }) };
  const listed = (each: unknown) => (each === "array" ? { items: items ?? {} } : {});
  if (more.length === 0) return { ...kept, type: first, ...listed(first), ...nullable };
  const anyOf = [first, ...more].map((each) => ({ type: each, ...listed(each), ...nullable }));
  return kept["anyOf"] === undefined ? { ...kept, anyOf } : { ...kept, allOf: [...listOf(kept["allOf"]), { anyOf }] };
}

/** Merges a choice between null and one other schema into that schema, made nullable. */
function nullBranch(schema: SchemaObject): SchemaObject {
  for (const key of ["anyOf", "oneOf"]) {
    const { [key]: branches, ...rest } = schema;
    const others = listOf(branches).filter((branch) => !isNull(branch));
    const [other] = others;
    if (other === undefined || others.length > 1 || listOf(branches).length === 1) continue;
    const { enum: values, ...one } = fromDraft(other) as Keywords;
    const typed = { ...typeOf(values), ...one };
    const clash = Object.keys(rest).some((name) => name in typed && !ANNOTATIONS.has(name));
    const combined = Object.keys(typed).some((name) => COMBINATORS.has(name));
    if (typeof typed.type !== "string" || clash || combined || rest["enum"] !== undefined) continue;
    const allowed = Array.isArray(values) ? { enum: withNull(values) } : {};
    return { ...typed, ...allowed, ...rest, nullable: true };
  }
  return schema;
}

function examples(schema: SchemaObject): SchemaObject {
  const { examples: given, ...rest } = schema as Keywords;
  if (!Array.isArray(given)) return schema;
  return given.length === 0 || Object.hasOwn(rest, "example") ? rest : { ...rest, example: given[0] };
}

/** `exclusiveMinimum: 5` → `minimum: 5, exclusiveMinimum: true`; the stricter of two bounds wins. */
function bound(end: "inimum" | "aximum"): (schema: SchemaObject) => SchemaObject {
  return (schema) => {
    const { [`exclusiveM${end}`]: excluded, [`m${end}`]: included, ...rest } = schema;
    if (typeof excluded !== "number") return schema;
    const closer = typeof included === "number" && (end === "inimum" ? included > excluded : included < excluded);
    return closer ? { ...rest, [`m${end}`]: included } : { ...rest, [`m${end}`]: excluded, [`exclusiveM${end}`]: true };
  };
}

/** `contentEncoding: "base64"` → `format: "byte"`; base64url has no equivalent, and the keyword restricts no value. */
function encoding(schema: SchemaObject): SchemaObject {
  const { contentEncoding, ...rest } = schema;
  if (contentEncoding === "base64") return { ...rest, format: "byte" };
  return contentEncoding === "base64url" ? rest : schema;
}

/** Drops a statement about keys that holds for all: they are texts. */
function keys(schema: SchemaObject): SchemaObject {
  const { propertyNames, ...rest } = schema;
  return JSON.stringify(propertyNames) === '{"type":"string"}' ? rest : schema;
}

/** Drops an empty list, which this early draft does not permit. */
function required(schema: SchemaObject): SchemaObject {
  const { required: names, ...rest } = schema;
  return Array.isArray(names) && names.length === 0 ? rest : schema;
}

function withNull(values: readonly unknown[]): unknown[] {
  return [...new Set([...values, null])];
}

/** The common type of values, null aside. */
function typeOf(values: unknown): { type?: string } {
  const found = new Set(listOf(values).flatMap((value) => (value === null ? [] : [typeof value])));
  const [type = ""] = found;
  return found.size === 1 && ["string", "number", "boolean"].includes(type) ? { type } : {};
}

function listOf(value: unknown): readonly SchemaObject[] {
  return Array.isArray(value) ? value : [];
}

interface Keywords extends SchemaObject {
  readonly type?: unknown;
  readonly const?: unknown;
  readonly enum?: unknown;
  readonly items?: unknown;
  readonly prefixItems?: unknown;
  readonly anyOf?: unknown;
  readonly allOf?: unknown;
  readonly nullable?: unknown;
  readonly examples?: unknown;
}
