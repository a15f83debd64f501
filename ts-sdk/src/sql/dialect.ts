import { identifierWriter } from "./identifier.ts";
import { POSTGRES_RESERVED, SQLITE_RESERVED } from "./reserved.ts";

/**
 * What differs between the databases. The printer reads it and decides nothing by name, so this interface is the whole
 * difference.
 */
export interface Dialect {
  readonly name: "postgres" | "sqlite";
  /** What stands before a parameter's number. */
  readonly placeholder: "$" | "?";
  /** A name as it stands in SQL; throws a `SqlError` (`identifier`) for what is none. */
  identifier(name: string): string;
  /** The database's own NULL order: whether NULL sorts above every value (last in ASC) or below (first in ASC). */
  readonly nullsAreLargest: boolean;
  /** The operator that compares without regard to case. */
  readonly insensitiveLike: "ILIKE" | "LIKE";
  /** What follows LIKE when its pattern was escaped with `\`. */
  readonly escapeClause: string;
  /** Whether `\` escapes in a LIKE without that clause, so that a pattern must not end with a lone one. */
  readonly escapesByDefault: boolean;
  /** The operator of `$regex`, where there is one. */
  readonly regex: string | undefined;
  /** Whether text may hold U+0000. */
  readonly allowsNul: boolean;
  /**
   * Whether a column's type decides what it holds and how a parameter is read. Without it a value has a type of its own:
   * booleans are 0 and 1, and a number is less than every text.
   */
  readonly typedColumns: boolean;
  /** Parameters of one statement. */
  readonly maxParams: number;
  /** Conditions that stand in a row of ANDs or ORs. */
  readonly maxConditions: number;
  /** UTF-8 bytes of a LIKE pattern. */
  readonly maxPattern: number;
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
 * SQLite: `?1`. `maxParams` is SQLITE_MAX_VARIABLE_NUMBER since 3.32, `maxPattern` SQLITE_MAX_LIKE_PATTERN_LENGTH. A row of ANDs
 * is an expression as deep as it is long: `maxConditions` stays below SQLITE_MAX_EXPR_DEPTH, 1,000.
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
