/** `sqlCreate`: INSERT. */
import { readValue } from "./assignments.ts";
import type { InsertNode } from "./ast.ts";
import { isDialect, readColumns, readTable, refuseUnknown, type TableArgument } from "./call.ts";
import { type OnConflict, readConflict } from "./conflict.ts";
import { type Dialect, postgres } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import { isPlainObject } from "./filter.ts";
import type { AnyRow, Assignments, ColumnOf } from "./filter-types.ts";
import { print, type Statement } from "./print.ts";
import type { Value } from "./value.ts";

/** Options of an INSERT besides its rows. */
export interface CreateOptions<Row = AnyRow> {
  /** Columns that the statement returns of each inserted or changed row. */
  readonly returning?: readonly ColumnOf<Row>[];
  /** The action when a row with the same values in a unique index exists; by default an error. */
  readonly onConflict?: OnConflict<Row>;
}

/** The new row's columns, together with {@link CreateOptions}. */
export type CreateValues<Row = AnyRow> = keyof AnyRow extends keyof Row
  ? { readonly [column: string]: Assignments<Row>[keyof Assignments<Row>] | readonly string[] | OnConflict }
  : Assignments<Row> & CreateOptions<Row>;

const OPTIONS: ReadonlySet<string> = new Set<keyof CreateOptions>(["returning", "onConflict"]);

/** One row with the options beside its columns, or a list of rows. */
export type CreateRows<Row = AnyRow> = CreateValues<Row> | readonly Assignments<Row>[];

/**
 * An INSERT of one row or of a list of rows. A single row may have `returning` and `onConflict` beside its columns; for
 * a list they are the last argument. A row without columns inserts the defaults.
 *
 * @param table a name, or `table(Type)`, which makes the values type-checked
 * @param rows a row, or a list of at least one; all have the same columns
 * @param options with it, all keys of a single row are columns, as in a list of one
 * @returns the text and its parameters, in the order written: those of the rows, then those of `onConflict`
 * @throws {SqlError} for an invalid name or value (including `undefined`), rows that differ in their columns, and
 *   invalid options
 */
export function sqlCreate<Row extends object = AnyRow>(
  table: TableArgument<Row>,
  rows: CreateRows<NoInfer<Row>>,
  options?: CreateOptions<NoInfer<Row>>,
): Statement;
export function sqlCreate<Row extends object = AnyRow>(
  dialect: Dialect,
  table: TableArgument<Row>,
  rows: CreateRows<NoInfer<Row>>,
  options?: CreateOptions<NoInfer<Row>>,
): Statement;
export function sqlCreate(...given: unknown[]): Statement {
  const dialect = isDialect(given[0]) ? given[0] : postgres;
  const [target, rows = {}, options] = isDialect(given[0]) ? given.slice(1) : given;
  const { table } = readTable(target);
  if (Array.isArray(rows)) return print(dialect, readRows(dialect, table, rows, options));
  return print(dialect, options === undefined ? readRow(table, rows) : readRows(dialect, table, [rows], options));
}

function readRow(table: string, given: unknown): InsertNode {
  if (!isPlainObject(given)) throw new SqlError("option", "must be a row or a list of rows", "rows");
  const { returning, onConflict, ...row } = given;
  for (const option of OPTIONS) {
    if (Object.hasOwn(given, option) && given[option] === undefined)
      throw new SqlError("option", "is undefined", option);
  }
  const columns = Object.keys(row);
  return insert(table, columns, [readValues(row, columns)], { returning, onConflict });
}

function readRows(dialect: Dialect, table: string, rows: readonly unknown[], options: unknown = {}): InsertNode {
  if (!isPlainObject(options)) throw new SqlError("option", "the options must be an object");
  refuseUnknown(options, OPTIONS);
  if (!isPlainObject(rows[0])) throw new SqlError("option", "must have at least one row", "rows");
  const columns = Object.keys(rows[0]);
  if (columns.length === 0)
    throw new SqlError("option", "must have a column; a row of defaults must be the only one", "rows");
  // Checked before the rows are read, so that a list that exceeds the database's limit costs nothing.
  if (rows.length * columns.length > dialect.maxParams) {
    throw new SqlError("params", `${dialect.name} accepts at most ${dialect.maxParams} parameters in one statement`);
  }
  const values: Value[][] = [];
  for (let i = 0; i < rows.length; i++) values.push(readValues(rows[i], columns));
  return insert(table, columns, values, options);
}

/** The values of one row, in the order of the columns. */
function readValues(row: unknown, columns: readonly string[]): Value[] {
  if (!isPlainObject(row)) throw new SqlError("option", "a row must be an object of columns", "rows");
  const given = Object.keys(row);
  const values: Value[] = [];
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as string;
    if (!Object.hasOwn(row, column)) throw new SqlError("value", "is in the first row, but not in another", column);
    values.push(readValue(column, row[column]));
  }
  if (given.length > columns.length) {
    const surplus = given.find((column) => !columns.includes(column));
    throw new SqlError("value", "is in a row, but not in the first", surplus);
  }
  return values;
}

function insert(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  { returning, onConflict }: Readonly<Record<string, unknown>>,
): InsertNode {
  const conflict = readConflict(onConflict, columns);
  return { kind: "insert", table, columns, rows, conflict, returning: readColumns("returning", returning) };
}
