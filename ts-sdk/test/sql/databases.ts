import { describe } from "vitest";
import { type Dialect, postgres, sqlite } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";
import { findPostgres, startPostgres } from "./postgres.ts";
import { startSqlite } from "./sqlite.ts";

/** A dialect and how to start its database. */
export interface DatabaseCase {
  readonly dialect: Dialect;
  start(): Promise<Database>;
}

const missing = (() => {
  const found = findPostgres();
  return "missing" in found ? found.missing : undefined;
})();

/**
 * Runs a suite for each real database. Without PostgreSQL's server its suite fails where `CI` is set, and is skipped with
 * the reason in the report elsewhere.
 */
export function describeDatabases(what: string, suite: (database: DatabaseCase) => void): void {
  describe(`${what}: sqlite`, () => suite({ dialect: sqlite, start: startSqlite }));
  const { CI } = process.env;
  if (missing !== undefined && !CI) {
    process.stderr.write(`skipped: ${what}: postgres: ${missing}\n`);
    describe.skip(`${what}: postgres (${missing})`, () => suite({ dialect: postgres, start: startPostgres }));
    return;
  }
  describe(`${what}: postgres`, () => suite({ dialect: postgres, start: startPostgres }));
}
