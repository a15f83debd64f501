import type { StandardSchema } from "../schema/standard.ts";
import type { Components, SchemaObject } from "./components.ts";
import { OpenApiError } from "./errors.ts";
import { translate } from "./keywords.ts";

/** Standard JSON Schema (https://standardschema.dev/json-schema): what it adds to a schema. */
interface Converter {
  input(options: ConverterOptions): SchemaObject;
  output(options: ConverterOptions): SchemaObject;
}

interface ConverterOptions {
  readonly target: string;
  readonly libraryOptions?: object | undefined;
}

/** What a library is asked for, one after another, until it can: the drafts' words are translated then. */
const TARGETS = ["openapi-3.0", "draft-07", "draft-2020-12"];

/** What a library is told besides. */
const OPTIONS: Readonly<Record<string, object>> = {
  // By itself it describes what JSON Schema can't, such as a Date, as anything at all.
  arktype: { fallback: { date: refuse, domain: refuse, proto: refuse, symbolKey: refuse, arrayObject: refuse, unit } },
};

/** How a library's schemas come to have it. */
const HINTS: Readonly<Record<string, string>> = {
  arktype: "ArkType has it from 2.1.28 on",
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
    converted = convert(converter, vendor, direction);
  } catch (error) {
    const where = `${at} ${pointerOf(culprit(schema, vendor, direction))}`;
    throw new OpenApiError(`${where}: ${vendor} can't write it for OpenAPI 3.0: ${(error as Error).message}`);
  }
  return translate(converted, { direction, vendor }, components, at);
}

/** @throws Error with the library's reasons when it can write it for no target */
function convert(converter: Converter, vendor: string, direction: "input" | "output"): SchemaObject {
  const reasons = new Set<string>();
  for (const target of TARGETS) {
    try {
      return converter[direction]({ target, libraryOptions: OPTIONS[vendor] });
    } catch (error) {
      reasons.add((error as Error).message);
    }
  }
  throw new Error([...reasons].join("; "));
}

function refuse({ code }: { readonly code: string }): never {
  throw new TypeError(`JSON has no values for it (${code})`);
}

/** Of ArkType's single values, `undefined` is one that JSON never has, and that a field may be declared with. */
function unit(context: { readonly code: string; readonly unit: unknown }): SchemaObject {
  return context.unit === undefined ? { not: {} } : refuse(context);
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

/** The keys that lead to the field that can't be converted, as far as the library lets us look. */
function culprit(schema: unknown, vendor: string, direction: "input" | "output"): string[] {
  for (const [key, field] of fieldsOf(schema)) {
    const converter = converterOf(field);
    try {
      if (converter !== undefined) convert(converter, vendor, direction);
    } catch {
      return [key, ...culprit(field, vendor, direction)];
    }
  }
  return [];
}

/** Zod's objects have their fields' schemas under `shape`, Valibot's under `entries`, ArkType's in the list `props`. */
function fieldsOf(schema: unknown): (readonly [key: string, field: unknown])[] {
  const { shape, entries } = schema as { shape?: object; entries?: object };
  try {
    const { props = [] } = schema as { props?: readonly { key: PropertyKey; value: unknown }[] };
    return [...Object.entries(shape ?? entries ?? {}), ...props.map(({ key, value }) => [String(key), value] as const)];
  } catch {
    // What ArkType's unions do when they are asked.
    return [];
  }
}

function pointerOf(keys: readonly string[]): string {
  return ["#", ...keys].join("/");
}
