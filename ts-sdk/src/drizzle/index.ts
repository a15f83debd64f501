/** `@tenon/sdk/drizzle`: Drizzle over `db`. */
import type { DrizzleConfig } from "drizzle-orm";
import { type DialectName, dialectOf } from "../outbound/parameter.ts";
import { drizzlePostgres, type TenonPgDatabase } from "./postgres.ts";
import { drizzleSqlite, type TenonSqliteDatabase } from "./sqlite.ts";

export type { DialectName } from "../outbound/parameter.ts";
export type { TenonPgDatabase } from "./postgres.ts";
export type { RunResult, TenonSqliteDatabase } from "./sqlite.ts";

/** Options of {@link drizzle}: Drizzle's own, and the database behind the sidecar `db`. */
export interface TenonDrizzleConfig<
  Schema extends Record<string, unknown> = Record<string, never>,
  Dialect extends DialectName = DialectName,
> extends DrizzleConfig<Schema> {
  readonly dialect: Dialect;
}

/** The database of a dialect. */
export type TenonDatabase<Dialect extends DialectName, Schema extends Record<string, unknown>> = {
  readonly postgres: TenonPgDatabase<Schema>;
  readonly sqlite: TenonSqliteDatabase<Schema>;
}[Dialect];

/**
 * Drizzle's database over the sidecar `db`:
 *
 * ```ts
 * const database = drizzle({ schema, dialect: "sqlite" });
 * const users = await database.query.users.findMany({ with: { posts: true } });
 * ```
 *
 * A statement is one request, `batch` one for all, and a transaction is one of `db.transaction` with its rules: a failed
 * statement ends it, and transactions are not nested. Errors of the database are a `DrizzleQueryError` whose `cause` is the
 * `SidecarError` with `sqlstate`.
 *
 * @throws TypeError when the dialect is neither `postgres` nor `sqlite`
 */
export function drizzle<Dialect extends DialectName, Schema extends Record<string, unknown> = Record<string, never>>(
  config: TenonDrizzleConfig<Schema, Dialect>,
): TenonDatabase<Dialect, Schema> {
  const { dialect } = config ?? {};
  const make = dialectOf(dialect, "drizzle") === "postgres" ? drizzlePostgres : drizzleSqlite;
  return make(config) as TenonDatabase<Dialect, Schema>;
}
