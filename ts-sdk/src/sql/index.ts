/**
 * SQL: statements as text and parameters, from objects. This folder contains filters (trusted, and from users),
 * statements, and keyset pagination, for PostgreSQL and SQLite. It runs nothing: a sidecar does (`db` in `../outbound`).
 *
 * One file for each statement reads a call's options into plain nodes (`ast.ts`), with `filter.ts` for conditions,
 * `merge.ts` for users' filters, `conflict.ts` for upserts, and `keyset.ts` for cursors. Then `print.ts` writes the
 * nodes for a `dialect.ts`. No other file writes SQL. Guide: `docs/sql.md`.
 */
export { PageInfo } from "../schema/page-info.ts";
export { type All, all } from "./all.ts";
export type { FilterOptions } from "./conditions.ts";
export type { ConflictNothing, ConflictUpdate, OnConflict } from "./conflict.ts";
export { type CountOptions, sqlCount } from "./count.ts";
export { type CreateOptions, type CreateRows, type CreateValues, sqlCreate } from "./create.ts";
export { Cursor } from "./cursor.ts";
export { type DeleteOptions, sqlDelete } from "./delete.ts";
export { type Dialect, postgres, sqlite } from "./dialect.ts";
export {
  CursorError,
  type CursorErrorCode,
  FilterError,
  type FilterErrorCode,
  SqlError,
  type SqlErrorCode,
} from "./errors.ts";
export type { AnyRow, Assignments, ColumnOf, Filter } from "./filter-types.ts";
export { ids } from "./ids.ts";
export type { FieldOperator, LogicalOperator, Operator } from "./operators.ts";
export { type Page, type PageOptions, pageInfo } from "./page.ts";
export { parseFilter } from "./parse-filter.ts";
export type { Statement } from "./print.ts";
export { type OrderOf, type ReadOptions, sqlRead } from "./read.ts";
export { type Table, table } from "./table.ts";
export { sqlUpdate, type UpdateOptions } from "./update.ts";
export { bool, float, int, str, type Value } from "./value.ts";
