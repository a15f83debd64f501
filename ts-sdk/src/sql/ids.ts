import { SqlError } from "./errors.ts";
import { isValue, type Value } from "./value.ts";

/**
 * The ids that a field can contain; any value for a row of unknown types. Lists and objects are excluded, because they
 * throw.
 */
type IdOf<T> = unknown extends T ? Exclude<Value, null> : Exclude<Extract<T, Value>, null>;

/**
 * The values of a field of each row, for an `$in`: distinct, in the order of their first row. NULLs are left out,
 * because in an `$in` they would find the rows without an id.
 *
 * @param field `id` when omitted
 * @throws {SqlError} `value` when a row lacks the field, or has an object there
 */
export function ids<Row extends object, Field extends Extract<keyof Row, string>>(
  rows: readonly Row[],
  field: Field,
): IdOf<Row[Field]>[];
export function ids<Row extends { readonly id?: unknown }>(rows: readonly Row[]): IdOf<Row["id"]>[];
export function ids(rows: readonly object[], field = "id"): unknown[] {
  if (!Array.isArray(rows)) throw new SqlError("value", "must be a column of a list of rows", field);
  const found = new Set<Value>();
  for (const row of rows) {
    const value: unknown =
      typeof row === "object" && row !== null && Object.hasOwn(row, field)
        ? (row as Record<string, unknown>)[field]
        : undefined;
    if (!isValue(value)) throw new SqlError("value", "a row has no such single value", field);
    if (value !== null) found.add(value);
  }
  return [...found];
}
