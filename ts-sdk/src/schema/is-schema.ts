import type { Schema } from "./schema.ts";

/** True for one of Tenon's own schemas, false for another library's. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "parsers" in value && "~standard" in value;
}

/**
 * The error about a value that must be a schema. The build names the modules that import each other, which is the usual reason
 * of an undefined one.
 */
export function notSchema(value: unknown, otherwise = "must be a schema"): string {
  return value === undefined ? "is undefined" : otherwise;
}
