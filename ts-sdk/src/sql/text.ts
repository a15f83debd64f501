import type { Dialect } from "./dialect.ts";

/** In a Unicode regular expression a surrogate in a class matches only where it has no partner. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Whether the database can be sent this text: no half of a surrogate pair (it has no UTF-8), no U+0000 where it is refused. */
export function isWellFormed(text: string, dialect: Dialect): boolean {
  return (dialect.allowsNul || !text.includes("\0")) && !LONE_SURROGATE.test(text);
}
