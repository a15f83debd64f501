import { SqlError } from "./errors.ts";

/** A parameter for a database driver. */
export type Value = string | number | bigint | boolean | null;

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;
const DECIMAL_INTEGER = /^[+-]?[0-9]{1,19}$/;
const DECIMAL_NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$/;

/** Reports whether `value` can be a parameter: no `undefined`, no object, no NaN and no infinity. */
export function isValue(value: unknown): value is Value {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
      return true;
    case "number":
      return Number.isFinite(value);
    default:
      return value === null;
  }
}

/**
 * A text parameter: a string as it is, a finite number, a bigint or a boolean written out. `null` stays `null` (SQL's
 * NULL).
 *
 * @throws {SqlError} `value` for anything else, including `undefined`
 */
export function str(value: null): null;
export function str(value: string | number | bigint | boolean): string;
export function str(value: string | number | bigint | boolean | null): string | null;
export function str(value: Value): string | null {
  if (value === null || typeof value === "string") return value;
  if (isValue(value)) return String(value);
  throw wrong("str");
}

/**
 * An integer parameter: an integer number, a bigint of 64 bits, a boolean (0 or 1), or a string of decimal digits. The
 * result is a number where that is exact, else a bigint. `null` stays `null`.
 *
 * @throws {SqlError} `value` for anything else: fractions, numbers beyond ±(2^53 - 1), bigints and digits beyond 64 bits
 */
export function int(value: null): null;
export function int(value: number): number;
export function int(value: string | number | bigint | boolean): number | bigint;
export function int(value: string | number | bigint | boolean | null): number | bigint | null;
export function int(value: Value): number | bigint | null {
  if (value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  const wide = typeof value === "bigint" || typeof value === "string" ? readInt64(value) : undefined;
  if (wide === undefined) throw wrong("int");
  return wide;
}

/** A bigint or decimal digits: a number where that is exact, else a bigint, and `undefined` beyond 64 bits. */
export function readInt64(value: bigint | string): number | bigint | undefined {
  if (typeof value === "string" && !DECIMAL_INTEGER.test(value)) return undefined;
  const wide = BigInt(typeof value === "string" && value.startsWith("+") ? value.slice(1) : value);
  if (wide < MIN_INT64 || wide > MAX_INT64) return undefined;
  const narrow = Number(wide);
  return Number.isSafeInteger(narrow) ? narrow : wide;
}

/**
 * A boolean parameter: a boolean, 0 or 1, or one of the strings `true`, `false`, `1`, `0`. `null` stays `null`.
 *
 * @throws {SqlError} `value` for anything else
 */
export function bool(value: null): null;
export function bool(value: string | number | bigint | boolean): boolean;
export function bool(value: string | number | bigint | boolean | null): boolean | null;
export function bool(value: Value): boolean | null {
  if (value === null || typeof value === "boolean") return value;
  if (value === 1 || value === 1n || value === "1" || value === "true") return true;
  if (value === 0 || value === 0n || value === "0" || value === "false") return false;
  throw wrong("bool");
}

/**
 * A floating-point parameter: a finite number, a bigint, or a string holding a decimal number. `null` stays `null`.
 *
 * @throws {SqlError} `value` for anything else: NaN, infinities, booleans, other texts
 */
export function float(value: null): null;
export function float(value: string | number | bigint): number;
export function float(value: string | number | bigint | null): number | null;
export function float(value: string | number | bigint | null): number | null {
  if (value === null) return null;
  // Checked by pattern, because Number() also accepts lists, dates and objects with a valueOf.
  const numeric =
    typeof value === "number" || typeof value === "bigint" || (typeof value === "string" && isDecimal(value));
  if (!numeric || !Number.isFinite(Number(value))) throw wrong("float");
  return Number(value);
}

/** Reports whether a text is a finite decimal number, with or without an exponent. */
export function isDecimal(text: string): boolean {
  return DECIMAL_NUMBER.test(text) && Number.isFinite(Number(text));
}

function wrong(hint: string): SqlError {
  return new SqlError("value", `${hint}() cannot take this value`);
}
