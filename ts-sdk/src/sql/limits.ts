/** Every bound and default of the SQL module, in one place: code, tests and `docs/sql.md` read them from here. */

/** `maxDepth`: levels of `$and`, `$or` and `$not` in a merged filter. */
export const DEFAULT_MAX_DEPTH = 5;

/** `maxConditions`: conditions in a merged filter (each operator of each field is one). */
export const DEFAULT_MAX_CONDITIONS = 64;

/** `maxList`: elements of one `$in` or `$nin` list in a merged filter. */
export const DEFAULT_MAX_LIST = 1_000;

/** Levels that any filter may have, trusted ones too: what bounds the recursion of reader and printer. */
export const HARD_MAX_DEPTH = 100;

/** UTF-16 units of text that `parseFilter` looks at. */
export const MAX_FILTER_TEXT = 262_144;

/** Open brackets and braces at any place of a filter's text: each filter level takes two, so this covers 63 levels. */
export const MAX_FILTER_NESTING = 128;

/** Elements of one list that `parseFilter` accepts; `maxList` then bounds what a statement accepts. */
export const MAX_PARSED_LIST = 10_000;

/** Characters of an encoded cursor. */
export const MAX_CURSOR_TEXT = 16_384;

/** Keys of a cursor. */
export const MAX_CURSOR_KEYS = 32;
