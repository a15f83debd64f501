/** Drizzle on PostgreSQL: the session of its `pg-proxy`, with transactions and batches. */
import { type DrizzleConfig, is, Param, type Query, type SQL, type TablesRelationalConfig } from "drizzle-orm";
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import {
  PgDialect,
  PgPreparedQuery,
  PgSession,
  PgTransaction,
  type PgTransactionConfig,
  type PreparedQueryConfig,
} from "drizzle-orm/pg-core";
import { PgRemoteDatabase, type PgRemoteQueryResultHKT } from "drizzle-orm/pg-proxy";
import type { Isolation } from "../outbound/db.ts";
import type { ArrayResult } from "../outbound/statements.ts";
import { Connection, NESTED } from "./connection.ts";
import type { RelationalSelection, SelectedField, WithCache } from "./internals.ts";
import { castOf, decoderOf, encode, encodingColumn, withTexts } from "./postgres-values.ts";
import { isMapped, mapped, mappedResult, type Prepared, statementOf } from "./prepared.ts";
import {
  type BatchQuery,
  batched,
  completed,
  logged,
  type Metadata,
  type Schema,
  type SessionOptions,
  schemaOf,
  sessionOptions,
} from "./session.ts";

/** Drizzle's database on PostgreSQL. */
export interface TenonPgDatabase<Schema extends Record<string, unknown> = Record<string, never>>
  extends PgRemoteDatabase<Schema> {
  /** Runs statements in one request: all, or none. Each has its result, in their order. */
  batch<U extends BatchItem<"pg">, T extends Readonly<[U, ...U[]]>>(batch: T): Promise<BatchResponse<T>>;
}

/** Makes the database. */
export function drizzlePostgres<Schema extends Record<string, unknown>>(
  config: DrizzleConfig<Schema>,
): TenonPgDatabase<Schema> {
  const dialect = new SidecarDialect(config.casing === undefined ? {} : { casing: config.casing });
  const schema = schemaOf(config.schema);
  const session = new Session(new Connection("postgres"), dialect, schema, sessionOptions(config));
  const Database = PgRemoteDatabase as unknown as new (...given: unknown[]) => TenonPgDatabase<Schema>;
  return completed(new Database(dialect, session, schema), session, config);
}

/** The facts about a statement's values that its SQL lacks. */
interface Notes {
  readonly encoders: readonly unknown[];
  readonly selection: readonly RelationalSelection[] | undefined;
}

/** Drizzle's dialect, which also notes the columns of parameters and of relational queries. */
class SidecarDialect extends PgDialect {
  readonly #selections = new WeakMap<object, readonly RelationalSelection[]>();
  readonly #notes = new WeakMap<Query, Notes>();

  override sqlToQuery(sql: SQL, invokeSource?: "indexes"): ReturnType<PgDialect["sqlToQuery"]> {
    const encoders: unknown[] = [];
    let encoder: unknown;
    // Drizzle asks for the typing of a parameter just before it writes its placeholder.
    const noting = Object.create(this, {
      prepareTyping: {
        value: (given: never) => {
          encoder = given;
          return super.prepareTyping(given);
        },
      },
      escapeParam: {
        value: (at: number, value: unknown) => {
          const column = encodingColumn(is(value, Param) ? value.encoder : encoder);
          encoder = undefined;
          encoders[at] = column;
          return super.escapeParam(at) + castOf(column);
        },
      },
    });
    const query = super.sqlToQuery.call(noting, sql, invokeSource);
    this.#notes.set(query, { encoders, selection: this.#selections.get(sql) });
    return query;
  }

  override buildRelationalQueryWithoutPK(
    given: Parameters<PgDialect["buildRelationalQueryWithoutPK"]>[0],
  ): ReturnType<PgDialect["buildRelationalQueryWithoutPK"]> {
    const built = super.buildRelationalQueryWithoutPK(given);
    this.#selections.set(built.sql as object, built.selection as unknown as RelationalSelection[]);
    return built;
  }

  notesOf(query: Query): Notes | undefined {
    return this.#notes.get(query);
  }
}

class Session extends PgSession<PgRemoteQueryResultHKT, Record<string, unknown>, TablesRelationalConfig> {
  readonly #connection: Connection;
  readonly #dialect: SidecarDialect;
  readonly #schema: Schema | undefined;
  readonly #options: SessionOptions;

  constructor(connection: Connection, dialect: SidecarDialect, schema: Schema | undefined, options: SessionOptions) {
    super(dialect);
    this.#connection = connection;
    this.#dialect = dialect;
    this.#schema = schema;
    this.#options = options;
  }

  override prepareQuery<T extends PreparedQueryConfig>(
    query: Query,
    fields: readonly SelectedField[] | undefined,
    _name: string | undefined,
    _isResponseInArrayMode: boolean,
    mapRows?: (rows: unknown[][]) => T["execute"],
    metadata?: Metadata,
    cacheConfig?: unknown,
  ): PgPreparedQuery<T> {
    const { encoders = [], selection } = this.#dialect.notesOf(query) ?? {};
    const columns = fields ?? selection?.map(({ field, isJson }) => ({ path: [], field: isJson ? undefined : field }));
    const prepared: Prepared = {
      query: columns === undefined ? query : { ...query, sql: withTexts(query.sql, columns, metadata?.type) },
      encoders,
      encode,
      decoders: columns?.map(({ field }) => decoderOf(field)) ?? [],
      fields,
      mapRows,
    };
    return new Statement<T>(this.#connection, prepared, this.#options, metadata, cacheConfig);
  }

  /** Runs statements in one request. */
  async batch(queries: readonly BatchQuery[]): Promise<unknown[]> {
    // A statement of `db.execute` is not prepared.
    return await batched(this.#connection, queries, this.#options, (query) =>
      statementOf({ query, encoders: this.#dialect.notesOf(query)?.encoders ?? [], encode }),
    );
  }

  override async transaction<T>(
    run: (tx: Transaction) => Promise<T>,
    { isolationLevel, accessMode, deferrable }: PgTransactionConfig = {},
  ): Promise<T> {
    if (accessMode === "read only") throw new Error("drizzle: there are no read-only transactions");
    if (deferrable) throw new Error("drizzle: there are no deferrable transactions");
    // PostgreSQL runs "read uncommitted" as "read committed", and the sidecar takes its name.
    return await this.#connection.transaction(
      async (connection) => {
        const session = new Session(connection, this.#dialect, this.#schema, this.#options);
        return await run(new Transaction(this.#dialect, session, this.#schema as never));
      },
      isolationLevel as Isolation | undefined,
    );
  }
}

class Transaction extends PgTransaction<PgRemoteQueryResultHKT, Record<string, unknown>, TablesRelationalConfig> {
  override async transaction<T>(): Promise<T> {
    throw new Error(NESTED);
  }

  override async setTransaction(): Promise<void> {
    throw new Error("drizzle: the isolation level is an option of `transaction`");
  }
}

class Statement<T extends PreparedQueryConfig> extends PgPreparedQuery<T> {
  readonly prepared: Prepared;
  readonly #connection: Connection;
  readonly #options: SessionOptions;
  // Drizzle sets it from outside.
  declare joinsNotNullableMap: Record<string, boolean> | undefined;

  constructor(
    connection: Connection,
    prepared: Prepared,
    options: SessionOptions,
    metadata: Metadata | undefined,
    cacheConfig: unknown,
  ) {
    super(prepared.query, options.cache, metadata as never, cacheConfig as never);
    this.prepared = prepared;
    this.#connection = connection;
    this.#options = options;
  }

  override async execute(given?: Record<string, unknown>): Promise<T["execute"]> {
    const { prepared } = this;
    const statement = logged(statementOf(prepared, given), this.#options);
    const { sql, params } = statement;
    const cached = this as unknown as WithCache;
    if (!isMapped(prepared)) return await cached.queryWithCache(sql, params, () => this.#connection.objects(statement));
    const rows = await cached.queryWithCache(sql, params, () => this.#connection.arrays(statement));
    return mapped(prepared, rows, this.joinsNotNullableMap);
  }

  /** PostgreSQL's `all` of a statement is its rows. */
  async all(given?: Record<string, unknown>): Promise<unknown> {
    return await this.execute(given);
  }

  override mapResult(result: unknown): unknown {
    return mappedResult(this.prepared, result as ArrayResult, this.joinsNotNullableMap);
  }
}
