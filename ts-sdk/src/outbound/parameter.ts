/** Parameters of statements that others write: what Kysely and Drizzle give. */
import { writeJson } from "../http/json.ts";
import type { Parameter } from "./db.ts";

/** The databases that have a dialect. */
export type DialectName = "postgres" | "sqlite";

/** Reads the option `dialect`. @throws TypeError when it names none */
export function dialectOf(name: unknown, of: string): DialectName {
  if (name === "postgres" || name === "sqlite") return name;
  throw new TypeError(`${of}: "dialect" must be "postgres" or "sqlite"`);
}

/**
 * Converts the values of a statement. Dates become ISO 8601 in UTC, and objects JSON. Lists become JSON in SQLite; in
 * PostgreSQL they stay lists, for an array or a `json` column.
 *
 * @throws TypeError for a value without a form, such as `undefined`; it names the parameter, and not the value
 */
export function toParameters(values: readonly unknown[], dialect: DialectName): Parameter[] {
  return values.map((value, index) => {
    try {
      return toParameter(value, dialect);
    } catch (thrown) {
      throw new TypeError(`parameter ${index + 1} ${(thrown as Error).message}`);
    }
  });
}

function toParameter(value: unknown, dialect: DialectName): Parameter {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return value;
    case "object":
      break;
    default:
      throw new TypeError(`must not be ${value === undefined ? "undefined; use null" : `a ${typeof value}`}`);
  }
  if (value === null) return null;
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) return dateText(value);
  // The request's writer writes a list as it is.
  if (Array.isArray(value) && dialect === "postgres") return value.map(toItem) as unknown as Parameter;
  return jsonText(value);
}

/** Converts an element of a PostgreSQL array. */
function toItem(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(toItem);
  // JSON has neither of these, and the sidecar reads them as texts.
  if (typeof item === "bigint" || (typeof item === "number" && !Number.isFinite(item))) return `${item}`;
  if (item === undefined) throw new TypeError("must not have undefined; use null");
  if (typeof item === "symbol" || typeof item === "function") throw new TypeError(`must not have a ${typeof item}`);
  return item instanceof Date ? dateText(item) : item;
}

function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new TypeError("must be a valid date");
  return date.toISOString();
}

function jsonText(value: object): string {
  try {
    return writeJson(value);
  } catch {
    throw new TypeError("must be a value that JSON has a form for");
  }
}

const WRITES = /^\s*(?:insert|update|delete|merge|replace)\b/i;
const WITH = /^\s*with\b/i;
const WRITES_WITHIN = /\b(?:(?:insert|replace|merge)\s+into|delete\s+from|update\s)/i;

/** Reports whether a statement may change rows. One that begins with a comment is not recognized. */
export const isWrite = (sql: string): boolean => WRITES.test(sql) || (WITH.test(sql) && WRITES_WITHIN.test(sql));
