import type { SchemaObject } from "./components.ts";

/** The position of schemas in a keyword's value. */
export type KeywordKind = "schema" | "schemas" | "named" | "schema or boolean" | "value";

/** The differences between versions of OpenAPI. The generator reads them and decides nothing by version. */
export interface OpenApiDialect {
  /** The version in error texts, such as `OpenAPI 3.0`. */
  readonly name: string;
  /** The value of the document's member `openapi`. */
  readonly openapi: "3.0.0" | "3.1.0";
  /** The targets that another library is asked to write for, in this order (Standard JSON Schema). */
  readonly targets: readonly string[];
  /** The keywords of a Schema Object. */
  readonly keywords: Readonly<Record<string, KeywordKind>>;
  /** The schema of a file, or of a body of bytes. */
  readonly bytes: SchemaObject;
  /** Makes one of our own schemas accept null. */
  orNull(value: SchemaObject): SchemaObject;
  /** Converts a schema that another library wrote for one of the targets. */
  fromTarget(schema: SchemaObject): SchemaObject;
  /** Returns the error of a known keyword's value; undefined for a valid one. */
  problem(key: string, value: unknown): string | undefined;
}

/** Gives several keywords the same kind. */
export function all<Kind extends KeywordKind>(kind: Kind, ...names: string[]): Record<string, Kind> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}
