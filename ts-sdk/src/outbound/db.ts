/** The client of the sidecar `db`. */
import { encodeBase64 } from "../encoding/base64.ts";
import { writeJson } from "../http/json.ts";
import { JSON_TYPE } from "../http/response.ts";
import { atRehearsal } from "../rehearse.ts";
import type { Value } from "../sql/index.ts";
import { type ReadPage, readPage } from "./page.ts";
import type { HttpResponse } from "./response.ts";
import { askSidecar, type SidecarRequest } from "./sidecar.ts";
import { inTransaction, type Transaction, type TransactionOptions } from "./transaction.ts";

/** A value of a row as a sidecar sends it: 64-bit integers beyond 2^53 and decimals are texts, bytes are base64. */
export type Column = string | number | boolean | null | readonly Column[] | { readonly [key: string]: Column };

/** A row of unknown columns. */
export type Row = Readonly<Record<string, Column>>;

/** The result of one statement of a batch. */
export interface BatchResult {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly rowsAffected: number;
}

/** A parameter of a statement: a value of the SQL builder, or bytes. Infinite numbers are parameters as well. */
export type Parameter = Value | Uint8Array;

/** A statement, as the SQL builder makes it or by hand: `["INSERT INTO files (bytes) VALUES ($1)", [bytes]]`. */
export type DbStatement = readonly [sql: string, params: readonly Parameter[]];

/**
 * A statement of a batch: `[sql, params]`, or with the expected result: `[...sqlUpdate(…), { expect: { rows: 1 } }]`.
 */
export type BatchStatement = readonly [
  sql: string,
  params: readonly Parameter[],
  options?: { readonly expect: { readonly rows: number } },
];

/** Options of a statement. */
export interface ExecuteOptions {
  /** A text that identifies this request: a retry with it gets the first answer, and changes nothing. */
  readonly idempotencyKey?: string;
}

/** Options of a batch. */
export interface BatchOptions extends ExecuteOptions {
  /** The isolation level; the database's own when left out. SQLite is always serializable. */
  readonly isolation?: Isolation;
}

/** The isolation level of a transaction. */
export type Isolation = "read committed" | "repeatable read" | "serializable";

/** The sidecar `db`. It takes the SQL builder's statements, or `[sql, params]` by hand. */
export const db = {
  /**
   * Runs one statement and returns its rows: `await db.query<User>(sqlRead("users", { … }))`. The type is not checked:
   * declare the columns that the statement selects.
   *
   * @throws SidecarError with status 400 and the database's message in `detail` when the statement is wrong.
   */
  async query<R extends object = Row>(statement: DbStatement): Promise<R[]> {
    return rowsOf<R>(await askSidecar("db", queryOf(statement)));
  },

  /** Runs one statement and returns the number of rows that it changed. @throws SidecarError as `query` does. */
  async execute(statement: DbStatement, options: ExecuteOptions = {}): Promise<number> {
    return await execute(statement, keyHeaders(options));
  },

  /**
   * Runs statements in one transaction: all of them, or none.
   *
   * @throws SidecarError as `query` does; with status 409 when a statement affects another number of rows than it
   *   expects, and with 422 when the idempotency key was used for another request.
   */
  async batch(statements: readonly BatchStatement[], options: BatchOptions = {}): Promise<BatchResult[]> {
    const { isolation } = options;
    return await batch(statements, keyHeaders(options), isolation === undefined ? {} : { isolation });
  },

  /**
   * Reads a page of rows and its cursors: `await db.page("users", { select, filter, merge, allow, order, key, limit, after, total: true })`. The
   * options are those of `sqlRead`, and a dialect may be first.
   *
   * @throws SidecarError as `query` does, and what `sqlRead` and `pageInfo` throw
   */
  page: ((...given: unknown[]) => readPage(given, (statement) => query(statement))) as ReadPage,

  /**
   * Runs a function in a transaction, which is committed when the function resolves and rolled back when it throws:
   *
   * ```ts
   * await db.transaction(async (tx) => {
   *   const [account] = await tx.query<{ balance: number }>(["SELECT balance FROM accounts WHERE id = $1 FOR UPDATE", [from]]);
   *   guard(account.balance >= amount, 409, "too little money");
   *   await tx.execute(["UPDATE accounts SET balance = balance - $1 WHERE id = $2", [amount, from]]);
   * });
   * ```
   *
   * It holds a connection to the database: keep it short, and use `tx`, not `db`, inside. A failing statement rolls the
   * transaction back, even if the function catches the error. So do 5 s between two statements, and 30 s in all.
   * Transactions are not nested. Prefer `batch` where no statement depends on the rows of another.
   *
   * @returns the function's result
   * @throws the function's exception; SidecarError as `query` does, with status 404 when the transaction has ended
   *   before its commit, and with `retryable` when it conflicts with another transaction
   */
  async transaction<T>(run: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return await inTransaction(run, options, { query, execute, batch });
  },
} as const;

atRehearsal(() => db.query(["SELECT $1", ["x"]]));

async function query<R extends object>(statement: DbStatement, headers: Headers = []): Promise<R[]> {
  return rowsOf<R>(await askSidecar("db", queryOf(statement, headers)));
}

function queryOf(statement: DbStatement, headers: Headers = []): SidecarRequest {
  return post("/sql/query", headers, wire(statement));
}

function post(path: string, headers: Headers, json: string): SidecarRequest {
  return { method: "POST", path, headers: [JSON_TYPE[0], ...headers], body: json };
}

function rowsOf<R>(response: HttpResponse): R[] {
  return (response.json() as { rows: R[] }).rows;
}

async function execute(statement: DbStatement, headers: Headers): Promise<number> {
  const response = await askSidecar("db", post("/sql/execute", headers, wire(statement)));
  return (response.json() as { rows_affected: number }).rows_affected;
}

async function batch(
  statements: readonly BatchStatement[],
  headers: Headers,
  more: { readonly isolation?: Isolation } = {},
): Promise<BatchResult[]> {
  const json = withList(more, "statements", statements.map(wire));
  const response = await askSidecar("db", post("/sql/batch", headers, json));
  const { results } = response.json() as { results: (BatchResult & { rows_affected: number })[] };
  return results.map(({ columns, rows, rows_affected }) => ({ columns, rows, rowsAffected: rows_affected }));
}

type Headers = readonly (readonly [name: string, value: string])[];

function keyHeaders({ idempotencyKey }: ExecuteOptions): Headers {
  return idempotencyKey === undefined ? [] : [["idempotency-key", idempotencyKey]];
}

function wire(statement: BatchStatement): string {
  // Indexes, because destructuring with an iterator is slow in the engine.
  const { 0: sql, 1: params = [], 2: options } = statement;
  return withList({ ...options, sql }, "params", params.map(wireValue));
}

/** Writes an object as JSON, with a further member: a list of JSON texts. */
function withList(object: object, name: string, items: readonly string[]): string {
  const members = writeJson(object).slice(1, -1);
  return `{${members}${members === "" ? "" : ","}"${name}":[${items.join(",")}]}`;
}

/**
 * Writes a parameter as JSON, which has no bytes and no infinity, and whose writer has no integers beyond 2^53. A
 * sidecar reads integers of 64 bits with all digits. PostgreSQL converts the text of a larger one to the column's type.
 */
function wireValue(value: Parameter): string {
  if (typeof value === "bigint") return BigInt.asIntN(64, value) === value ? `${value}` : `"${value}"`;
  // The writer would write 0.
  if (Object.is(value, -0)) return '{"float":"-0"}';
  if (typeof value === "number" && !Number.isFinite(value)) return `{"float":"${value}"}`;
  // The writer would round integers beyond 2^53, and write those beyond 2^63 as integers, which SQLite does not have.
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return Math.abs(value) < 2 ** 63 ? `${BigInt(value)}` : value.toExponential();
  }
  return writeJson(value instanceof Uint8Array ? { base64: encodeBase64(value) } : (value ?? null));
}
