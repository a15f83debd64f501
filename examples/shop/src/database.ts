import { type Dialect, env, postgres, sqlite } from "@tenon/sdk";

/** SQL dialect of the database behind the sidecar `db`. */
export const dialect = (): Dialect => (env("DIALECT") === "postgres" ? postgres : sqlite);
