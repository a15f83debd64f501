import type { Dialect } from "./dialect.ts";

/** In a Unicode regular expression a surrogate in a class matches only when it is unpaired. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/**
 * Reports whether the text can be sent to the database: without half of a surrogate pair (it has no UTF-8), and without
 * U+0000 where it is refused.
 */
export function isWellFormed(text: string, dialect: Dialect): boolean {
  return (dialect.allowsNul || !text.includes("\0")) && !LONE_SURROGATE.test(text);
}
