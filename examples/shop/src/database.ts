import { type Dialect, env, postgres, sqlite } from "@tenon/sdk";

/** The SQL of the database that the sidecar `db` has. */
export const dialect = (): Dialect => (env("DIALECT") === "postgres" ? postgres : sqlite);
