/**
 * The entry of `known` that was probably meant by `typed`: the fewest edits away, and at most two or a third of its
 * length, so that no far-fetched name is suggested. Undefined when there is none.
 */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(typed.length / 3)) + 1;
  for (const each of known) {
    const edits = distance(typed.toLowerCase(), each.toLowerCase());
    // More edits than letters that stay is another word, whatever its length.
    if (edits >= fewest || edits >= Math.min(typed.length, each.length)) continue;
    best = each;
    fewest = edits;
  }
  return best;
}

/** Edits from one text to the other: a letter put in, left out, replaced, or two neighbours swapped (Damerau–Levenshtein). */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      next[column] = Math.min(
        (next[column - 1] ?? 0) + 1,
        (last[column] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = next;
  }
  return last[to.length] ?? 0;
}
