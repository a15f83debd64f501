/** The values of a column by its kind: in users' filters (`holdsKind`), and from drivers (`readStored`). */
import type { Kind } from "../schema/schema.ts";
import type { Dialect } from "./dialect.ts";
import { isDecimal, readInt64, type Value } from "./value.ts";

/** PostgreSQL's form of these values, which it also reads and orders. */
const NOT_FINITE = /^(?:NaN|-?Infinity)$/;

/**
 * Converts a driver's value to a parameter that compares as the column does: drivers return 64-bit integers and
 * decimals as texts, and SQLite has 0 and 1 for booleans.
 *
 * A decimal text stays a text where a number would differ: PostgreSQL's `numeric` has more digits. SQLite compares it
 * as a number with a numeric column, and returns it only from a text column.
 *
 * @returns `undefined` for a value that a column of this kind can't have
 */
export function readStored(kind: Kind, value: Value, dialect: Dialect): Value | undefined {
  if (typeof value === "string") {
    if (kind === "f64") return readDecimal(value, dialect);
    if (kind === "u32" || kind === "i32" || kind === "i64") {
      const integer = readInt64(value);
      return integer !== undefined && holdsKind(kind, integer) ? integer : undefined;
    }
  }
  if (kind === "bool" && (dialect.portable || !dialect.typedColumns) && isBit(value)) return value;
  return holdsKind(kind, value) ? value : undefined;
}

function readDecimal(text: string, { typedColumns }: Dialect): Value | undefined {
  if (typedColumns) return isDecimal(text) || NOT_FINITE.test(text) ? text : undefined;
  if (!isDecimal(text)) return undefined;
  const number = Number(text);
  return String(number) === text ? number : text;
}

function isBit(value: Value): boolean {
  return value === 0 || value === 1 || value === 0n || value === 1n;
}

/** Reports whether a column of this kind can be compared with `value`; each can with NULL. */
export function holdsKind(kind: Kind, value: unknown): boolean {
  if (value === null) return true;
  switch (kind) {
    case "string":
    case "enum":
      return typeof value === "string";
    case "bool":
      return typeof value === "boolean";
    case "f64":
      return typeof value === "number" || typeof value === "bigint";
    case "u32":
      return isIntegerWithin(value, 0, 2 ** 32 - 1);
    case "i32":
      return isIntegerWithin(value, -(2 ** 31), 2 ** 31 - 1);
    case "i64":
      return isIntegerWithin(value, -(2 ** 63), 2 ** 63 - 1);
    default:
      return false;
  }
}

function isIntegerWithin(value: unknown, least: number, most: number): boolean {
  if (typeof value !== "bigint" && !Number.isInteger(value)) return false;
  return Number(value) >= least && Number(value) <= most;
}
