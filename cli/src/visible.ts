/**
 * A text of a stranger for a terminal: controls and marks of direction, by which it could hide or forge a part of the output, are
 * written as `\u{1b}`. Its further lines are indented, so that none of them looks like one of the program's.
 */
export function visible(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (hidden) =>
      hidden === "\n" || hidden === "\t" ? hidden : `\\u{${hidden.codePointAt(0)?.toString(16)}}`,
    )
    .replaceAll("\n", "\n    ");
}
