import { bool } from "./bool.ts";
import { i64 } from "./number.ts";
import type { TypeSchema } from "./object.ts";
import { createObject } from "./schema.ts";
import { string } from "./string.ts";

/** The position of a page in the whole list. It can be sent to the client as it is. */
export interface PageInfo {
  /** True when rows follow. */
  has_next: boolean;
  /** True when rows precede. */
  has_prev: boolean;
  /** The cursor of the last row, for `after`; null when no rows follow, or the page is empty. */
  next_cursor: string | null;
  /** The cursor of the first row, for `before`; null when no rows precede, or the page is empty. */
  prev_cursor: string | null;
  /** The number of rows of all pages, if `pageInfo` got it. */
  total?: number;
}

/** The `Type` of `pageInfo`'s result, for a response: `Type("Users", { users: list(User), page: PageInfo })`. */
export const PageInfo = createObject("Type", "type", "PageInfo", {
  has_next: bool(),
  has_prev: bool(),
  next_cursor: string().nullable(),
  prev_cursor: string().nullable(),
  total: i64({ min: 0 }).optional(),
}) as TypeSchema<PageInfo, "required", never>;
