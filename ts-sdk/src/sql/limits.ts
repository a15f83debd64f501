/** Every limit and default of the SQL module, in one place: code, tests and `docs/sql.md` read them from here. */

/** `maxDepth`: levels of `$and`, `$or` and `$not` in a merged filter. */
export const DEFAULT_MAX_DEPTH = 5;

/** `maxConditions`: conditions in a merged filter (each operator of each field is one). */
export const DEFAULT_MAX_CONDITIONS = 64;

/** `maxList`: elements of one `$in` or `$nin` list in a merged filter. */
export const DEFAULT_MAX_LIST = 1_000;

/** The level limit of any filter, including trusted ones; it bounds the recursion of reader and printer. */
export const HARD_MAX_DEPTH = 100;

/** The limit of `parseFilter`'s text, in UTF-16 units. */
export const MAX_FILTER_TEXT = 262_144;

/**
 * The limit of nested brackets and braces in a filter's text: each filter level takes two, so this covers 63 levels.
 */
export const MAX_FILTER_NESTING = 128;

/** The limit of elements of one list in `parseFilter`; `maxList` then limits those of a statement. */
export const MAX_PARSED_LIST = 10_000;

/** The limit of characters of an encoded cursor. */
export const MAX_CURSOR_TEXT = 16_384;

/** The limit of keys of a cursor. */
export const MAX_CURSOR_KEYS = 32;
