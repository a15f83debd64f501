import type { HeaderValue } from "./types.ts";

/** Headers by their lower-case names. */
export type LowerCased = Record<string, string>;

/** Merges headers by their names in any case; a later value replaces an earlier one. */
export function mergeHeaders(...all: readonly (Readonly<Record<string, HeaderValue>> | undefined)[]): LowerCased {
  const pairs = all.flatMap((each) => Object.entries(each ?? {})).filter(([, value]) => value !== undefined);
  // A list becomes its items with commas.
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
