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
  async execute(statement: Statement): Promise<number> {
    const response = await askSidecar("db", { method: "POST", path: "/sql/execute", json: wire(statement) });
    return (response.json() as { rows_affected: number }).rows_affected;
  },

  /** Runs statements in one transaction: all of them, or none. @throws SidecarError as `query` does. */
  async batch(statements: readonly Statement[]): Promise<BatchResult[]> {
    const json = { statements: statements.map(wire) };
    const response = await askSidecar("db", { method: "POST", path: "/sql/batch", json });
    const { results } = response.json() as { results: (BatchResult & { rows_affected: number })[] };
    return results.map(({ columns, rows, rows_affected }) => ({ columns, rows, rowsAffected: rows_affected }));
  },
} as const;

/** A statement in JSON, which has no bigint: it goes as a text, and the database reads it by the column's type. */
function wire([sql, params = []]: Statement): { sql: string; params: Exclude<Value, bigint>[] } {
  return { sql, params: params.map((value) => (typeof value === "bigint" ? value.toString() : value)) };
}
