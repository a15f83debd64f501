import { bool } from "./bool.ts";
import { i64 } from "./number.ts";
import type { TypeSchema } from "./object.ts";
import { createObject } from "./schema.ts";
import { string } from "./string.ts";

/** Where a page stands in the whole; goes to the client as it is. */
export interface PageInfo {
  /** Whether rows follow. */
  has_next: boolean;
  /** Whether rows precede. */
  has_prev: boolean;
  /** For `after`, of the last row; null when no rows follow, or the page is empty. */
  next_cursor: string | null;
  /** For `before`, of the first row; null when no rows precede, or the page is empty. */
  prev_cursor: string | null;
  /** The rows of all pages, when `pageInfo` was told. */
  total?: number;
}

/** The `Type` of what `pageInfo` gives, for a response: `Type("Users", { users: list(User), page: PageInfo })`. */
export const PageInfo = createObject("Type", "type", "PageInfo", {
  has_next: bool(),
  has_prev: bool(),
  next_cursor: string().nullable(),
  prev_cursor: string().nullable(),
  total: i64({ min: 0 }).optional(),
}) as TypeSchema<PageInfo, "required", never>;
