/** `db.transaction`: statements on one connection. */
import { environmentKey, TRANSACTION } from "../abi.ts";
import { platform } from "../platform.ts";
import type { BatchResult, BatchStatement, DbStatement, Isolation, Row } from "./db.ts";
import { askSidecar, SidecarError } from "./sidecar.ts";

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
  /** Runs one statement and returns the number of rows that it changed. @throws SidecarError as `query` does */
  execute(statement: DbStatement): Promise<number>;
  /** Runs statements in one request. @throws SidecarError as `db.batch` does; the transaction has ended then */
  batch(statements: readonly BatchStatement[]): Promise<BatchResult[]>;
}

type Headers = readonly (readonly [name: string, value: string])[];

/** The requests of `db`, each with headers. */
export interface Requests {
  query<R extends object>(statement: DbStatement, headers: Headers): Promise<R[]>;
  execute(statement: DbStatement, headers: Headers): Promise<number>;
  batch(statements: readonly BatchStatement[], headers: Headers): Promise<BatchResult[]>;
}

const PATH = "/sql/transaction";

const NESTED = "db.transaction: transactions are not nested; use the `tx` of the one that is open, or end it first";

/** The environments of requests with an open transaction. Only `testApp` gives a request one environment object. */
const busy = new WeakSet<object>();

/** Runs `db.transaction`. */
export async function inTransaction<T>(
  run: (tx: Transaction) => Promise<T>,
  { isolation }: TransactionOptions,
  requests: Requests,
): Promise<T> {
  const scope = platform[environmentKey]?.() ?? {};
  if (busy.has(scope)) throw new Error(NESTED);
  busy.add(scope);
  try {
    const json = isolation === undefined ? {} : { isolation };
    const begun = await askSidecar("db", { method: "POST", path: PATH, json });
    return await runIn((begun.json() as { id: string }).id, run, requests);
  } finally {
    busy.delete(scope);
  }
}

async function runIn<T>(id: string, run: (tx: Transaction) => Promise<T>, requests: Requests): Promise<T> {
  const headers: Headers = [[TRANSACTION, id]];
  const pending = new Set<Promise<unknown>>();
  let hasEnded = false;
  /** Sends a statement, which is awaited before the transaction ends. */
  const send = async <R>(ask: () => Promise<R>): Promise<R> => {
    if (hasEnded) throw new Error("db.transaction: the transaction has ended; `tx` is for its function only");
    const sent = ask();
    pending.add(sent);
    try {
      return await sent;
    } finally {
      pending.delete(sent);
    }
  };
  const tx: Transaction & { transaction(): never } = {
    query: (statement) => send(() => requests.query(statement, headers)),
    execute: (statement) => send(() => requests.execute(statement, headers)),
    batch: (statements) => send(() => requests.batch(statements, headers)),
    transaction: () => {
      throw new Error(NESTED);
    },
  };
  let result: T;
  try {
    result = await run(tx);
  } catch (thrown) {
    hasEnded = true;
    await Promise.allSettled(pending);
    await rollBack(headers);
    throw thrown;
  }
  hasEnded = true;
  await Promise.allSettled(pending);
  await askSidecar("db", { method: "POST", path: `${PATH}/commit`, headers });
  return result;
}

/**
 * Rolls back. A failure is ignored: the sidecar rolls back by itself in time, and the reason of the rollback is what
 * counts.
 */
async function rollBack(headers: Headers): Promise<void> {
  try {
    await askSidecar("db", { method: "DELETE", path: PATH, headers, expect: [404] });
  } catch (thrown) {
    if (!(thrown instanceof SidecarError)) throw thrown;
  }
}
