/** Columns of a source as editors count them, in UTF-16 units that begin with 1. The parser and the engine count differently. */

/**
 * The most characters of a line, and of a source, whose columns are counted. Longer ones keep the columns that were given, because the event
 * loop waits for the counting.
 */
const MOST = { line: 10_000, source: 200_000 };

const lineEnd = /\r\n|[\n\r\u2028\u2029]/;

/** Reads lines of a source, or of its stripped form, whose positions are the same. */
export class Columns {
  readonly #source: string;
  #lines: readonly string[] | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  /** The column for one in bytes of UTF-8, as the engine counts. */
  ofBytes(line: number, column: number): number {
    const text = this.#line(line);
    if (text === undefined) return column;
    return Buffer.from(text).toString("utf8", 0, column - 1).length + 1;
  }

  /** The column for one in cells, as the parser counts: a tab has four, and a wide character one more than its units. */
  ofCells(line: number, column: number): number {
    const text = this.#line(line);
    if (text === undefined) return column;
    let units = 0;
    let cells = 0;
    for (const character of text) {
      if (cells >= column - 1) break;
      cells += cellsOf(character);
      units += character.length;
    }
    return units + 1;
  }

  /** The text of a line with other characters than visible ones of ASCII, in whose place columns differ. */
  #line(line: number): string | undefined {
    this.#lines ??= this.#source.length > MOST.source ? [] : this.#source.split(lineEnd);
    const text = this.#lines[line - 1];
    return text === undefined || text.length > MOST.line || /^[ -~]*$/.test(text) ? undefined : text;
  }
}

const none = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

function cellsOf(character: string): number {
  if (character === "\t") return 4;
  if (none.test(character)) return character.length - 1;
  return character.length + (wide.test(character) ? 1 : 0);
}
