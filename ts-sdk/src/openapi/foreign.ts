import type { StandardSchema } from "../schema/standard.ts";
import type { Components, SchemaObject } from "./components.ts";
import { OpenApiError } from "./errors.ts";
import { translate } from "./keywords.ts";

/** Standard JSON Schema (https://standardschema.dev/json-schema): what it adds to a schema. */
interface Converter {
  input(options: { target: string }): SchemaObject;
  output(options: { target: string }): SchemaObject;
}

/** How a library's schemas come to have it. */
const HINTS: Readonly<Record<string, string>> = {
  valibot: "wrap it in toStandardJsonSchema() of @valibot/to-json-schema",
  zod: "Zod has it from 4.2 on",
};

/** Another library's schema, in OpenAPI's words. What it defines by name becomes components. */
export function foreignSchema(
  schema: StandardSchema,
  direction: "input" | "output",
  components: Components,
  at: string,
): SchemaObject {
  const { vendor } = schema["~standard"];
  const converter = converterOf(schema);
  if (converter === undefined) {
    const hint = HINTS[vendor] ?? "declare it with Type, Query or Path, or with a library that has it";
    throw new OpenApiError(`${at}: the schema, made with ${vendor}, has no Standard JSON Schema; ${hint}`);
  }
  let converted: SchemaObject;
  try {
    converted = converter[direction]({ target: "openapi-3.0" });
  } catch (error) {
    const where = `${at} ${pointerOf(culprit(schema, direction))}`;
    throw new OpenApiError(`${where}: ${vendor} can't write it for OpenAPI 3.0: ${(error as Error).message}`);
  }
  return translate(converted, direction, components, at);
}

/** The fields of a path or query that another library's schema describes. */
export function foreignProperties(
  schema: StandardSchema,
  components: Components,
  at: string,
): { name: string; required: boolean; schema: SchemaObject }[] {
  let object = foreignSchema(schema, "input", components, at) as ObjectSchema;
  if (object.$ref !== undefined) object = components.get(object.$ref.replace(/^.*\//, "")) as ObjectSchema;
  if (object.properties === undefined) throw new OpenApiError(`${at}: the schema is no object with named fields`);
  return Object.entries(object.properties).map(([name, property]) => ({
    name,
    required: object.required?.includes(name) ?? false,
    schema: property,
  }));
}

interface ObjectSchema extends SchemaObject {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
}

function converterOf(schema: unknown): Converter | undefined {
  return (schema as { "~standard"?: { jsonSchema?: Converter } })["~standard"]?.jsonSchema;
}

/**
 * The keys that lead to the field that can't be converted, as far as the library lets us look: Zod's objects have their
 * fields' schemas under `shape`, Valibot's under `entries`.
 */
function culprit(schema: unknown, direction: "input" | "output"): string[] {
  const { shape, entries } = schema as { shape?: object; entries?: object };
  for (const [key, field] of Object.entries(shape ?? entries ?? {})) {
    try {
      converterOf(field)?.[direction]({ target: "openapi-3.0" });
    } catch {
      return [key, ...culprit(field, direction)];
    }
  }
  return [];
}

function pointerOf(keys: readonly string[]): string {
  return ["#", ...keys].join("/");
}
