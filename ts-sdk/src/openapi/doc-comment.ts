/** What a doc comment says of an operation. */
export interface DocComment {
  readonly summary: string;
  readonly description?: string;
}

/** The doc comments of handlers, by name. */
export type DocComments = ReadonlyMap<string, DocComment>;

/**
 * Takes a doc comment apart: its first paragraph, on one line, is the summary, the rest up to the first block tag such as
 * `@example` the description, which keeps its lines (it is Markdown).
 *
 * @param comment what stands between the delimiters of a block comment, its own leading asterisk included
 */
export function parseDocComment(comment: string): DocComment | undefined {
  const lines = comment
    .slice(1)
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  lines[0] = (lines[0] ?? "").trim();
  const text = plainLinks(lines.slice(0, firstTag(lines)).join("\n")).trim();
  if (text === "") return undefined;
  const [first = "", ...rest] = text.split(/\n[ \t]*\n/);
  const summary = first.replace(/\s+/g, " ").trim();
  const description = rest.join("\n\n").trim();
  return description === "" ? { summary } : { summary, description };
}

/** The line of the first block tag. In a fenced block of code (CommonMark, section 4.5) there is none: `@` is a decorator's. */
function firstTag(lines: readonly string[]): number | undefined {
  let fence: string | undefined;
  for (const [i, line] of lines.entries()) {
    const [, mark] = /^\s*(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
    if (fence === undefined) {
      if (/^\s*@\w/.test(line)) return i;
      fence = mark;
    } else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
  }
  return undefined;
}

/** `{@link User}` and `{@link User | a user}` mean nothing outside of the source. */
function plainLinks(text: string): string {
  return text.replace(/\{@link(?:code|plain)?\s+([^}|\s]+)(?:\s*\|\s*|\s+)?([^}]*)\}/g, (_all, target, label) =>
    label.trim() === "" ? target : label.trim(),
  );
}
