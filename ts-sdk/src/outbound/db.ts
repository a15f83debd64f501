/** The client of the sidecar `db`. */
import { atRehearsal } from "../rehearse.ts";
import type { Value } from "../sql/index.ts";
import { type ReadPage, readPage } from "./page.ts";
import { askSidecar } from "./sidecar.ts";
import { batch, execute, type HeaderPairs, query, queryOf, rowsOf, values } from "./statements.ts";
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

/**
 * The sidecar `db`. It takes the SQL builder's statements, or `[sql, params]` by hand.
 *
 * @example
 * const users = await db.query(sqlRead("users", { filter: { active: true }, limit: 20 }));
 * const changed = await db.execute(["UPDATE users SET name = $1 WHERE id = $2", [name, id]]);
 */
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

  /**
   * Runs one statement and returns its rows as arrays, with every column in its order: `query` returns an object for each
   * row, which has one member for columns of one name. The type is not checked.
   *
   * @throws SidecarError as `query` does.
   */
  async values<R extends readonly unknown[] = Column[]>(statement: DbStatement): Promise<R[]> {
    return (await values(statement)).rows as unknown as R[];
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
    return await inTransaction(run, options, { query, values, execute, batch });
  },
} as const;

atRehearsal(() => db.query(["SELECT $1", ["x"]]));

function keyHeaders({ idempotencyKey }: ExecuteOptions): HeaderPairs {
  return idempotencyKey === undefined ? [] : [["idempotency-key", idempotencyKey]];
}
