import type { Dialect, Statement } from "../../src/sql/index.ts";

/** A real database, as the tests use it. */
export interface Database {
  readonly name: Dialect["name"];
  /** Runs a statement and gives its rows. */
  query(statement: Statement): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}
