/** The shape of a declared body: the parts of its schema that decide which members are sent. */

import { isSchema } from "../schema/is-schema.ts";
import { isLeftOut } from "../schema/object.ts";
import type { Kind, Schema } from "../schema/schema.ts";
import type { StandardSchema } from "../schema/standard.ts";

/** The parts of a schema that decide which members are sent. */
export interface Shape {
  readonly kind: Kind;
  /** True when `null` is not sent. */
  readonly dropsNull?: boolean;
  /** The items of a list, or the values of a record. */
  readonly items?: Shape;
  readonly fields?: Readonly<Record<string, Shape>>;
  /** True when other members are sent, too. */
  readonly open?: boolean;
  readonly tag?: string;
  readonly variants?: Readonly<Record<string, Shape>>;
}

/** The shape of a declared body. */
export function shapeOf(schema: StandardSchema): Shape {
  return isSchema(schema) ? shapeOfSchema(schema) : shapeOfForeign(schema);
}

function shapeOfSchema(schema: Schema): Shape {
  const { kind, open, tag } = schema as Schema & Shape;
  const { items, fields, variants } = schema as { [K in "items" | "fields" | "variants"]?: unknown };
  const all = (given: object) =>
    Object.fromEntries(Object.entries(given).map(([key, each]) => [key, shapeOfSchema(each)]));
  return {
    kind,
    dropsNull: isLeftOut(schema),
    ...(items !== undefined && { items: shapeOfSchema(items as Schema) }),
    ...(fields !== undefined && { fields: all(fields as object) }),
    ...(variants !== undefined && { variants: all(variants as object), tag: tag as string }),
    ...(open && { open }),
  };
}

/** The part of a JSON Schema that is read here. */
interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: unknown;
}

const ANYTHING: Shape = { kind: "json" };

/**
 * The shape of another library's schema, by its Standard JSON Schema: objects that it says to be closed, as Zod does, nested and
 * in lists. All else is sent as it is.
 */
function shapeOfForeign(schema: StandardSchema): Shape {
  const { jsonSchema } = schema["~standard"] as { jsonSchema?: { output(options: object): JsonSchema } };
  try {
    const libraryOptions = { unrepresentable: "any", errorMode: "ignore" };
    const root = jsonSchema?.output({ target: "draft-2020-12", libraryOptions });
    return root === undefined ? ANYTHING : foreignShape(root, root.$defs ?? {}, []);
  } catch {
    // A schema that JSON Schema can't express is still valid.
    return ANYTHING;
  }
}

function foreignShape(given: JsonSchema, defs: NonNullable<JsonSchema["$defs"]>, outer: readonly string[]): Shape {
  const { $ref, type, anyOf, items, properties, additionalProperties } = given;
  const name = $ref?.startsWith("#/$defs/") ? $ref.slice(8) : undefined;
  // A type that holds itself has no end.
  if ($ref !== undefined) {
    const target = name === undefined || outer.includes(name) ? undefined : defs[name];
    return target === undefined ? ANYTHING : foreignShape(target, defs, [...outer, name as string]);
  }
  const [only, ...others] = anyOf?.filter((each) => each.type !== "null") ?? [];
  if (only !== undefined) return others.length === 0 ? foreignShape(only, defs, outer) : ANYTHING;
  if (type === "array" && items !== undefined) return { kind: "list", items: foreignShape(items, defs, outer) };
  if (type !== "object") return typeof type === "string" && type !== "array" ? { kind: "string" } : ANYTHING;
  if (properties === undefined || additionalProperties !== false) return ANYTHING;
  const fields = Object.entries(properties).map(([key, each]) => [key, foreignShape(each, defs, outer)] as const);
  return { kind: "object", fields: Object.fromEntries(fields) };
}
