/** The type of {@link all}. */
export type All = typeof all;

/** As `filter`: every row is meant. `sqlUpdate` and `sqlDelete` refuse to go without a filter or this. */
export const all: unique symbol = Symbol("tenon.sql.all");
