import { type Attributes, type CheckAttribute, checkObjectOptions } from "./attributes.ts";
import type { DefaultKey, JsonFields, OutputOf, TypeSchema } from "./object.ts";
import { createObject } from "./schema.ts";

/**
 * A JSON object with named fields, for request and response bodies. Its name is also that of its component in the
 * OpenAPI document. A `Type` may be a field of another, and the item of a `list`.
 *
 * @param options `check` is a rule of the program's own for a whole object: returns undefined, or the expectation
 * @example
 * const User = Type("User", { id: field.u32(), name: field.string({ max: 100 }), email: field.string({ format: "email" }).optional() });
 * @throws TypeError at definition: for an invalid name, field or option.
 */
export function Type<F extends JsonFields>(
  name: string,
  fields: F,
  options?: CheckAttribute<OutputOf<F>>,
): TypeSchema<OutputOf<F>, "required", DefaultKey<F>> {
  if (options) checkObjectOptions(`Type ${name}`, options);
  return createObject("Type", "type", name, fields, options as unknown as Attributes) as never;
}
