import type { DefaultKey, JsonFields, OutputOf, TypeSchema } from "./object.ts";
import { createObject } from "./schema.ts";

/**
 * A JSON object with named fields, for request and response bodies. Its name is also that of its component in the
 * OpenAPI document. A `Type` may be a field of another, and the item of a `list`.
 *
 * @throws TypeError at definition: for an invalid name or field.
 */
export function Type<F extends JsonFields>(
  name: string,
  fields: F,
): TypeSchema<OutputOf<F>, "required", DefaultKey<F>> {
  return createObject("Type", "type", name, fields) as never;
}
