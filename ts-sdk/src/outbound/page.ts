/** `db.page`: a page of rows with its cursors in one call. An app whose sources call no `page` does not contain this code. */

import { error } from "../http/response.ts";
import { FILTER_OPTIONS } from "../sql/conditions.ts";
import { sqlCount } from "../sql/count.ts";
import { type Dialect, portable } from "../sql/dialect.ts";
import { CursorError, SqlError } from "../sql/errors.ts";
import type { AnyRow } from "../sql/filter-types.ts";
import { type Page, pageInfo } from "../sql/page.ts";
import { type ReadOptions, sqlRead } from "../sql/read.ts";
import type { Table } from "../sql/table.ts";
import type { DbStatement, Row } from "./db.ts";
import { SidecarError } from "./sidecar.ts";

/** Options of `db.page`. All are trusted, except `merge`, `after` and `before`. */
export interface DbPageOptions<Cols = AnyRow> extends ReadOptions<Cols> {
  /** As in `sqlRead`; a page needs it. */
  readonly order: NonNullable<ReadOptions<Cols>["order"]>;
  /** The page's size. */
  readonly limit: number;
  /** A page of a cursor has no number. */
  readonly page?: undefined;
  /** Counts the rows of all pages, with a statement of its own. */
  readonly total?: boolean | undefined;
}

/** Reads a page of rows: `await db.page("users", { order: "name", key: "id", limit: 20, after, total: true })`. */
export interface ReadPage {
  <Cols extends object>(table: Table<Cols>, options: DbPageOptions<NoInfer<Cols>>): Promise<Page<Cols>>;
  <R extends object = Row>(table: string, options: DbPageOptions): Promise<Page<R>>;
  <Cols extends object>(
    dialect: Dialect,
    table: Table<Cols>,
    options: DbPageOptions<NoInfer<Cols>>,
  ): Promise<Page<Cols>>;
  <R extends object = Row>(dialect: Dialect, table: string, options: DbPageOptions): Promise<Page<R>>;
}

/** The options that decide which rows there are. */
const CONDITIONS: ReadonlySet<string> = new Set(FILTER_OPTIONS);

type Query = (statement: DbStatement) => Promise<Record<string, unknown>[]>;

/** Runs `db.page`. Columns of the order that are not selected are read for the cursors, and left out of the rows. */
export async function readPage(given: readonly unknown[], query: Query): Promise<Page<object>> {
  // The last argument has the options; before it is the table, and a dialect may be first.
  const target = (given.length > 2 ? given.slice(0, -1) : [portable, given[0]]) as unknown as [string];
  const { total = false, ...options } = (given.at(-1) ?? {}) as DbPageOptions;
  const { select, order, key, limit, after, before } = options;
  if (options.page !== undefined) throw new SqlError("option", "a page by cursor has no number", "page");
  const ordered = [order ?? [], key ?? []].flat().map((term) => String(term).replace(/^-/, ""));
  const added = select === undefined ? [] : [...new Set(ordered)].filter((column) => !select.includes(column));
  const read: ReadOptions = {
    ...options,
    ...(added.length === 0 ? {} : { select: [...(select as readonly string[]), ...added] }),
    limit: limit + 1,
  };
  const placed = (after ?? before ?? undefined) !== undefined;
  const statement = placed ? readAt(after, () => sqlRead(...target, read)) : sqlRead(...target, read);
  // Only the given ones: a filter that is there and undefined is refused.
  const conditions = Object.fromEntries(Object.entries(options).filter(([name]) => CONDITIONS.has(name)));
  const counting = total ? query(sqlCount(...target, conditions as never)) : undefined;
  const reading = placed ? query(statement).catch((thrown) => refuseValues(after, thrown)) : query(statement);
  const [rows, counted] = await Promise.all([reading, counting]);
  const count = counted === undefined ? undefined : Number(counted[0]?.["count"]);
  const page = pageInfo(rows, { order: order as string, key, limit, after, before, total: count });
  for (const column of added) for (const row of page.rows) delete row[column];
  return page;
}

type GivenCursor = string | null | undefined;

/** Makes a statement; a cursor that is not of its order is the client's error. */
function readAt<T>(after: GivenCursor, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    throw thrown instanceof CursorError ? invalidCursor(after) : thrown;
  }
}

/** A cursor of another table may have values that the columns cannot have: the database refuses them (class 22). */
function refuseValues(after: GivenCursor, thrown: unknown): never {
  throw thrown instanceof SidecarError && thrown.sqlstate?.startsWith("22") ? invalidCursor(after) : thrown;
}

/** The answer to a request whose cursor is invalid: an input error, as of the query's key of that name. */
function invalidCursor(after: GivenCursor): unknown {
  const pointer = `#/${after === undefined || after === null ? "before" : "after"}`;
  const failure = { in: "query", pointer, code: "format", detail: "must be a cursor of this list" };
  return error(400, "The input is not valid.", { errors: [failure] });
}
