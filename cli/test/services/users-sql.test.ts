/** The tests of examples/users-sql, with PostgreSQL beside SQLite. */
import { afterAll } from "vitest";
import { startPostgres } from "./stores.ts";

const store = await startPostgres();
process.env["DATABASE_URL"] = store.url;
afterAll(() => store.stop());
await import("../../../examples/users-sql/test/handler.test.ts");
