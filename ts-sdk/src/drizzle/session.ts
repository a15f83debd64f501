/** The parts of a session that do not depend on the database. */
import {
  createTableRelationsHelpers,
  DefaultLogger,
  type DrizzleConfig,
  extractTablesRelationalConfig,
  type Logger,
  NoopLogger,
  type Query,
  type RelationalSchemaConfig,
  type TablesRelationalConfig,
} from "drizzle-orm";
import { type Cache, NoopCache } from "drizzle-orm/cache/core";
import type { Connection, GivenStatement } from "./connection.ts";
import { type Prepared, statementOf } from "./prepared.ts";

/** Reads the options of the database that concern its session. */
export function sessionOptions({ logger, cache }: DrizzleConfig<Record<string, unknown>>): SessionOptions {
  return { logger: loggerOf(logger), cache: cache ?? new NoopCache() };
}

/** Adds `batch` to a database, and makes the cache's `onMutate` reachable, as Drizzle's drivers do. */
export function completed<Database extends object>(
  database: Database,
  session: { batch(queries: readonly BatchQuery[]): Promise<unknown[]> },
  { cache }: DrizzleConfig<Record<string, unknown>>,
): Database {
  return Object.assign(database, {
    batch: (queries: readonly BatchQuery[]) => session.batch(queries),
    ...(cache !== undefined && { $cache: Object.assign(cache, { invalidate: cache.onMutate }) }),
  });
}

/** Notes a statement in the log. */
export function logged<Statement extends GivenStatement>(statement: Statement, { logger }: SessionOptions): Statement {
  logger.logQuery(statement.sql, [...statement.params]);
  return statement;
}

/**
 * Runs statements in one request.
 *
 * @param raw makes a statement of a query that Drizzle hands over without what prepares it
 */
export async function batched(
  connection: Connection,
  queries: readonly BatchQuery[],
  options: SessionOptions,
  raw: (query: Query) => GivenStatement,
): Promise<unknown[]> {
  const built = queries.map((query) => query._prepare());
  const statements = built.map((each) =>
    each.prepared === undefined ? raw(each.getQuery()) : statementOf(each.prepared),
  );
  for (const statement of statements) logged(statement, options);
  const results = await connection.batch(statements);
  return results.map((result, index) => built[index]?.mapResult(result, true));
}

function loggerOf(given: boolean | Logger | undefined): Logger {
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
