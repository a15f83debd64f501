/** The most characters of a line that are shown. A minified or binary file may be one line. */
const MOST = 200;

/** A line of code with a mark under the place. Lines and columns count from 1. */
export function codeFrame(text: string, line: number, column: number, length = 1): string {
  const gutter = `  ${line} | `;
  const { shown, at } = excerpt(text, Math.max(0, column - 1));
  const marks = "^".repeat(Math.max(1, Math.min(length, shown.length - at)));
  // Tabs stay, so that the mark is below its place however wide the terminal shows them.
  const before = shown.slice(0, at).replace(/[^\t]/g, " ").padEnd(at);
  return `${gutter}${shown}\n${" ".repeat(gutter.length - 2)}| ${before}${marks}`;
}

/** The part of a line around an index, and the index in it. */
function excerpt(text: string, at: number): { readonly shown: string; readonly at: number } {
  const from = text.length <= MOST ? 0 : Math.max(0, Math.min(at - MOST / 2, text.length - MOST));
  const before = from === 0 ? "" : "…";
  const after = from + MOST >= text.length ? "" : "…";
  return { shown: `${before}${pictured(text.slice(from, from + MOST))}${after}`, at: at - from + before.length };
}

/** A text in which each control has a picture of one character, because a terminal would obey it. */
function pictured(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (control) => {
    const code = control.charCodeAt(0);
    if (control === "\t") return control;
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  });
}
