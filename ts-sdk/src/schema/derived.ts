import type { Fields, TypeSchema } from "./object.ts";
import { createObject, isSchema } from "./schema.ts";

/**
 * Makes a `Type` from another one's fields.
 *
 * @throws TypeError when the other is not a `Type`
 */
export function derive(
  label: string,
  type: TypeSchema,
  name: string | ((of: TypeSchema) => string),
  choose: (fields: Fields) => Fields,
): TypeSchema {
  if (!isSchema(type) || type.role !== "type") throw new TypeError(`${label}: the first argument must be a Type`);
  const fields = choose(type.fields);
  return createObject(label, "type", typeof name === "function" ? name(type) : name, fields) as TypeSchema;
}

/**
 * Checks a list of field names.
 *
 * @returns the names of the fields in the Type's own order that are in the list, or those that are not
 */
export function chosen(label: string, { name, fields }: TypeSchema, keys: unknown, wanted: boolean): string[] {
  const known = Object.keys(fields);
  if (!Array.isArray(keys)) throw new TypeError(`${label} ${name}: the second argument must be a list of field names`);
  for (const key of keys) {
    if (!known.includes(key)) {
      throw new TypeError(`${label} ${name}: there is no field ${JSON.stringify(key)} (known: ${known.join(", ")})`);
    }
  }
  return known.filter((key) => keys.includes(key) === wanted);
}
