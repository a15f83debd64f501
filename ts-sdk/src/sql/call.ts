/** How every statement's function is called: an optional dialect, a table, an object of options. */
import { type Dialect, postgres, sqlite } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import { isPlainObject } from "./filter.ts";
import { isNameList } from "./identifier.ts";
import type { Column, Table } from "./table.ts";

/** A table's name, or a table whose columns are known. */
export type TableArgument<Row extends object> = string | Table<Row>;

/** The options that any statement has, before they are looked at. */
type OptionName =
  | ("select" | "filter" | "order" | "key" | "limit" | "page" | "after" | "before" | "notNull" | "set" | "returning")
  | ("merge" | "allow" | "denyOps" | "allowOps" | "maxDepth" | "maxConditions" | "maxList");

/** Options as they were given: of any type, and with any others. */
export type RawOptions = Readonly<Partial<Record<OptionName, unknown>>>;

/** The arguments, sorted out. */
export interface Call {
  readonly dialect: Dialect;
  readonly table: string;
  /** What is known of the columns: nothing when the table was given by name. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly options: RawOptions;
}

const NO_COLUMNS: ReadonlyMap<string, Column> = new Map();

/**
 * Sorts out `(table, options?)` and `(dialect, table, options?)`.
 *
 * @throws {SqlError} `option` when the arguments are neither
 */
export function readCall(first: unknown, second: unknown, third: unknown): Call {
  if (isDialect(first)) return readTarget(first, second, third);
  return readTarget(postgres, first, second);
}

export function isDialect(value: unknown): value is Dialect {
  return value === postgres || value === sqlite;
}

function readTarget(dialect: Dialect, target: unknown, options: unknown = {}): Call {
  if (!isPlainObject(options)) throw new SqlError("option", "the options are an object");
  const { table, columns } = readTable(target);
  return { dialect, table, columns, options };
}

/** The name of a table, and what is known of its columns. */
export function readTable(target: unknown): Pick<Call, "table" | "columns"> {
  if (typeof target === "string") return { table: target, columns: NO_COLUMNS };
  if (!isTable(target)) throw new SqlError("option", "takes a name or table(Type)", "table");
  return { table: target.name, columns: target.columns };
}

/** A misspelt option, such as a `filtre`, would silently be none. */
export function refuseUnknown(options: RawOptions, known: ReadonlySet<string>): void {
  const given = Object.keys(options);
  for (let i = 0; i < given.length; i++) {
    const option = given[i] as string;
    if (!known.has(option)) throw new SqlError("option", "is no option here", option);
  }
}

/** A list of column names, or none; whether they are identifiers is the printer's to say. */
export function readColumns(option: string, columns: unknown): readonly string[] {
  if (columns === undefined) return [];
  if (!isNameList(columns) || columns.length === 0) {
    throw new SqlError("option", "takes a list of at least one column", option);
  }
  return columns;
}

function isTable(value: unknown): value is Table<object> {
  if (typeof value !== "object" || value === null) return false;
  const { name, columns } = value as Partial<Table<object>>;
  return typeof name === "string" && columns instanceof Map;
}
