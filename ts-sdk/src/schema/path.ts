import type { OutputOf, PathSchema } from "./object.ts";
import { createObject, type Schema } from "./schema.ts";
import { string } from "./string.ts";

/** The fields of a `Path`: a placeholder is always present, and has one value. */
export type PathFields = Readonly<Record<string, Schema<string | number | boolean, "required">>>;

/**
 * The placeholders of a route's path: `Path("UserId", { id: field.u32() })` for `/users/{id}`. The text in the URL is
 * converted to each field's kind.
 *
 * @example
 * get("/users/{id}", { path: Path("UserId", { id: field.u32() }) }, ({ path }) => ok({ id: path.id }))
 * @throws TypeError at definition: for a field that is optional, has a default, or is not a single value.
 */
export function Path<F extends PathFields>(name: string, fields: F): PathSchema<OutputOf<F>> {
  return createObject("Path", "path", name, fields) as unknown as PathSchema<OutputOf<F>>;
}

/** The usual path: one text named `id`. */
export const Id = Path("Id", { id: string() as Schema<string, "required"> });
