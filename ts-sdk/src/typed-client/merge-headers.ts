import type { HeadersInput } from "./types.ts";

/** Headers by their lower-case names. */
export type LowerCased = Record<string, string>;

/** Merges headers by their names in any case; a later value replaces an earlier one. */
export function mergeHeaders(...all: readonly (HeadersInput | undefined)[]): LowerCased {
  const pairs = all.flatMap((each) => Object.entries(each ?? {}));
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}
