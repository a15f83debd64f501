import { derive } from "./derived.ts";
import {
  checkFields,
  type DefaultKey,
  type Fields,
  type Flat,
  type JsonFields,
  type OutputOf,
  type TypeSchema,
} from "./object.ts";
import type { Presence } from "./schema.ts";

/** An object type with more fields, which replace earlier ones of the same name. */
export type Extended<O, F extends Fields> = Flat<Omit<O, keyof F> & OutputOf<F>>;

/**
 * A `Type` with another's fields and more: `extend(User, "Admin", { level: field.u32() })`. A field of the same name
 * replaces the other's.
 *
 * @throws TypeError at definition: for an argument that is not a `Type`, and an invalid name or field
 * @example
 * const Admin = extend(User, "Admin", { level: field.u32() });
 */
export function extend<O, F extends JsonFields, Defaults>(
  type: TypeSchema<O, Presence, Defaults>,
  name: string,
  fields: F,
): TypeSchema<Extended<O, F>, "required", Exclude<Defaults, keyof F> | DefaultKey<F>> {
  checkFields(`extend ${name}`, fields);
  return derive("extend", type, name, (own) => ({ ...own, ...fields })) as never;
}
