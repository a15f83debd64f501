/**
 * The word of `known` that is closest to `word`, for an error that says what was probably meant; `undefined` when
 * nothing is close.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.ceil(word.length / 2));
  for (const candidate of known) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < least) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Throws when `given` has a key that is not in `known`; the error names the key and the nearest known one. */
export function refuseUnknown(
  what: string,
  given: object,
  known: readonly string[],
  alsoKnown?: (key: string) => boolean,
): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key) || alsoKnown?.(key)) continue;
    const close = nearest(key, known);
    throw new TypeError(
      `${what}: unknown "${key}"${close ? `, did you mean "${close}"?` : ""} (known: ${known.join(", ")})`,
    );
  }
}

/** The Levenshtein distance of two words, row by row. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
