import type { Dialect, Statement } from "../../src/sql/index.ts";

/** A real database, with the methods that tests use. */
export interface Database {
  readonly name: Dialect["name"];
  /** Runs a statement and returns its rows. */
  query(statement: Statement): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}
