import type { Assignment } from "./ast.ts";
import { SqlError } from "./errors.ts";
import { isValue } from "./value.ts";

/**
 * The columns and values of INSERT and SET, in the order written.
 *
 * @throws {SqlError} `value` for what is no parameter, `undefined` among it: to leave a column out, leave it out
 */
export function readAssignments(values: Record<string, unknown>): Assignment[] {
  return Object.keys(values).map((column) => {
    const value = values[column];
    if (isValue(value)) return { column, value };
    throw new SqlError("value", value === undefined ? "is undefined" : "cannot be a parameter", column);
  });
}
