/** `sqlRead`: SELECT. */
import type { Condition, OrderTerm } from "./ast.ts";
import {
  type RawOptions,
  readCall,
  readColumns,
  refuseUnknown,
  type StatementCall,
  type TableArgument,
} from "./call.ts";
import { FILTER_OPTIONS, type FilterOptions, readConditions } from "./conditions.ts";
import { Cursor } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { CursorError, SqlError } from "./errors.ts";
import type { AnyRow, ColumnOf, InterfaceCall } from "./filter-types.ts";
import { keyset } from "./keyset.ts";
import { readStored } from "./kind.ts";
import { readOrder, reversed } from "./order.ts";
import { countParams } from "./param-count.ts";
import { print, type Statement } from "./print.ts";
import { isWellFormed } from "./text.ts";
import type { Value } from "./value.ts";

/** Options of `sqlRead`. All are trusted, except `merge`, `after` and `before`. */
export interface ReadOptions<Row = AnyRow> extends FilterOptions<Row> {
  /** The columns; `*` when omitted. */
  readonly select?: readonly ColumnOf<Row>[] | undefined;
  /** Columns to order by, `-` in front for descending. */
  readonly order?: OrderOf<Row> | readonly OrderOf<Row>[] | undefined;
  /**
   * A unique column without NULLs, such as a primary key; appended to `order` unless it is there. It makes the order
   * total, and so pages exact.
   */
  readonly key?: ColumnOf<Row> | undefined;
  /** The limit of rows; a positive integer. */
  readonly limit?: number | undefined;
  /** The page of `limit` rows, counted from 1. */
  readonly page?: number | undefined;
  /** A cursor's text: rows after it in the order. No condition when undefined or null. */
  readonly after?: string | null | undefined;
  /** A cursor's text: rows before it, **nearest first**: `pageInfo` reverses them. */
  readonly before?: string | null | undefined;
  /** Columns that never have NULL, which need no `OR … IS NULL` beside a cursor. `table(Type)` knows them. */
  readonly notNull?: readonly ColumnOf<Row>[] | undefined;
}

/** A column to order by. */
export type OrderOf<Row> = ColumnOf<Row> | `-${ColumnOf<Row>}`;

const OPTIONS: ReadonlySet<string> = new Set<keyof ReadOptions>([
  ...FILTER_OPTIONS,
  ...(["select", "order", "key", "limit", "page", "after", "before", "notNull"] as const),
]);

// The compiler explains the last of several failing overloads, and most options are misspelt in the form without a
// dialect. (The other statements need no such order of these two, because their options cannot be left out.)
/** A SELECT on unknown columns whose filter is an interface. */
export function sqlRead<F extends object, D extends Dialect>(...call: InterfaceCall<ReadOptions, F, D>): Statement;
/**
 * A SELECT.
 *
 * @param table a name, or `table(Type)`, which makes the options type-checked
 * @example
 * const [sql, params] = sqlRead(sqlite, "users", { select: ["id", "name"], filter: { age: { $gte: 18 } }, order: "-id", limit: 20 });
 * @returns the text and its parameters: those of `filter`, then of `merge`, then of the cursor
 * @throws {FilterError} when `filter` or `merge` is refused
 * @throws {CursorError} when `after` or `before` is not a cursor of this order
 * @throws {SqlError} when another option is invalid
 */
export function sqlRead<Row extends object = AnyRow>(
  dialect: Dialect,
  table: TableArgument<Row>,
  options?: ReadOptions<NoInfer<Row>>,
): Statement;
/**
 * A SELECT for PostgreSQL; with a dialect as first argument for another one.
 *
 * @example
 * const [sql, params] = sqlRead("users", { select: ["id", "name"], filter: { age: { $gte: 18 } }, order: "-id", limit: 20 });
 */
export function sqlRead<Row extends object = AnyRow>(
  table: TableArgument<Row>,
  options?: ReadOptions<NoInfer<Row>>,
): Statement;
export function sqlRead(first: unknown, second?: unknown, third?: unknown): Statement {
  const call = readCall(first, second, third);
  const { options, dialect } = call;
  refuseUnknown(options, OPTIONS);
  const limit = readCount("limit", options.limit);
  const offset = readOffset(options.page, limit);
  const place = readPlace(options);
  const forward = readOrder(options.order, options.key);
  const order = place?.backward ? reversed(forward) : forward;
  const neverNull = columnsWithoutNull(call);
  const where = readWhere(call, order, neverNull, place?.cursor);
  return print(dialect, {
    kind: "select",
    table: call.table,
    columns: readColumns("select", options.select),
    where,
    order: dialect.portable ? withNulls(order, dialect, neverNull) : order,
    limit,
    offset,
  });
}

function readWhere(
  call: StatementCall,
  order: readonly OrderTerm[],
  neverNull: (column: string) => boolean,
  cursor: Cursor | undefined,
): Condition | undefined {
  const values = cursor === undefined ? undefined : readPosition(call, order, cursor);
  const after = values === undefined ? undefined : keyset(order, values, call.dialect, neverNull);
  return joinAll(readConditions(call, countParams(values ?? [])), after);
}

function joinAll(filter: Condition | undefined, place: Condition | undefined): Condition | undefined {
  if (filter === undefined || place === undefined) return filter ?? place;
  return { kind: "all", items: [filter, place] };
}

interface CursorPosition {
  readonly cursor: Cursor;
  readonly backward: boolean;
}

function readPlace({ after, before, page }: RawOptions): CursorPosition | undefined {
  const text = after ?? before;
  if (text === undefined || text === null) return undefined;
  if (after !== undefined && after !== null && before !== undefined && before !== null) {
    throw new SqlError("option", "must come with after or before, not both", "before");
  }
  if (page !== undefined) throw new SqlError("option", "must not come with a cursor", "page");
  return { cursor: Cursor.decode(text as string), backward: text !== after };
}

/** The cursor's values, as parameters: one for each term of the order. */
function readPosition(
  { dialect, columns }: StatementCall,
  order: readonly OrderTerm[],
  cursor: Cursor,
): readonly Value[] {
  if (order.length === 0) throw new SqlError("option", "must be given with a cursor", "order");
  const given = cursor.values(order);
  const values: Value[] = [];
  for (let i = 0; i < order.length; i++) {
    const { column } = order[i] as OrderTerm;
    const value = given[i] as Value;
    const kind = columns.get(column)?.kind;
    const fits = typeof value !== "string" || isWellFormed(value, dialect);
    const stored = kind === undefined ? value : readStored(kind, value, dialect);
    if (!fits || stored === undefined) throw new CursorError("value", "is not a value of this column", column);
    values.push(stored);
  }
  return values;
}

function columnsWithoutNull({ options, columns }: StatementCall): (column: string) => boolean {
  const notNull = readColumns("notNull", options.notNull);
  return (column) => column === options.key || notNull.includes(column) || columns.get(column)?.nullable === false;
}

/** The order with the place of NULLs where there may be some: elsewhere it would keep SQLite from using an index. */
function withNulls(
  order: readonly OrderTerm[],
  { nullsAreLargest }: Dialect,
  neverNull: (column: string) => boolean,
): readonly OrderTerm[] {
  return order.map((term): OrderTerm => {
    if (neverNull(term.column)) return term;
    return { ...term, nulls: term.descending === nullsAreLargest ? "FIRST" : "LAST" };
  });
}

function readOffset(page: unknown, limit: number | undefined): number | undefined {
  const number = readCount("page", page);
  if (number === undefined) return undefined;
  if (limit === undefined) throw new SqlError("option", "must come with a limit", "page");
  const offset = (number - 1) * limit;
  if (!Number.isSafeInteger(offset)) throw new SqlError("option", "is too far", "page");
  return offset;
}

function readCount(option: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
    throw new SqlError("option", "must be a positive integer", option);
  }
  return value;
}
