import type { Schema } from "./schema.ts";

/** True for one of Tenon's own schemas, false for another library's. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "parsers" in value && "~standard" in value;
}
