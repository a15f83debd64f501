/** `sqlDelete`: DELETE. */
import type { All } from "./all.ts";
import { readCall, readColumns, refuseUnknown, type TableArgument } from "./call.ts";
import type { Dialect } from "./dialect.ts";
import type { AnyRow, ColumnOf, Filter, InterfaceCall } from "./filter-types.ts";
import { print, type Statement } from "./print.ts";
import { readRequired } from "./where.ts";

/** Options of `sqlDelete`. */
export interface DeleteOptions<Row = AnyRow> {
  /** The rows to delete; `all` for every row. */
  readonly filter: Filter<Row> | All;
  /** Columns that the statement returns of each deleted row. */
  readonly returning?: readonly ColumnOf<Row>[];
}

const OPTIONS: ReadonlySet<string> = new Set<keyof DeleteOptions>(["filter", "returning"]);

// First, because the compiler explains the last of several failing overloads.
/** A DELETE on unknown columns whose filter is an interface. */
export function sqlDelete<F extends object, D extends Dialect>(...call: InterfaceCall<DeleteOptions, F, D>): Statement;
/**
 * A DELETE.
 *
 * @param table a name, or `table(Type)`, which makes the filter type-checked
 * @returns the text and its parameters
 * @throws {FilterError} when `filter` is refused
 * @throws {SqlError} `filter` without one, or with an empty one
 */
export function sqlDelete<Row extends object = AnyRow>(
  table: TableArgument<Row>,
  options: DeleteOptions<NoInfer<Row>>,
): Statement;
export function sqlDelete<Row extends object = AnyRow>(
  dialect: Dialect,
  table: TableArgument<Row>,
  options: DeleteOptions<NoInfer<Row>>,
): Statement;
export function sqlDelete(first: unknown, second?: unknown, third?: unknown): Statement {
  const call = readCall(first, second, third);
  refuseUnknown(call.options, OPTIONS);
  return print(call.dialect, {
    kind: "delete",
    table: call.table,
    where: readRequired(call),
    returning: readColumns("returning", call.options.returning),
  });
}
