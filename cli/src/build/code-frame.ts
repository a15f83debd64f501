/** A line of code with a mark under the place. Lines and columns count from 1. */
export function codeFrame(text: string, line: number, column: number, length = 1): string {
  const gutter = `  ${line} | `;
  const marks = "^".repeat(Math.max(1, Math.min(length, text.length - column + 1)));
  return `${gutter}${text}\n${" ".repeat(gutter.length - 2)}| ${" ".repeat(Math.max(0, column - 1))}${marks}`;
}
