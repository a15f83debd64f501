/** Set-up for the tests of SQL: a sidecar on each database, with a table `users`. */
import { beforeAll, expect } from "vitest";
import { describeEach } from "../../../testing/needs.ts";
import type { Answer, Ask } from "./ask.ts";
import { sqlTargets, startForTests } from "./targets.ts";

/** The sidecar of a suite. */
export interface SqlSuite {
  readonly postgres: boolean;
  readonly ask: Ask;
  run(route: string, json: unknown): Promise<Answer>;
  query(sql: string, ...params: unknown[]): Promise<Answer>;
  execute(sql: string, ...params: unknown[]): Promise<Answer>;
}

/** Declares tests for each database. `$name` in the name is that of the database. */
export function describeSql(name: string, declare: (suite: SqlSuite) => void): void {
  describeEach(name, sqlTargets, (target) => {
    const { ask } = startForTests(target);
    const postgres = target.dialect === "postgres";
    const run: SqlSuite["run"] = (route, json) => ask("POST", `/sql/${route}`, { json });
    const execute: SqlSuite["execute"] = (sql, ...params) => run("execute", { sql, params });

    beforeAll(async () => {
      const id = postgres ? "id serial PRIMARY KEY" : "id INTEGER PRIMARY KEY";
      const made = await execute(
        `CREATE TABLE users (${id}, name TEXT NOT NULL UNIQUE, age INTEGER, active BOOLEAN, score DOUBLE PRECISION)`,
      );
      expect([made.status, made.text]).toEqual([200, '{"rows_affected":0}']);
    });

    declare({
      postgres,
      ask,
      run,
      query: (sql, ...params) => run("query", { sql, params }),
      execute,
    });
  });
}
