/** The tests of examples/shop on PostgreSQL; its own run has them on SQLite. */
import { afterAll } from "vitest";
import { testWith } from "../../../testing/needs.ts";
import { findProgram } from "../../../testing/programs.ts";
import { startPostgres } from "./stores.ts";

if (findProgram("postgresql") === undefined) {
  testWith("postgresql", "the shop on postgres", () => {});
} else {
  const store = await startPostgres();
  process.env["DATABASE_URL"] = store.url;
  afterAll(() => store.stop());
  // By a text: the example is type-checked by itself, under the options of a project.
  await import("../../../examples/shop/test/shop.test.ts" as string);
}
