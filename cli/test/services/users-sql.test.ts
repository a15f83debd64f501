/** The tests of examples/users-sql, with PostgreSQL beside SQLite. */
import { afterAll } from "vitest";
import { testWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { startPostgres } from "./stores.ts";

if (findProgram("postgresql") === undefined) {
  // The tests are declared for PostgreSQL when its address is known, so this one stands for them.
  testWith("postgresql", "users on postgres", () => {});
} else {
  const store = await startPostgres();
  process.env["DATABASE_URL"] = store.url;
  afterAll(() => store.stop());
}
await import("../../../examples/users-sql/test/handler.test.ts");
