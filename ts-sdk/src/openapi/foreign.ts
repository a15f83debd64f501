import type { StandardSchema } from "../schema/standard.ts";
import type { Components, SchemaObject } from "./components.ts";
import type { OpenApiDialect } from "./dialect.ts";
import { OpenApiError } from "./errors.ts";
import {
  type Patterns,
  valibotPattern,
  writeArkTypePatterns,
  writeZodPatterns,
  type ZodSchema,
} from "./foreign-patterns.ts";
import { translate } from "./keywords.ts";

/** The part of Standard JSON Schema (https://standardschema.dev/json-schema) that a schema adds. */
interface Converter {
  input(options: ConverterOptions): SchemaObject;
  output(options: ConverterOptions): SchemaObject;
}

interface ConverterOptions {
  readonly target: string;
  readonly libraryOptions?: object | undefined;
}

/** Options for single libraries. */
const OPTIONS: Readonly<Record<string, object>> = {
  // Without these, ArkType describes a type that JSON Schema lacks, such as Date, as any value.
  arktype: { fallback: { date: refuse, domain: refuse, proto: refuse, symbolKey: refuse, arrayObject: refuse, unit } },
  valibot: { overrideAction: valibotPattern },
  zod: { override },
};

/** Hints for a library whose schemas lack Standard JSON Schema. */
const HINTS: Readonly<Record<string, string>> = {
  arktype: "ArkType has it from 2.1.28 on",
  valibot: "wrap it in toStandardJsonSchema() of @valibot/to-json-schema",
  zod: "Zod has it from 4.2 on",
};

/** Converts another library's schema to OpenAPI. Its named definitions become components. */
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
    converted = convert(converter, vendor, direction, components.dialect);
    if (vendor === "arktype") writeArkTypePatterns((schema as { json?: unknown }).json, converted);
  } catch (error) {
    const where = `${at} ${pointerOf(culprit(schema, vendor, direction, components.dialect))}`;
    throw new OpenApiError(
      `${where}: ${vendor} can't write it for ${components.dialect.name}: ${(error as Error).message}`,
    );
  }
  return translate(converted, { direction, vendor }, components, at);
}

/** @throws Error with the library's reasons when it can write it for no target */
function convert(
  converter: Converter,
  vendor: string,
  direction: "input" | "output",
  dialect: OpenApiDialect,
): SchemaObject {
  const reasons = new Set<string>();
  for (const target of dialect.targets) {
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

/**
 * Refuses all single values of ArkType but `undefined`, which JSON never has, and with which a field may be declared.
 */
function unit(context: { readonly code: string; readonly unit: unknown }): SchemaObject {
  return context.unit === undefined ? { not: {} } : refuse(context);
}

/**
 * Writes patterns without flags, and removes "readOnly" from the JSON Schema of Zod's `.readonly()`; that of
 * `.meta({ readOnly: true })` stays. `.readonly()` is about TypeScript, but "readOnly" tells clients to send no such property.
 */
function override({ zodSchema, jsonSchema }: ZodContext): void {
  if (zodSchema._zod.def.type === "readonly") delete jsonSchema.readOnly;
  writeZodPatterns(zodSchema, jsonSchema);
}

interface ZodContext {
  readonly zodSchema: ZodSchema;
  readonly jsonSchema: Patterns & { readOnly?: boolean };
}

/** The fields of a path or query that another library's schema describes. */
export function foreignProperties(
  schema: StandardSchema,
  components: Components,
  at: string,
): { name: string; required: boolean; schema: SchemaObject }[] {
  const objects = partsOf(foreignSchema(schema, "input", components, at), components);
  if (objects.every(({ properties }) => properties === undefined)) {
    throw new OpenApiError(`${at}: the schema is not an object with named fields`);
  }
  const required = new Set(objects.flatMap((object) => object.required ?? []));
  const fields = new Map(objects.flatMap(({ properties = {} }) => Object.entries(properties)));
  return [...fields].map(([name, property]) => ({ name, required: required.has(name), schema: property }));
}

/** The objects that a schema combines: itself, and the branches of an intersection. */
function partsOf(schema: ObjectSchema, components: Components): ObjectSchema[] {
  const { $ref } = schema;
  const object: ObjectSchema = $ref === undefined ? schema : (components.get($ref.replace(/^.*\//, "")) ?? {});
  return [object, ...(object.allOf ?? []).flatMap((branch) => partsOf(branch, components))];
}

interface ObjectSchema extends SchemaObject {
  readonly $ref?: string;
  readonly allOf?: readonly ObjectSchema[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
}

function converterOf(schema: unknown): Converter | undefined {
  return (schema as { "~standard"?: { jsonSchema?: Converter } })["~standard"]?.jsonSchema;
}

/** The path of the field that can't be converted, as far as the library exposes its fields. */
function culprit(schema: unknown, vendor: string, direction: "input" | "output", dialect: OpenApiDialect): string[] {
  for (const [key, field] of fieldsOf(schema)) {
    const converter = converterOf(field);
    try {
      if (converter !== undefined) convert(converter, vendor, direction, dialect);
    } catch {
      return [key, ...culprit(field, vendor, direction, dialect)];
    }
  }
  return [];
}

/** The fields of an object schema: Zod has them under `shape`, Valibot under `entries`, ArkType in the list `props`. */
function fieldsOf(schema: unknown): (readonly [key: string, field: unknown])[] {
  const { shape, entries } = schema as { shape?: object; entries?: object };
  try {
    const { props = [] } = schema as { props?: readonly { key: PropertyKey; value: unknown }[] };
    return [...Object.entries(shape ?? entries ?? {}), ...props.map(({ key, value }) => [String(key), value] as const)];
  } catch {
    // ArkType's unions throw here.
    return [];
  }
}

function pointerOf(keys: readonly string[]): string {
  return ["#", ...keys].join("/");
}
