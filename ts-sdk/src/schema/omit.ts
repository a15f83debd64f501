import { chosen, derive } from "./derived.ts";
import { derivedName } from "./derived-name.ts";
import type { Flat, TypeSchema } from "./object.ts";
import type { Presence } from "./schema.ts";

/**
 * A `Type` without some of another's fields: `omit(User, ["id"])`.
 *
 * @param name by default the other's with the fields: `UserWithoutId`
 * @throws TypeError at definition: for an argument that is not a `Type`, and an unknown field
 * @example
 * const NewUser = omit(User, ["id"], "NewUser");
 */
export function omit<O, K extends keyof O & string, Defaults>(
  type: TypeSchema<O, Presence, Defaults>,
  keys: readonly K[],
  name?: string,
): TypeSchema<Flat<Omit<O, K>>, "required", Exclude<Defaults, K>> {
  const named = name ?? ((of: TypeSchema) => derivedName(of.name, "Without", chosen("omit", of, keys, true)));
  return derive("omit", type, named, (fields) =>
    Object.fromEntries(chosen("omit", type, keys, false).map((key) => [key, fields[key] as (typeof fields)[string]])),
  ) as never;
}
