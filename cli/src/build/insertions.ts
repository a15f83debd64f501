/** Text that is inserted into a source, and the source map of the result. */

/** A range of a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

const WORDS = /[\w$]+|\s+|[^\w$\s]/g;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Insertions into a text, in any order. */
export class Insertions {
  readonly #text: string;
  readonly #all: { readonly at: number; readonly put: string; readonly isEnd: boolean }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** Inserts a text before a place. Two texts for one place keep the order in which they were given. */
  before(at: number, put: string): void {
    this.#all.push({ at, put, isEnd: false });
  }

  /** Inserts texts around a range. A range inside of it is given later. */
  around({ start, end }: Range, first: string, last: string): void {
    this.before(start, first);
    this.#all.push({ at: end, put: last, isEnd: true });
  }

  /** The text with the insertions, and with a source map (ECMA-426) to the one without. */
  apply(source: string): string {
    // At one place ends come first, and of these the inner one.
    const ordered = this.#all.map((each, index) => ({ ...each, index }));
    ordered.sort(
      (a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? b.index - a.index : a.index - b.index),
    );
    let result = "";
    let at = 0;
    const mappings = new Mappings();
    const copyTo = (end: number) => {
      const part = this.#text.slice(at, end);
      result += part;
      mappings.copy(part);
      at = end;
    };
    for (const { at: place, put } of ordered) {
      copyTo(place);
      result += put;
      mappings.insert(put);
    }
    copyTo(this.#text.length);
    const map = { version: 3, sources: [source], sourcesContent: [this.#text], names: [], mappings: mappings.text };
    return `${result}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}\n`;
  }
}

/** Writes mappings of a text that is copied with insertions, none of which has a line break. */
class Mappings {
  text = "";
  #line = 0;
  #column = 0;
  #column0 = 0;
  /** The last segment: its column, and the line and column of its source. */
  #last = [0, 0, 0];
  #isFirst = true;

  copy(part: string): void {
    const lines = part.split("\n");
    for (const [index, line] of lines.entries()) {
      if (index > 0) this.#newLine();
      // A segment for each word, because a reader of the map takes the last one before a place.
      for (const [word] of line.matchAll(WORDS)) {
        this.#segment();
        this.#column += word.length;
        this.#column0 += word.length;
      }
    }
  }

  insert(put: string): void {
    this.#column += put.length;
  }

  #newLine(): void {
    this.text += ";";
    this.#line++;
    this.#column = 0;
    this.#column0 = 0;
    this.#last[0] = 0;
    this.#isFirst = true;
  }

  #segment(): void {
    const [column = 0, line = 0, column0 = 0] = this.#last;
    this.text += `${this.#isFirst ? "" : ","}${vlq(this.#column - column)}A${vlq(this.#line - line)}${vlq(this.#column0 - column0)}`;
    this.#isFirst = false;
    this.#last = [this.#column, this.#line, this.#column0];
  }
}

/** A number as base64 VLQ. */
function vlq(value: number): string {
  let left = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = "";
  do {
    const digit = left & 31;
    left >>>= 5;
    text += DIGITS[left > 0 ? digit | 32 : digit];
  } while (left > 0);
  return text;
}
