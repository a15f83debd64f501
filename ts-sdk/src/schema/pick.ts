import { chosen, derive } from "./derived.ts";
import { derivedName } from "./derived-name.ts";
import type { Flat, TypeSchema } from "./object.ts";
import type { Presence } from "./schema.ts";

/**
 * A `Type` of some of another's fields: `pick(User, ["id", "name"])`.
 *
 * @param name by default the other's with the fields: `UserIdAndName`
 * @throws TypeError at definition: for an argument that is not a `Type`, and an unknown field
 * @example
 * const Name = pick(User, ["id", "name"]);
 */
export function pick<O, K extends keyof O & string, Defaults>(
  type: TypeSchema<O, Presence, Defaults>,
  keys: readonly K[],
  name?: string,
): TypeSchema<Flat<Pick<O, K>>, "required", Extract<Defaults, K>> {
  const picked = (of: TypeSchema) => chosen("pick", of, keys, true);
  const named = name ?? ((of: TypeSchema) => derivedName(of.name, "", picked(of)));
  return derive("pick", type, named, (fields) =>
    Object.fromEntries(picked(type).map((key) => [key, fields[key] as (typeof fields)[string]])),
  ) as never;
}
