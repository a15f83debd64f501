/**
 * Words that must be quoted as a column or a table. Each list has the words that the database refuses, or reads
 * differently, when they are unquoted in a place where this module writes a name: `reserved.test.ts` checks with both
 * parsers.
 */

/** PostgreSQL: the keywords that `pg_get_keywords()` reports as reserved, with or without "can be function or type". */
export const POSTGRES_RESERVED: ReadonlySet<string> = new Set(
  (
    "all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column " +
    "concurrently constraint create cross current_catalog current_date current_role current_schema current_time " +
    "current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from " +
    "full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime " +
    "localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning right " +
    "select session_user similar some symmetric system_user table tablesample then to trailing true union unique user using " +
    "variadic verbose when where window with"
  ).split(" "),
);

/** SQLite: the keywords that its grammar does not accept as names, and the three that read as a function. */
export const SQLITE_RESERVED: ReadonlySet<string> = new Set(
  (
    "add all alter and as autoincrement between case cast check collate commit constraint create current_date current_time " +
    "current_timestamp default deferrable delete distinct drop else escape except exists foreign from group having in index " +
    "insert intersect into is isnull join limit not nothing notnull null on or order primary raise references returning select " +
    "set table then to transaction union unique update using values when where with"
  ).split(" "),
);
