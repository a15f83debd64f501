/** `pageInfo`: a page and its cursors. */
import type { PageInfo } from "../schema/page-info.ts";
import { Cursor } from "./cursor.ts";
import { SqlError } from "./errors.ts";

/** The options with which the rows were read. */
export interface PageOptions {
  /** As in `sqlRead`. */
  readonly order: string | readonly string[];
  /** As in `sqlRead`. */
  readonly key?: string | undefined;
  /** The page's size: one less than the `limit` the rows were read with. */
  readonly limit: number;
  /** As in `sqlRead`. */
  readonly after?: string | null | undefined;
  /** As in `sqlRead`. */
  readonly before?: string | null | undefined;
  /** The number of rows of all pages, if it was counted. */
  readonly total?: number | undefined;
}

/** A page of rows. */
export interface Page<Row> {
  /** At most `limit` rows, in the requested order. */
  readonly rows: Row[];
  readonly page: PageInfo;
}

/**
 * Makes a page of the rows of a `sqlRead` with a limit of one more than the page's: the extra row shows that there are
 * more, and is dropped. Rows read with `before` are put into the requested order.
 *
 * A page read with `after` has preceding rows (and one read with `before` following rows), because the cursor's own row
 * exists.
 *
 * @throws {SqlError} `option` when an option is invalid
 * @throws {CursorError} when the first or last row lacks a column of `order`
 */
export function pageInfo<Row extends object>(rows: readonly Row[], options: PageOptions): Page<Row> {
  if (typeof options !== "object" || options === null) throw new SqlError("option", "the options must be an object");
  const { order, key, limit, after, before, total } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) throw new SqlError("option", "must be a positive integer", "limit");
  if (!Array.isArray(rows)) throw new SqlError("option", "must be a list", "rows");
  const backward = isGiven(before);
  if (backward && isGiven(after)) throw new SqlError("option", "must come with after or before, not both", "before");
  const more = rows.length > limit;
  const kept = rows.slice(0, limit);
  if (backward) kept.reverse();
  const has_next = backward || more;
  const has_prev = backward ? more : isGiven(after);
  const cursor = (row: Row | undefined) => (row === undefined ? null : Cursor.from(row, order, key).encode());
  const page: PageInfo = {
    has_next,
    has_prev,
    next_cursor: has_next ? cursor(kept[kept.length - 1]) : null,
    prev_cursor: has_prev ? cursor(kept[0]) : null,
  };
  if (total !== undefined) page.total = total;
  return { rows: kept, page };
}

function isGiven(cursor: string | null | undefined): boolean {
  return cursor !== undefined && cursor !== null;
}
