import type { Statement, Value } from "../sql/index.ts";
import { askSidecar } from "./sidecar.ts";

/** A value of a row as a sidecar sends it: 64-bit integers beyond 2^53 and decimals as texts, bytes as base64. */
export type Column = string | number | boolean | null | readonly Column[] | { readonly [key: string]: Column };

/** A row whose columns are not known. */
export type Row = Readonly<Record<string, Column>>;

/** What one statement of a batch came to. */
export interface BatchResult {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly rowsAffected: number;
}

/** A statement of a batch: `[sql, params]`, or with what it must come to: `[...sqlUpdate(…), { expect: { rows: 1 } }]`. */
export type BatchStatement = readonly [
  sql: string,
  params: readonly Value[],
  options?: { readonly expect: { readonly rows: number } },
];

/** How a statement is run. */
export interface ExecuteOptions {
  /** A text of one's own for this very request: a retry with it answers what the first one answered, and does nothing. */
  readonly idempotencyKey?: string;
}

/** How a batch is run. */
export interface BatchOptions extends ExecuteOptions {
  /** The database's own when left out. SQLite is always serializable. */
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
}

/** The sidecar `db`: statements as the SQL builder makes them, or `[sql, params]` by hand. */
export const db = {
  /**
   * Runs one statement and gives its rows: `await db.query<User>(sqlRead("users", { … }))`. The type is a promise of the
   * handler's, not checked: declare what the statement selects.
   *
   * @throws SidecarError with status 400 and the database's message in `detail` when the statement is wrong.
   */
  async query<R extends object = Row>(statement: Statement): Promise<R[]> {
    const response = await askSidecar("db", { method: "POST", path: "/sql/query", json: wire(statement) });
    return (response.json() as { rows: R[] }).rows;
  },

  /** Runs one statement and gives how many rows it changed. @throws SidecarError as `query` does. */
  async execute(statement: Statement, options: ExecuteOptions = {}): Promise<number> {
    const headers = keyHeaders(options);
    const json = wire(statement);
    const response = await askSidecar("db", { method: "POST", path: "/sql/execute", headers, json });
    return (response.json() as { rows_affected: number }).rows_affected;
  },

  /**
   * Runs statements in one transaction: all of them, or none.
   *
   * @throws SidecarError as `query` does; with status 409 when a statement comes to another number of rows than it expects,
   * and with 422 when the idempotency key was used for another request.
   */
  async batch(statements: readonly BatchStatement[], options: BatchOptions = {}): Promise<BatchResult[]> {
    const { isolation } = options;
    const json = { statements: statements.map(wire), ...(isolation === undefined ? {} : { isolation }) };
    const headers = keyHeaders(options);
    const response = await askSidecar("db", { method: "POST", path: "/sql/batch", headers, json });
    const { results } = response.json() as { results: (BatchResult & { rows_affected: number })[] };
    return results.map(({ columns, rows, rows_affected }) => ({ columns, rows, rowsAffected: rows_affected }));
  },
} as const;

function keyHeaders({ idempotencyKey }: ExecuteOptions): readonly (readonly [string, string])[] {
  return idempotencyKey === undefined ? [] : [["idempotency-key", idempotencyKey]];
}

/** A statement in JSON, which has no bigint: it goes as a text, and the database reads it by the column's type. */
function wire([sql, params = [], options]: BatchStatement): object {
  return { sql, params: params.map((value) => (typeof value === "bigint" ? value.toString() : value)), ...options };
}
