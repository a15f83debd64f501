import { derive } from "./derived.ts";
import type { Flat, TypeSchema } from "./object.ts";
import { createSchema, type Schema } from "./schema.ts";

/** An object whose fields may all be absent. */
export type PartialOf<O> = Flat<{ [K in keyof O]?: O[K] | undefined }>;

/**
 * A `Type` whose fields may all be absent, as for the body of a PATCH: `partial(User)`. Defaults are dropped, because
 * they would overwrite fields that a caller leaves out. Fields of nested objects stay as they are.
 *
 * @param name by default `Partial<name>`: `PartialUser`
 * @throws TypeError at definition: for an argument that is not a `Type`
 * @example
 * patch("/users/{id}", { body: partial(User), response: User }, ({ body }) => ok(change(body)))
 */
export function partial<O>(type: TypeSchema<O>, name?: string): TypeSchema<PartialOf<O>, "required", never> {
  const named = name ?? ((of: TypeSchema) => `Partial${of.name}`);
  return derive("partial", type, named, (fields) =>
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, withoutDefault(field).optional()])),
  ) as never;
}

function withoutDefault(field: Schema): Schema {
  if (field.presence !== "default") return field;
  const { kind, attributes, takesNull, parsers, ...rest } = field;
  const { presence: _p, optional: _o, nullable: _u, nullish: _i, "~standard": _s, ...extra } = rest;
  const { default: _default, ...others } = attributes;
  return createSchema("partial", { ...parsers, kind, attributes: others, takesNull, extra });
}
