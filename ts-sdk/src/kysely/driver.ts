/** Kysely's driver: a connection is a request for each statement, or a transaction of the sidecar. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { BatchResult, DbStatement, Isolation } from "../outbound/db.ts";
import { type DialectName, isWrite, toParameters } from "../outbound/parameter.ts";
import { batch, execute, type HeaderPairs, query } from "../outbound/statements.ts";
import { OpenTransaction } from "../outbound/transaction.ts";

export class TenonDriver implements Driver {
  readonly #dialect: DialectName;

  constructor(dialect: DialectName) {
    this.#dialect = dialect;
  }

  async init(): Promise<void> {}

  async destroy(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Connection(this.#dialect);
  }

  async releaseConnection(connection: Connection): Promise<void> {
    await connection.release();
  }

  async beginTransaction(connection: Connection, settings: TransactionSettings): Promise<void> {
    await connection.begin(settings);
  }

  async commitTransaction(connection: Connection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: Connection): Promise<void> {
    await connection.rollBack();
  }
}

class Connection implements DatabaseConnection {
  readonly #dialect: DialectName;
  #transaction: OpenTransaction | undefined;
  #isReleased = false;
  /** The requests that begin and end transactions, by their statements. */
  readonly #requests = new WeakMap<CompiledQuery, () => Promise<void>>();

  constructor(dialect: DialectName) {
    this.#dialect = dialect;
  }

  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    if (accessMode === "read only") throw new Error("TenonDialect: there are no read-only transactions");
    if (isolationLevel === "snapshot") throw new Error('TenonDialect: there is no isolation level "snapshot"');
    const words = [isolationLevel && `isolation level ${isolationLevel}`, accessMode].filter(
      (word) => word !== undefined,
    );
    await this.#logged(words.length === 0 ? "begin" : `start transaction ${words.join(" ")}`, async () => {
      // PostgreSQL runs "read uncommitted" as "read committed", and the sidecar takes its name.
      const isolation = isolationLevel as Isolation | undefined;
      this.#transaction = await OpenTransaction.begin(isolation === undefined ? {} : { isolation });
    });
  }

  async commit(): Promise<void> {
    await this.#logged("commit", () => this.#end((transaction) => transaction.commit()));
  }

  async rollBack(): Promise<void> {
    await this.#logged("rollback", () => this.#end((transaction) => transaction.rollBack()));
  }

  async #end(end: (transaction: OpenTransaction) => Promise<void>): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    if (transaction !== undefined) await end(transaction);
  }

  /** Runs a request as the statement of other drivers, because Kysely logs what goes through `executeQuery`. */
  async #logged(sql: string, run: () => Promise<void>): Promise<void> {
    const statement = CompiledQuery.raw(sql);
    this.#requests.set(statement, run);
    await this.executeQuery(statement);
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#end((transaction) => transaction.rollBack());
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    // Kysely lets a transaction's object be used after its end.
    if (this.#isReleased) throw new Error("TenonDialect: the transaction or connection has ended");
    const request = this.#requests.get(compiled);
    if (request !== undefined) {
      await request();
      return { rows: [] };
    }
    const transaction = this.#transaction;
    if (transaction === undefined) return await this.#run<R>(compiled, []);
    return await transaction.send(() => this.#run<R>(compiled, transaction.headers));
  }

  async *streamQuery<R>(compiled: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    if (!Number.isInteger(chunkSize) || chunkSize <= 0) throw new Error("chunkSize must be a positive integer");
    const { rows } = await this.executeQuery<R>(compiled);
    for (let at = 0; at < rows.length; at += chunkSize) yield { rows: rows.slice(at, at + chunkSize) };
  }

  async #run<R>({ sql, parameters, query: node }: CompiledQuery, headers: HeaderPairs): Promise<QueryResult<R>> {
    const statement: DbStatement = [sql, toParameters(parameters, this.#dialect)];
    const rows = async () => (await query(statement, headers)) as R[];
    switch (node.kind) {
      case "InsertQueryNode":
      case "UpdateQueryNode":
      case "DeleteQueryNode":
      case "MergeQueryNode": {
        if ("explain" in node && node.explain) return { rows: await rows() };
        if (node.returning) return withCount(await rows());
        if (node.kind !== "InsertQueryNode" || this.#dialect !== "sqlite") {
          return { numAffectedRows: BigInt(await execute(statement, headers)), rows: [] };
        }
        // Both run on one connection.
        const results = await batch([statement, ["SELECT last_insert_rowid() AS id", []]], headers);
        const [written, inserted] = results as [BatchResult, BatchResult];
        const numAffectedRows = BigInt(written.rowsAffected);
        // Without a new row, the number is that of an earlier one.
        if (written.rowsAffected === 0) return { numAffectedRows, rows: [] };
        const { id } = inserted.rows[0] as { readonly id: string | number };
        return { numAffectedRows, insertId: BigInt(id), rows: [] };
      }
      case "RawNode": {
        if (!isWrite(sql)) return { rows: await rows() };
        // The answer to a query has no number of changed rows.
        const [result] = (await batch([statement], headers)) as [BatchResult];
        if (result.columns.length > 0) return withCount(result.rows as unknown as R[]);
        return { numAffectedRows: BigInt(result.rowsAffected), rows: [] };
      }
      default:
        return { rows: await rows() };
    }
  }
}

function withCount<R>(rows: R[]): QueryResult<R> {
  return { numAffectedRows: BigInt(rows.length), rows };
}
