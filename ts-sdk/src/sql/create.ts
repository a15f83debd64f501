import { readAssignments } from "./assignments.ts";
import { readCall, readColumns, type TableArgument } from "./call.ts";
import type { Dialect } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import type { AnyRow, Assignments, ColumnOf } from "./filter_types.ts";
import { print, type Statement } from "./print.ts";

/** The new row's columns, and beside them `returning`: the columns that the statement gives back. */
export type CreateValues<Row = AnyRow> = keyof AnyRow extends keyof Row
  ? { readonly [column: string]: Assignments<Row>[keyof Assignments<Row>] | readonly string[] }
  : Assignments<Row> & { readonly returning?: readonly ColumnOf<Row>[] };

/**
 * An INSERT of one row. No column at all gives a row of defaults.
 *
 * @param table a name, or `table(Type)`, which makes the values type-checked
 * @returns the text and its parameters, in the order written
 * @throws {SqlError} for a name or a value that is none; `undefined` is no value
 */
export function sqlCreate<Row extends object = AnyRow>(
  table: TableArgument<Row>,
  values: CreateValues<NoInfer<Row>>,
): Statement;
export function sqlCreate<Row extends object = AnyRow>(
  dialect: Dialect,
  table: TableArgument<Row>,
  values: CreateValues<NoInfer<Row>>,
): Statement;
export function sqlCreate(first: unknown, second?: unknown, third?: unknown): Statement {
  const { dialect, table, options } = readCall(first, second, third);
  const { returning, ...values } = options;
  if (Object.hasOwn(options, "returning") && returning === undefined) {
    throw new SqlError("option", "is undefined", "returning");
  }
  return print(dialect, {
    kind: "insert",
    table,
    assignments: readAssignments(values),
    returning: readColumns("returning", returning),
  });
}
