/** The type of {@link all}. */
export type All = typeof all;

/** A `filter` that selects every row. `sqlUpdate` and `sqlDelete` require a filter or this. */
export const all: unique symbol = Symbol("tenon.sql.all");
