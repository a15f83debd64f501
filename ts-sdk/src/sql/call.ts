/** The arguments of every statement's function: an optional dialect, a table, an object of options. */
import { type Dialect, postgres } from "./dialect.ts";
import { SqlError } from "./errors.ts";
import { isPlainObject } from "./filter.ts";
import { isNameList } from "./identifier.ts";
import type { Table, TableColumn } from "./table.ts";

/** A table's name, or a table whose columns are known. */
export type TableArgument<Row extends object> = string | Table<Row>;

/** The options of any statement. */
type OptionName =
  | ("select" | "filter" | "order" | "key" | "limit" | "page" | "after" | "before" | "notNull" | "set" | "returning")
  | ("merge" | "allow" | "denyOps" | "allowOps" | "maxDepth" | "maxConditions" | "maxList");

/** Unchecked options. */
export type RawOptions = Readonly<Partial<Record<OptionName, unknown>>>;

/** The parsed arguments. */
export interface StatementCall {
  readonly dialect: Dialect;
  readonly table: string;
  /** The known columns; empty when the table was given by name. */
  readonly columns: ReadonlyMap<string, TableColumn>;
  readonly options: RawOptions;
}

const NO_COLUMNS: ReadonlyMap<string, TableColumn> = new Map();

/**
 * Parses `(table, options?)` and `(dialect, table, options?)`.
 *
 * @throws {SqlError} `option` when the arguments are neither
 */
export function readCall(first: unknown, second: unknown, third: unknown): StatementCall {
  if (isDialect(first)) return readTarget(first, second, third);
  return readTarget(postgres, first, second);
}

export function isDialect(value: unknown): value is Dialect {
  return typeof (value as Partial<Dialect> | null | undefined)?.identifier === "function";
}

function readTarget(dialect: Dialect, target: unknown, options: unknown = {}): StatementCall {
  if (!isPlainObject(options)) throw new SqlError("option", "the options must be an object");
  const { table, columns } = readTable(target);
  return { dialect, table, columns, options };
}

/** The name of a table, and its known columns. */
export function readTable(target: unknown): Pick<StatementCall, "table" | "columns"> {
  if (typeof target === "string") return { table: target, columns: NO_COLUMNS };
  if (!isTable(target)) throw new SqlError("option", "must be a name or table(Type)", "table");
  return { table: target.name, columns: target.columns };
}

/** Refuses unknown options, because a misspelt one, such as `filtre`, would silently be ignored. */
export function refuseUnknown(options: RawOptions, known: ReadonlySet<string>): void {
  const given = Object.keys(options);
  for (let i = 0; i < given.length; i++) {
    const option = given[i] as string;
    if (!known.has(option)) throw new SqlError("option", "is not an option here", option);
  }
}

/** Checks a list of column names, or none; the printer checks that they are identifiers. */
export function readColumns(option: string, columns: unknown): readonly string[] {
  if (columns === undefined) return [];
  if (!isNameList(columns) || columns.length === 0) {
    throw new SqlError("option", "must be a list of at least one column", option);
  }
  return columns;
}

function isTable(value: unknown): value is Table<object> {
  if (typeof value !== "object" || value === null) return false;
  const { name, columns } = value as Partial<Table<object>>;
  return typeof name === "string" && columns instanceof Map;
}
