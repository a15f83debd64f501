/** The parts of a session that do not depend on the database. */
import {
  createTableRelationsHelpers,
  DefaultLogger,
  extractTablesRelationalConfig,
  type Logger,
  NoopLogger,
  type Query,
  type RelationalSchemaConfig,
  type TablesRelationalConfig,
} from "drizzle-orm";
import type { Cache } from "drizzle-orm/cache/core";
import type { Prepared } from "./prepared.ts";

/** Makes the cache's `onMutate` reachable, as Drizzle's drivers do. */
export function withCache(database: object, cache: Cache | undefined): void {
  const given = database as { $cache?: unknown };
  if (cache !== undefined) given.$cache = Object.assign(cache, { invalidate: cache.onMutate });
}

/** Reads the option `logger`. */
export function loggerOf(given: boolean | Logger | undefined): Logger {
  if (given === true) return new DefaultLogger();
  return given === false || given === undefined ? new NoopLogger() : given;
}

/** Reads the option `schema`. */
export function schemaOf(fullSchema: Record<string, unknown> | undefined): Schema | undefined {
  if (fullSchema === undefined) return undefined;
  const { tables, tableNamesMap } = extractTablesRelationalConfig(fullSchema, createTableRelationsHelpers);
  return { fullSchema, schema: tables, tableNamesMap };
}

export type Schema = RelationalSchemaConfig<TablesRelationalConfig>;

/** A statement of a batch. */
export interface BatchQuery {
  _prepare(): {
    getQuery(): Query;
    mapResult(result: unknown, isFromBatch: boolean): unknown;
    readonly prepared?: Prepared;
  };
}

/** Options of a session. */
export interface SessionOptions {
  readonly logger: Logger;
  readonly cache: Cache;
}

/** The kind of a statement, and its tables. */
export type Metadata = {
  readonly type: "select" | "update" | "delete" | "insert";
  readonly tables: string[];
};
