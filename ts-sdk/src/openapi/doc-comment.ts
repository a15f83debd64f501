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
 * `@tag Orders` and `@deprecated` are read as well. They may follow text on its line, as in TypeScript.
 *
 * @param comment the text between the delimiters of a block comment, including its own leading asterisk
 */
export function parseDocComment(comment: string): DocComment | undefined {
  const { prose, block } = divide(linesOf(comment));
  const text = plainLinks(prose.join("\n")).trim();
  const marks = marksOf(block);
  if (text === "") return Object.keys(marks).length === 0 ? undefined : { summary: "", ...marks };
  const [first = "", ...rest] = text.split(/\n[ \t]*\n/);
  const summary = first.replace(/\s+/g, " ").trim();
  const description = rest.join("\n\n").trim();
  return { summary, ...(description === "" ? {} : { description }), ...marks };
}

/** The space before a tag that is read, within a line. */
const beforeMark = /\s+(?=@(?:tag|deprecated)(?:\s|$))/;

/** The tags and the deprecation among the block tags. */
function marksOf(lines: readonly string[]): Pick<DocComment, "tags" | "deprecated"> {
  const marks = lines.flatMap((line) => (/^\s*@(?:tag|deprecated)\b/.test(line) ? line.trim().split(beforeMark) : []));
  const tags = marks.flatMap((mark) => /^@tag\s+(.+)/.exec(mark)?.[1] ?? []);
  const isDeprecated = marks.some((mark) => /^@deprecated\b/.test(mark));
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
 * Divides the lines before the first block tag. A fenced code block (CommonMark, section 4.5) has none: `@` begins a
 * decorator there.
 */
function divide(lines: readonly string[]): { readonly prose: readonly string[]; readonly block: readonly string[] } {
  let fence: string | undefined;
  for (const [i, line] of lines.entries()) {
    const [, mark] = /^\s*(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
    if (fence === undefined) {
      const tag = /^\s*@\w/.test(line) ? 0 : line.search(beforeMark);
      if (tag >= 0 && mark === undefined)
        return { prose: [...lines.slice(0, i), line.slice(0, tag)], block: [line.slice(tag), ...lines.slice(i + 1)] };
      fence = mark;
    } else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
  }
  return { prose: lines, block: [] };
}

/** Replaces `{@link User}` and `{@link User | a user}`, which mean nothing outside the source. */
function plainLinks(text: string): string {
  return text.replace(/\{@link(?:code|plain)?\s+([^}|\s]+)(?:\s*\|\s*|\s+)?([^}]*)\}/g, (_all, target, label) =>
    label.trim() === "" ? target : label.trim(),
  );
}
