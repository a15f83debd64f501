/** Drizzle on SQLite: the session of its `sqlite-proxy`, with transactions and batches. */
import type { DrizzleConfig, Query, SQL, TablesRelationalConfig } from "drizzle-orm";
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import {
  BaseSQLiteDatabase,
  SQLiteAsyncDialect,
  SQLitePreparedQuery,
  SQLiteSession,
  SQLiteTransaction,
} from "drizzle-orm/sqlite-core";
import { isWrite } from "../outbound/parameter.ts";
import type { ArrayResult } from "../outbound/statements.ts";
import { Connection, type GivenStatement, NESTED, objectsOf } from "./connection.ts";
import { decodingColumn, type RelationalSelection, type SelectedField, type WithCache } from "./internals.ts";
import { type Decode, isMapped, mapped, type Prepared, statementOf, toBytes } from "./prepared.ts";
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

/** The result of a statement that was run for its changes. */
export interface RunResult {
  /** The rows that it returned. */
  readonly rows: unknown[];
  /** The number of rows that it changed. */
  readonly rowsAffected: number;
  /** The `rowid` of the last row that an INSERT added. */
  readonly lastInsertRowid?: number | bigint;
}

/** Drizzle's database on SQLite. */
export interface TenonSqliteDatabase<Schema extends Record<string, unknown> = Record<string, never>>
  extends BaseSQLiteDatabase<"async", RunResult, Schema> {
  /** Runs statements in one request: all, or none. Each has its result, in their order. */
  batch<U extends BatchItem<"sqlite">, T extends Readonly<[U, ...U[]]>>(batch: T): Promise<BatchResponse<T>>;
}

/** Makes the database. */
export function drizzleSqlite<Schema extends Record<string, unknown>>(
  config: DrizzleConfig<Schema>,
): TenonSqliteDatabase<Schema> {
  const dialect = new SidecarDialect(config.casing === undefined ? {} : { casing: config.casing });
  const schema = schemaOf(config.schema);
  const session = new Session(new Connection("sqlite"), dialect, schema, sessionOptions(config));
  const Database = BaseSQLiteDatabase as unknown as new (...given: unknown[]) => TenonSqliteDatabase<Schema>;
  return completed(new Database("async", dialect, session, schema), session, config);
}

/** Drizzle's dialect, which also notes the columns of relational queries. */
class SidecarDialect extends SQLiteAsyncDialect {
  readonly #selections = new WeakMap<object, readonly RelationalSelection[]>();
  readonly #notes = new WeakMap<Query, readonly RelationalSelection[]>();

  override sqlToQuery(sql: SQL, invokeSource?: "indexes"): ReturnType<SQLiteAsyncDialect["sqlToQuery"]> {
    const query = super.sqlToQuery(sql, invokeSource);
    const selection = this.#selections.get(sql);
    if (selection !== undefined) this.#notes.set(query, selection);
    return query;
  }

  override buildRelationalQuery(
    given: Parameters<SQLiteAsyncDialect["buildRelationalQuery"]>[0],
  ): ReturnType<SQLiteAsyncDialect["buildRelationalQuery"]> {
    const built = super.buildRelationalQuery(given);
    this.#selections.set(built.sql as object, built.selection as unknown as RelationalSelection[]);
    return built;
  }

  selectionOf(query: Query): readonly RelationalSelection[] | undefined {
    return this.#notes.get(query);
  }
}

class Session extends SQLiteSession<"async", RunResult, Record<string, unknown>, TablesRelationalConfig> {
  readonly #connection: Connection;
  readonly #dialect: SidecarDialect;
  readonly #schema: Schema | undefined;
  readonly #options: SessionOptions;

  constructor(connection: Connection, dialect: SidecarDialect, schema: Schema | undefined, options: SessionOptions) {
    super(dialect as never);
    this.#connection = connection;
    this.#dialect = dialect;
    this.#schema = schema;
    this.#options = options;
  }

  override prepareQuery(
    query: Query,
    fields: readonly SelectedField[] | undefined,
    method: "run" | "all" | "get",
    _isResponseInArrayMode: boolean,
    mapRows?: (rows: unknown[][]) => unknown,
    metadata?: Metadata,
    cacheConfig?: unknown,
  ): Statement {
    const columns =
      fields?.map(({ field }) => field) ??
      this.#dialect.selectionOf(query)?.map(({ field, isJson }) => (isJson ? undefined : field));
    const decoders = columns?.map(decoderOf) ?? [];
    const prepared: Prepared = { query, encoders: [], encode: (value) => value, decoders, fields, mapRows };
    return new Statement(this.#connection, prepared, method, this.#options, metadata, cacheConfig);
  }

  /** Runs statements in one request. */
  async batch(queries: readonly BatchQuery[]): Promise<unknown[]> {
    return await batched(this.#connection, queries, this.#options, (query) => query);
  }

  override async transaction<T>(run: (tx: Transaction) => Promise<T>): Promise<T> {
    return await this.#connection.transaction(async (connection) => {
      const session = new Session(connection, this.#dialect, this.#schema, this.#options);
      return await run(new Transaction("async", this.#dialect as never, session, this.#schema as never));
    });
  }

  // Results of a batch, of statements that Drizzle has not built.

  extractRawRunValueFromBatchResult(result: unknown): unknown {
    return runResult(result as ArrayResult);
  }

  extractRawAllValueFromBatchResult(result: unknown): unknown {
    return objectsOf(result as ArrayResult);
  }

  extractRawGetValueFromBatchResult(result: unknown): unknown {
    return objectsOf(result as ArrayResult)[0];
  }

  extractRawValuesValueFromBatchResult(result: unknown): unknown {
    return (result as ArrayResult).rows;
  }
}

class Transaction extends SQLiteTransaction<"async", RunResult, Record<string, unknown>, TablesRelationalConfig> {
  override async transaction<T>(): Promise<T> {
    throw new Error(NESTED);
  }
}

const INSERTS = /^\s*(?:insert|replace)\b/i;

class Statement extends SQLitePreparedQuery<{
  type: "async";
  run: RunResult;
  all: unknown;
  get: unknown;
  values: unknown;
  execute: unknown;
}> {
  readonly prepared: Prepared;
  readonly #connection: Connection;
  readonly #options: SessionOptions;
  // Drizzle sets it from outside.
  declare joinsNotNullableMap: Record<string, boolean> | undefined;

  constructor(
    connection: Connection,
    prepared: Prepared,
    method: "run" | "all" | "get",
    options: SessionOptions,
    metadata: Metadata | undefined,
    cacheConfig: unknown,
  ) {
    super("async", method, prepared.query, options.cache, metadata as never, cacheConfig as never);
    this.prepared = prepared;
    this.#connection = connection;
    this.#options = options;
  }

  override async run(given?: Record<string, unknown>): Promise<RunResult> {
    return await this.#ask(given, async (statement) => {
      // Such as a PRAGMA, or a VACUUM, which runs outside of transactions only.
      if (!isWrite(statement.sql)) return { rows: await this.#connection.arrays(statement), rowsAffected: 0 };
      const more = INSERTS.test(statement.sql) ? [LAST_ROW] : [];
      const [result, last] = await this.#connection.batch([statement, ...more]);
      return runResult(result as ArrayResult, last);
    });
  }

  override async all(given?: Record<string, unknown>): Promise<unknown> {
    if (!isMapped(this.prepared)) return await this.#ask(given, (statement) => this.#connection.objects(statement));
    return this.#mapped(await this.values(given));
  }

  override async get(given?: Record<string, unknown>): Promise<unknown> {
    const { prepared } = this;
    if (!isMapped(prepared)) return ((await this.all(given)) as unknown[])[0];
    const [row] = await this.values(given);
    return this.#first(row);
  }

  override async values(given?: Record<string, unknown>): Promise<ArrayResult["rows"]> {
    return await this.#ask(given, (statement) => this.#connection.arrays(statement));
  }

  override mapRunResult(result: unknown, isFromBatch?: boolean): unknown {
    return isFromBatch ? runResult(result as ArrayResult) : result;
  }

  override mapAllResult(result: unknown): unknown {
    const given = result as ArrayResult;
    return isMapped(this.prepared) ? this.#mapped(given.rows) : objectsOf(given);
  }

  override mapGetResult(result: unknown): unknown {
    const given = result as ArrayResult;
    return isMapped(this.prepared) ? this.#first(given.rows[0]) : objectsOf(given)[0];
  }

  async #ask<T>(
    given: Record<string, unknown> | undefined,
    ask: (statement: GivenStatement) => Promise<T>,
  ): Promise<T> {
    const statement = logged(statementOf(this.prepared, given), this.#options);
    const { sql, params } = statement;
    return await (this as unknown as WithCache).queryWithCache(sql, params, () => ask(statement));
  }

  #mapped(rows: ArrayResult["rows"]): unknown {
    return mapped(this.prepared, rows, this.joinsNotNullableMap);
  }

  /** A relational query maps its one row to the row itself. */
  #first(row: ArrayResult["rows"][number] | undefined): unknown {
    if (row === undefined) return undefined;
    const rows = this.#mapped([row]);
    return this.prepared.mapRows === undefined ? (rows as unknown[])[0] : rows;
  }
}

const LAST_ROW: GivenStatement = { sql: "SELECT last_insert_rowid()", params: [] };

function runResult({ rows, rowsAffected }: ArrayResult, last?: ArrayResult): RunResult {
  const id = last?.rows[0]?.[0];
  if (id === undefined) return { rows, rowsAffected };
  return { rows, rowsAffected, lastInsertRowid: typeof id === "string" ? BigInt(id) : (id as number) };
}

/** The conversion of a selected field's values: a BLOB is base64 on the wire. */
function decoderOf(field: unknown): Decode | undefined {
  return /^blob\b/i.test(decodingColumn(field)?.getSQLType() ?? "") ? toBytes : undefined;
}
