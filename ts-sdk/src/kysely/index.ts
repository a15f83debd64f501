/** `@tenon/sdk/kysely`: Kysely over `db`. */
export type { DialectName } from "../outbound/parameter.ts";
export { TenonDialect, type TenonDialectConfig } from "./dialect.ts";
