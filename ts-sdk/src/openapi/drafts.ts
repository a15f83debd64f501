import type { SchemaObject } from "./components.ts";

/** Null and nothing else, for which OpenAPI 3.0 has no type: "nullable" counts beside another one only. */
const NULL: SchemaObject = { type: "string", nullable: true, enum: [null] };

/** What says nothing of the values that a schema takes, so that it may stand at another schema as well. */
const ANNOTATIONS = new Set(["title", "description", "default", "example", "deprecated"]);

/**
 * A Schema Object for a schema of JSON Schema draft-07 or 2020-12, as far as OpenAPI 3.0 says the same in other words:
 * types in a list, `null`, `const`, bounds that are excluded, and `examples`. Keywords that it has no words for stay, and
 * so do the schemas in it, but for one that has nothing beside it but null.
 */
export function fromDraft(schema: SchemaObject): SchemaObject {
  const steps = [beside, onlyNull, constant, types, nullBranch, untyped, examples, bound("inimum"), bound("aximum")];
  return steps.reduce((so, step) => step(so), schema);
}

/** Beside a reference nothing counts; beside a list of one it does. */
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

function types(schema: SchemaObject): SchemaObject {
  const { type, enum: values, items, ...rest } = schema as Keywords;
  // OpenAPI has no list without "items".
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

/** Either null or one other schema: that schema, which may be null. */
function nullBranch(schema: SchemaObject): SchemaObject {
  for (const key of ["anyOf", "oneOf"]) {
    const { [key]: branches, ...rest } = schema;
    const others = listOf(branches).filter((branch) => !isNull(branch));
    const [other] = others;
    if (other === undefined || others.length > 1 || listOf(branches).length === 1) continue;
    const { enum: values, ...one } = fromDraft(other) as Keywords;
    const typed = { ...typeOf(values), ...one };
    const clash = Object.keys(rest).some((name) => name in typed && !ANNOTATIONS.has(name));
    if (typeof typed.type !== "string" || clash || rest["enum"] !== undefined) continue;
    const allowed = Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {};
    return { ...typed, ...allowed, ...rest, nullable: true };
  }
  return schema;
}

/** `nullable` without a type counts for nothing: Zod writes it so beside a reference. */
function untyped(schema: SchemaObject): SchemaObject {
  const { nullable, allOf, ...rest } = schema as Keywords;
  if (nullable !== true || rest.type !== undefined || rest.anyOf !== undefined) return schema;
  const [only, ...more] = listOf(allOf);
  if (only === undefined) return schema;
  return { ...rest, anyOf: [more.length === 0 ? only : { allOf }, NULL] };
}

function examples(schema: SchemaObject): SchemaObject {
  const { examples: given, ...rest } = schema as Keywords;
  if (!Array.isArray(given)) return schema;
  return given.length === 0 || Object.hasOwn(rest, "example") ? rest : { ...rest, example: given[0] };
}

/** `exclusiveMinimum: 5` → `minimum: 5, exclusiveMinimum: true`; of two bounds, the one that allows less. */
function bound(end: "inimum" | "aximum"): (schema: SchemaObject) => SchemaObject {
  return (schema) => {
    const { [`exclusiveM${end}`]: excluded, [`m${end}`]: included, ...rest } = schema;
    if (typeof excluded !== "number") return schema;
    const closer = typeof included === "number" && (end === "inimum" ? included > excluded : included < excluded);
    return closer ? { ...rest, [`m${end}`]: included } : { ...rest, [`m${end}`]: excluded, [`exclusiveM${end}`]: true };
  };
}

/** The type that values have in common, beside null. */
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
