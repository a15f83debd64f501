/** The dialects of SQL. */
import { identifierWriter } from "./identifier.ts";
import { POSTGRES_RESERVED, SQLITE_RESERVED } from "./reserved.ts";

/**
 * The differences between the databases. The printer reads them and decides nothing by name, so this interface is the
 * whole difference.
 */
export interface Dialect {
  readonly name: "postgres" | "sqlite";
  /** The prefix of a parameter's number. */
  readonly placeholder: "$" | "?";
  /** Writes a name in SQL; throws a `SqlError` (`identifier`) for an invalid one. */
  identifier(name: string): string;
  /**
   * The database's NULL order: true when NULL sorts above every value (last in ASC), false when below (first in ASC).
   */
  readonly nullsAreLargest: boolean;
  /** The case-insensitive LIKE operator. */
  readonly insensitiveLike: "ILIKE" | "LIKE";
  /** The clause behind a LIKE whose pattern was escaped with `\`. */
  readonly escapeClause: string;
  /** True when `\` escapes in a LIKE without that clause, so that a pattern must not end with a lone one. */
  readonly escapesByDefault: boolean;
  /** The operator of `$regex`, if there is one. */
  readonly regex: string | undefined;
  /** True when text may contain U+0000. */
  readonly allowsNul: boolean;
  /**
   * True when a column's type determines its values and the reading of parameters. Otherwise a value has a type of its
   * own: booleans are 0 and 1, and a number is less than every text.
   */
  readonly typedColumns: boolean;
  /** The limit of parameters of one statement. */
  readonly maxParams: number;
  /** The limit of conditions in one sequence of ANDs or ORs. */
  readonly maxConditions: number;
  /** The limit of a LIKE pattern in UTF-8 bytes. */
  readonly maxPattern: number;
  /**
   * True when a statement must mean the same in both databases: ORDER BY says where NULLs come, and a boolean of a row
   * may be 0 or 1.
   */
  readonly portable?: boolean;
}

/** PostgreSQL: `$1`, the default. `maxParams` is the protocol's 16-bit count. */
export const postgres: Dialect = Object.freeze({
  name: "postgres",
  placeholder: "$",
  identifier: identifierWriter(POSTGRES_RESERVED),
  nullsAreLargest: true,
  insensitiveLike: "ILIKE",
  escapeClause: "",
  escapesByDefault: true,
  regex: "~",
  allowsNul: false,
  typedColumns: true,
  maxParams: 65_535,
  maxConditions: 65_535,
  maxPattern: Number.POSITIVE_INFINITY,
});

/**
 * SQLite: `?1`. `maxParams` is SQLITE_MAX_VARIABLE_NUMBER since 3.32, `maxPattern` SQLITE_MAX_LIKE_PATTERN_LENGTH. A
 * sequence of ANDs is an expression as deep as it is long, so `maxConditions` is below SQLITE_MAX_EXPR_DEPTH, 1,000.
 */
export const sqlite: Dialect = Object.freeze({
  name: "sqlite",
  placeholder: "?",
  identifier: identifierWriter(SQLITE_RESERVED),
  nullsAreLargest: false,
  insensitiveLike: "LIKE",
  escapeClause: " ESCAPE '\\'",
  escapesByDefault: false,
  regex: undefined,
  allowsNul: true,
  typedColumns: false,
  maxParams: 32_766,
  maxConditions: 900,
  maxPattern: 50_000,
});

/** Statements for either database, in PostgreSQL's order: `db.page` without a dialect. */
export const portable: Dialect = /* @__PURE__ */ Object.freeze({
  ...postgres,
  escapeClause: sqlite.escapeClause,
  maxParams: sqlite.maxParams,
  maxConditions: sqlite.maxConditions,
  maxPattern: sqlite.maxPattern,
  portable: true,
});
