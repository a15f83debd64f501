import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { type DialectName, dialectOf } from "../outbound/parameter.ts";
import { refuseUnknown } from "../schema/unknown.ts";
import { TenonDriver } from "./driver.ts";

/** Options of {@link TenonDialect}. */
export interface TenonDialectConfig {
  /** The database behind the sidecar `db`. */
  readonly dialect: DialectName;
}

/** A dialect of SQLite's whose connections do not exclude each other, because the sidecar has several. */
class SidecarSqliteAdapter extends SqliteAdapter {
  get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * Kysely's dialect for the sidecar `db`:
 *
 * ```ts
 * const database = new Kysely<Database>({ dialect: new TenonDialect({ dialect: "postgres" }) });
 * ```
 *
 * A statement is one request, and a transaction is one of `db.transaction` with its rules: a failed statement ends it, and
 * there are no savepoints. Errors of the database are a `SidecarError` with `sqlstate`.
 */
export class TenonDialect implements Dialect {
  readonly #dialect: DialectName;

  /** @throws TypeError when the database is neither `postgres` nor `sqlite`, and for an unknown option */
  constructor(config: TenonDialectConfig) {
    this.#dialect = dialectOf(config?.dialect, "TenonDialect");
    refuseUnknown("TenonDialect", config, ["dialect"]);
  }

  createDriver(): Driver {
    return new TenonDriver(this.#dialect);
  }

  createQueryCompiler(): QueryCompiler {
    return this.#dialect === "postgres" ? new PostgresQueryCompiler() : new SqliteQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return this.#dialect === "postgres" ? new PostgresAdapter() : new SidecarSqliteAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own signature
  createIntrospector(database: Kysely<any>): DatabaseIntrospector {
    return this.#dialect === "postgres" ? new PostgresIntrospector(database) : new SqliteIntrospector(database);
  }
}
