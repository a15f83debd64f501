/** Runs a dialect's migration, or the statements that are given, on the sidecar at `url`, as one transaction. */
export function migrate(dialect: string, url: string, run?: readonly { readonly sql: string }[]): Promise<void>;
