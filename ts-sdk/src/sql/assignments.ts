import type { Assignment } from "./ast.ts";
import { SqlError } from "./errors.ts";
import { isValue, type Value } from "./value.ts";

/**
 * The columns and values of INSERT and SET, in the order written.
 *
 * @throws {SqlError} `value` for a value that can't be a parameter, including `undefined`: to leave a column out, omit
 *   its key
 */
export function readAssignments(values: Record<string, unknown>): Assignment[] {
  const assignments: Assignment[] = [];
  const columns = Object.keys(values);
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as string;
    assignments.push({ column, value: readValue(column, values[column]) });
  }
  return assignments;
}

/** @throws {SqlError} as {@link readAssignments} */
export function readValue(column: string, value: unknown): Value {
  if (isValue(value)) return value;
  throw new SqlError("value", value === undefined ? "is undefined" : "cannot be a parameter", column);
}
