/** `sqlCount`: SELECT COUNT. */
import { readCall, refuseUnknown, type TableArgument } from "./call.ts";
import { FILTER_OPTIONS, type FilterOptions, readConditions } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import type { AnyRow, InterfaceCall } from "./filter-types.ts";
import { print, type Statement } from "./print.ts";

/** The rows that `sqlCount` counts; every row without a filter. */
export interface CountOptions<Row = AnyRow> extends FilterOptions<Row> {}

const OPTIONS: ReadonlySet<string> = new Set(FILTER_OPTIONS);

// First, because the compiler explains the last of several failing overloads.
/** A SELECT of the number of rows on unknown columns whose filter is an interface. */
export function sqlCount<F extends object, D extends Dialect>(...call: InterfaceCall<CountOptions, F, D>): Statement;
/**
 * A SELECT of the number of rows as `count`, for the `total` of `pageInfo`.
 *
 * PostgreSQL counts in 64 bits, which its drivers return as a text: `Number(row.count)`.
 *
 * @param table a name, or `table(Type)`, which makes the options type-checked
 * @returns the text and its parameters: those of `filter`, then of `merge`
 * @throws {FilterError} when `filter` or `merge` is refused
 * @throws {SqlError} when another option is wrong
 */
export function sqlCount<Row extends object = AnyRow>(
  dialect: Dialect,
  table: TableArgument<Row>,
  options?: CountOptions<NoInfer<Row>>,
): Statement;
export function sqlCount<Row extends object = AnyRow>(
  table: TableArgument<Row>,
  options?: CountOptions<NoInfer<Row>>,
): Statement;
export function sqlCount(first: unknown, second?: unknown, third?: unknown): Statement {
  const call = readCall(first, second, third);
  refuseUnknown(call.options, OPTIONS);
  return print(call.dialect, { kind: "count", table: call.table, where: readConditions(call, 0) });
}
