/** `db.transaction`: statements on one connection. */
import { environmentKey, TRANSACTION } from "../abi.ts";
import { platform } from "../platform.ts";
import type { BatchResult, BatchStatement, Column, DbStatement, Isolation, Row } from "./db.ts";
import { askSidecar, SidecarError } from "./sidecar.ts";
import type { ArrayRows, HeaderPairs } from "./statements.ts";

/** Options of a transaction. */
export interface TransactionOptions {
  /** The isolation level; the database's own when left out. SQLite is always serializable. */
  readonly isolation?: Isolation;
}

/** An open transaction. Its methods are those of `db`; each throws once the transaction has ended. */
export interface Transaction {
  /**
   * Runs one statement and returns its rows. @throws SidecarError as `db.query` does; the transaction has ended then
   */
  query<R extends object = Row>(statement: DbStatement): Promise<R[]>;
  /** Runs one statement and returns its rows as arrays. @throws SidecarError as `query` does */
  values<R extends readonly unknown[] = Column[]>(statement: DbStatement): Promise<R[]>;
  /** Runs one statement and returns the number of rows that it changed. @throws SidecarError as `query` does */
  execute(statement: DbStatement): Promise<number>;
  /** Runs statements in one request. @throws SidecarError as `db.batch` does; the transaction has ended then */
  batch(statements: readonly BatchStatement[]): Promise<BatchResult[]>;
}

/** The requests of `db`, each with headers. */
export interface Requests {
  query<R extends object>(statement: DbStatement, headers: HeaderPairs): Promise<R[]>;
  values(statement: DbStatement, headers: HeaderPairs): Promise<ArrayRows>;
  execute(statement: DbStatement, headers: HeaderPairs): Promise<number>;
  batch(statements: readonly BatchStatement[], headers: HeaderPairs): Promise<BatchResult[]>;
}

const PATH = "/sql/transaction";

const NESTED = "db.transaction: transactions are not nested; use the `tx` of the one that is open, or end it first";

const ENDED = "db.transaction: the transaction has ended; `tx` is for its function only";

/** The environments of requests with an open transaction. Only `testApp` gives a request one environment object. */
const busy = new WeakSet<object>();

/** Runs `db.transaction`. */
export async function inTransaction<T>(
  run: (tx: Transaction) => Promise<T>,
  options: TransactionOptions,
  requests: Requests,
): Promise<T> {
  const open = await OpenTransaction.begin(options);
  const { headers } = open;
  const tx: Transaction & { transaction(): never } = {
    query: (statement) => open.send(() => requests.query(statement, headers)),
    values: async <R>(statement: DbStatement) =>
      (await open.send(() => requests.values(statement, headers))).rows as unknown as R[],
    execute: (statement) => open.send(() => requests.execute(statement, headers)),
    batch: (statements) => open.send(() => requests.batch(statements, headers)),
    transaction: () => {
      throw new Error(NESTED);
    },
  };
  return await open.around(() => run(tx));
}

/** A transaction that has begun, and the headers that name it. */
export class OpenTransaction {
  readonly headers: HeaderPairs;
  readonly #scope: object;
  readonly #pending = new Set<Promise<unknown>>();
  #hasEnded = false;

  private constructor(id: string, scope: object) {
    this.headers = [[TRANSACTION, id]];
    this.#scope = scope;
  }

  /** Begins a transaction. @throws Error when the request has one already */
  static async begin({ isolation }: TransactionOptions = {}): Promise<OpenTransaction> {
    const scope = platform[environmentKey]?.() ?? {};
    if (busy.has(scope)) throw new Error(NESTED);
    busy.add(scope);
    try {
      const json = isolation === undefined ? {} : { isolation };
      const begun = await askSidecar("db", { method: "POST", path: PATH, json });
      return new OpenTransaction((begun.json() as { id: string }).id, scope);
    } catch (thrown) {
      busy.delete(scope);
      throw thrown;
    }
  }

  /** Sends a statement, which is awaited before the transaction ends. */
  async send<R>(ask: () => Promise<R>): Promise<R> {
    if (this.#hasEnded) throw new Error(ENDED);
    const sent = ask();
    this.#pending.add(sent);
    try {
      return await sent;
    } finally {
      this.#pending.delete(sent);
    }
  }

  /** Commits when a function resolves, and rolls back when it throws. */
  async around<T>(run: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await run();
    } catch (thrown) {
      await this.rollBack();
      throw thrown;
    }
    await this.commit();
    return result;
  }

  async commit(): Promise<void> {
    await this.#end();
    try {
      await askSidecar("db", { method: "POST", path: `${PATH}/commit`, headers: this.headers });
    } finally {
      busy.delete(this.#scope);
    }
  }

  /**
   * Rolls back. A failure is ignored: the sidecar rolls back by itself in time, and the reason of the rollback is what
   * counts.
   */
  async rollBack(): Promise<void> {
    await this.#end();
    try {
      await askSidecar("db", { method: "DELETE", path: PATH, headers: this.headers, expect: [404] });
    } catch (thrown) {
      if (!(thrown instanceof SidecarError)) throw thrown;
    } finally {
      busy.delete(this.#scope);
    }
  }

  async #end(): Promise<void> {
    if (this.#hasEnded) throw new Error(ENDED);
    this.#hasEnded = true;
    await Promise.allSettled(this.#pending);
  }
}
