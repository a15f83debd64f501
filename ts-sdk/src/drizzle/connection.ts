/** The statements of a Drizzle session: each on its own, or all in one transaction. */
import type { Column, DbStatement, Isolation, Row } from "../outbound/db.ts";
import { type DialectName, toParameters } from "../outbound/parameter.ts";
import { type ArrayResult, batchValues, type HeaderPairs, query, values } from "../outbound/statements.ts";
import { OpenTransaction } from "../outbound/transaction.ts";

/** SQL, and the values of its placeholders as Drizzle gives them. */
export interface GivenStatement {
  readonly sql: string;
  readonly params: readonly unknown[];
}

export class Connection {
  readonly #dialect: DialectName;
  readonly #transaction: OpenTransaction | undefined;

  constructor(dialect: DialectName, transaction?: OpenTransaction) {
    this.#dialect = dialect;
    this.#transaction = transaction;
  }

  /** The rows of a statement, as objects. */
  async objects(statement: GivenStatement): Promise<Row[]> {
    return await this.#send((headers) => query<Row>(this.#of(statement), headers));
  }

  /** The rows of a statement, as arrays. */
  async arrays(statement: GivenStatement): Promise<Column[][]> {
    return await this.#send(async (headers) => (await values(this.#of(statement), headers)).rows);
  }

  /** Runs statements in one request: all, or none. */
  async batch(statements: readonly GivenStatement[]): Promise<ArrayResult[]> {
    return await this.#send((headers) =>
      batchValues(
        statements.map((each) => this.#of(each)),
        headers,
      ),
    );
  }

  /** Runs a function in a transaction, which is committed when the function resolves and rolled back when it throws. */
  async transaction<T>(run: (connection: Connection) => Promise<T>, isolation?: Isolation): Promise<T> {
    if (this.#transaction !== undefined) throw new Error(NESTED);
    const open = await OpenTransaction.begin(isolation === undefined ? {} : { isolation });
    return await open.around(() => run(new Connection(this.#dialect, open)));
  }

  async #send<T>(ask: (headers: HeaderPairs) => Promise<T>): Promise<T> {
    const transaction = this.#transaction;
    return transaction === undefined ? await ask([]) : await transaction.send(() => ask(transaction.headers));
  }

  #of({ sql, params }: GivenStatement): DbStatement {
    return [sql, toParameters(params, this.#dialect)];
  }
}

/** The error of a transaction inside of another. */
export const NESTED = "drizzle: transactions are not nested; use the `tx` of the one that is open, or end it first";

/** The rows of a result of a batch, as objects. */
export function objectsOf({ columns, rows }: ArrayResult): Row[] {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] as Column])));
}
