/** The texts for an operation in a doc comment. */
export interface DocComment {
  /** Empty when the comment has tags alone. */
  readonly summary: string;
  readonly description?: string;
  /** The values of its `@tag`s. */
  readonly tags?: readonly string[];
  /** True after `@deprecated`. */
  readonly deprecated?: true;
}

/** The doc comments of handlers, by name. */
export type DocComments = ReadonlyMap<string, DocComment>;

/**
 * Parses a doc comment: its first paragraph, on one line, is the summary. The rest up to the first block tag such as
 * `@example` is the description, which keeps its lines (it is Markdown).
 *
 * `@tag Orders` and `@deprecated` are read as well.
 *
 * @param comment the text between the delimiters of a block comment, including its own leading asterisk
 */
export function parseDocComment(comment: string): DocComment | undefined {
  const lines = linesOf(comment);
  const end = firstTag(lines) ?? lines.length;
  const text = plainLinks(lines.slice(0, end).join("\n")).trim();
  const marks = marksOf(lines.slice(end));
  if (text === "") return Object.keys(marks).length === 0 ? undefined : { summary: "", ...marks };
  const [first = "", ...rest] = text.split(/\n[ \t]*\n/);
  const summary = first.replace(/\s+/g, " ").trim();
  const description = rest.join("\n\n").trim();
  return { summary, ...(description === "" ? {} : { description }), ...marks };
}

/** The tags and the deprecation among the block tags. */
function marksOf(lines: readonly string[]): Pick<DocComment, "tags" | "deprecated"> {
  const tags = lines.flatMap((line) => /^\s*@tag\s+(.*\S)/.exec(line)?.[1] ?? []);
  const isDeprecated = lines.some((line) => /^\s*@deprecated\b/.test(line));
  return { ...(tags.length === 0 ? {} : { tags }), ...(isDeprecated ? { deprecated: true } : {}) };
}

/** The lines without the column of asterisks, or else without their common indentation. */
function linesOf(comment: string): string[] {
  // A comment may end in more than one asterisk: `**/`.
  const [first = "", ...others] = comment
    .slice(1)
    .replace(/\s\*+$/, "")
    .split(/\r?\n/);
  const isStarred = others.some((line) => /^\s*\*(?!\*)/.test(line));
  const indents = others.flatMap((line) => (line.trim() === "" ? [] : [line.search(/\S/)]));
  const indent = Math.min(...indents);
  const plain = others.map((line) => (isStarred ? line.replace(/^\s*\* ?/, "") : line.slice(indent)).trimEnd());
  return [first.replace(/^\*+/, "").trim(), ...plain];
}

/**
 * The line of the first block tag. A fenced code block (CommonMark, section 4.5) has none: `@` begins a decorator
 * there.
 */
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

/** Replaces `{@link User}` and `{@link User | a user}`, which mean nothing outside the source. */
function plainLinks(text: string): string {
  return text.replace(/\{@link(?:code|plain)?\s+([^}|\s]+)(?:\s*\|\s*|\s+)?([^}]*)\}/g, (_all, target, label) =>
    label.trim() === "" ? target : label.trim(),
  );
}
