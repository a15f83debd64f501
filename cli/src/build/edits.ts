/** A part of a text that something shorter stands in for. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

/** Applies edits to a text. Blanks replace removed text, so that all other text keeps its position. */
export function apply(text: string, edits: readonly Edit[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, put } of [...edits].sort((a, b) => a.start - b.start)) {
    // An edit inside of another one is gone with it.
    if (start < at) continue;
    result += text.slice(at, start) + put + text.slice(start + put.length, end).replace(/[^\r\n]/g, " ");
    at = end;
  }
  return result + text.slice(at);
}
