/** `sqlUpdate`: UPDATE. */
import type { All } from "./all.ts";
import { readAssignments } from "./assignments.ts";
import { readCall, readColumns, refuseUnknown, type TableArgument } from "./call.ts";
import type { Dialect } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import { isPlainObject } from "./filter.ts";
import type { AnyRow, Assignments, ColumnOf, Filter, InterfaceCall } from "./filter-types.ts";
import { print, type Statement } from "./print.ts";
import { readRequired } from "./where.ts";

/** Options of `sqlUpdate`. */
export interface UpdateOptions<Row = AnyRow> {
  /** The new values; at least one. */
  readonly set: Assignments<Row>;
  /** The rows to change; `all` for every row. */
  readonly filter: Filter<Row> | All;
  /** Columns that the statement returns of each changed row. */
  readonly returning?: readonly ColumnOf<Row>[];
}

const OPTIONS: ReadonlySet<string> = new Set<keyof UpdateOptions>(["set", "filter", "returning"]);

// First, because the compiler explains the last of several failing overloads.
/** An UPDATE on unknown columns whose filter is an interface. */
export function sqlUpdate<F extends object, D extends Dialect>(...call: InterfaceCall<UpdateOptions, F, D>): Statement;
/**
 * An UPDATE.
 *
 * @param table a name, or `table(Type)`, which makes the options type-checked
 * @returns the text and its parameters: those of `set` first, then those of `filter`
 * @throws {FilterError} when `filter` is refused
 * @throws {SqlError} `filter` without one, or with an empty one; other codes for other invalid options
 */
export function sqlUpdate<Row extends object = AnyRow>(
  table: TableArgument<Row>,
  options: UpdateOptions<NoInfer<Row>>,
): Statement;
export function sqlUpdate<Row extends object = AnyRow>(
  dialect: Dialect,
  table: TableArgument<Row>,
  options: UpdateOptions<NoInfer<Row>>,
): Statement;
export function sqlUpdate(first: unknown, second?: unknown, third?: unknown): Statement {
  const call = readCall(first, second, third);
  refuseUnknown(call.options, OPTIONS);
  const { set, returning } = call.options;
  if (!isPlainObject(set) || Object.keys(set).length === 0) {
    throw new SqlError("option", "must have at least one column with its value", "set");
  }
  return print(call.dialect, {
    kind: "update",
    table: call.table,
    assignments: readAssignments(set),
    where: readRequired(call),
    returning: readColumns("returning", returning),
  });
}
