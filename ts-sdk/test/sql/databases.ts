import { describe } from "vitest";
import { describeWith } from "../../../testing/needs.ts";
import { type Dialect, postgres, sqlite } from "../../src/sql/index.ts";
import type { Database } from "./database.ts";
import { startPostgres } from "./postgres.ts";
import { startSqlite } from "./sqlite.ts";

/** A dialect and how to start its database. */
export interface DatabaseCase {
  readonly dialect: Dialect;
  start(): Promise<Database>;
}

/** Runs a suite for each real database. */
export function describeDatabases(what: string, suite: (database: DatabaseCase) => void): void {
  describe(`${what}: sqlite`, () => suite({ dialect: sqlite, start: startSqlite }));
  describeWith("postgresql", `${what}: postgres`, () => suite({ dialect: postgres, start: startPostgres }));
}
