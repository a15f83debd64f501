import fc from "fast-check";
import { field, list, oneOf, record, type Schema, Type, type TypeSchema } from "../../src/index.ts";

/** A schema, and values of its type in JSON. */
export interface Sample {
  readonly schema: Schema<unknown, "required">;
  readonly valid: fc.Arbitrary<unknown>;
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const codePoints = (value: string) => [...value].length;
const bounds = (least: number, most: number) =>
  fc
    .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
    .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));

const texts: fc.Arbitrary<Sample> = bounds(0, 20).map(({ min, max }) => ({
  schema: field.string({ min, max }),
  valid: fc
    .string({ unit: "binary", minLength: min, maxLength: max })
    .filter((value) => codePoints(value) >= min && codePoints(value) <= max),
}));
const wholes: fc.Arbitrary<Sample> = fc
  .tuple(fc.constantFrom("u32" as const, "i32" as const, "i64" as const), bounds(0, 2 ** 31 - 1))
  .map(([kind, { min, max }]) => ({ schema: field[kind]({ min, max }), valid: fc.integer({ min, max }) }));
const fractions: fc.Arbitrary<Sample> = fc.constant({
  schema: field.f64(),
  valid: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
});
const bools: fc.Arbitrary<Sample> = fc.constant({ schema: field.bool(), valid: fc.boolean() });
const enums: fc.Arbitrary<Sample> = fc
  .uniqueArray(text, { minLength: 1, maxLength: 4 })
  .map((words) => ({ schema: field.enum(...words), valid: fc.constantFrom(...words) }));

/** Schemas of a single value. */
export const scalar: fc.Arbitrary<Sample> = fc.oneof(texts, wholes, fractions, bools, enums);

const key = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((name) => name !== "__proto__");

/** An object's schema with its values, without the keys in `left`. */
function objects(
  any: fc.Arbitrary<Sample>,
  left: string,
): fc.Arbitrary<Sample & { readonly schema: TypeSchema<unknown, "required"> }> {
  const entries = fc.array(fc.tuple(key, any, fc.boolean()), { maxLength: 4 });
  return entries.map((given) => {
    const fields: Record<string, Schema> = {};
    const valid: Record<string, fc.Arbitrary<unknown>> = {};
    const required: string[] = [];
    for (const [name, one, optional] of new Map(given.map((entry) => [entry[0], entry])).values()) {
      if (name === left) continue;
      // Null counts as absent there, unless it is a value.
      fields[name] = optional ? one.schema.optional() : one.schema;
      valid[name] = one.valid;
      if (!optional) required.push(name);
    }
    return { schema: Type("T", fields), valid: fc.record(valid, { requiredKeys: required }) };
  });
}

/** Schemas of any shape, nested a few levels deep. */
export const anySchema: fc.Arbitrary<Sample> = fc.letrec<Record<ShapeName, Sample>>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    tie("list"),
    tie("object"),
    tie("nullable"),
    tie("record"),
    tie("union"),
    tie("json"),
  ),
  list: tie("any").map(({ schema, valid }) => ({
    schema: list(schema, { max: 3 }),
    valid: fc.array(valid, { maxLength: 3 }),
  })),
  object: objects(tie("any"), ""),
  nullable: tie("any").map(({ schema, valid }) => ({ schema: schema.nullable(), valid: fc.option(valid) })),
  // "__proto__" is left out, because fast-check makes objects with literals; the tables have it.
  record: tie("any").map(({ schema, valid }) => ({
    schema: record(schema, { max: 3 }),
    valid: fc.dictionary(key, valid, { maxKeys: 3, noNullPrototype: true }),
  })),
  union: fc
    .tuple(key, fc.uniqueArray(key, { minLength: 1, maxLength: 3 }))
    .chain(([tag, words]) =>
      fc.tuple(fc.constant(tag), fc.constant(words), fc.tuple(...words.map(() => objects(tie("any"), tag)))),
    )
    .map(([tag, words, types]) => ({
      schema: oneOf(
        tag,
        Object.fromEntries(words.map((word, i) => [word, types[i]?.schema as TypeSchema<unknown, "required">])),
      ),
      valid: fc.oneof(
        ...words.map((word, i) => (types[i] as Sample).valid.map((value) => ({ ...(value as object), [tag]: word }))),
      ),
    })),
  json: fc.constant({ schema: field.json(), valid: fc.jsonValue({ maxDepth: 2 }) }),
})).any;

type ShapeName = "any" | "list" | "object" | "nullable" | "record" | "union" | "json";

/** A value of any kind that JSON can have. */
export const anyJson = fc.jsonValue({ maxDepth: 4 });
