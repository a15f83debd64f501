/** Prefix codes of DEFLATE (RFC 1951, section 3.2.2). */

/** Codes of at most this length are found by one look into a table. */
const ROOT = 9;
const MAX_LENGTH = 15;

/** A prefix code, made for decoding. */
export interface Code {
  /** For the next nine bits: the symbol times 16, plus the length of its code; 0 where the code is longer or there is none. */
  readonly table: Int32Array;
  /** The number of codes of each length. */
  readonly counts: Int32Array;
  /** The symbols in the order of their codes. */
  readonly symbols: Int32Array;
}

/**
 * Makes a code from the lengths of its symbols' codes.
 *
 * @returns undefined for lengths that are no code: too many of them, or too few while there is more than one code
 */
export function codeOf(lengths: Uint8Array, mayBeIncomplete: boolean): Code | undefined {
  const counts = new Int32Array(MAX_LENGTH + 1);
  for (let i = 0; i < lengths.length; i++) (counts[lengths[i] as number] as number)++;
  const used = lengths.length - (counts[0] as number);
  counts[0] = 0;
  let left = 1;
  const offsets = new Int32Array(MAX_LENGTH + 2);
  const next = new Int32Array(MAX_LENGTH + 2);
  for (let length = 1; length <= MAX_LENGTH; length++) {
    const count = counts[length] as number;
    left = left * 2 - count;
    if (left < 0) return undefined;
    offsets[length + 1] = (offsets[length] as number) + count;
    next[length + 1] = ((next[length] as number) + count) << 1;
  }
  if (left > 0 && !(mayBeIncomplete && (used === 0 || (used === 1 && counts[1] === 1)))) return undefined;
  const symbols = new Int32Array(used);
  const table = new Int32Array(1 << ROOT);
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] as number;
    if (length === 0) continue;
    symbols[offsets[length] as number] = symbol;
    (offsets[length] as number)++;
    const code = next[length] as number;
    next[length] = code + 1;
    if (length > ROOT) continue;
    let reversed = 0;
    for (let bit = 0; bit < length; bit++) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
    for (let at = reversed; at < 1 << ROOT; at += 1 << length) table[at] = (symbol << 4) | length;
  }
  return { table, counts, symbols };
}

/**
 * Decodes a symbol whose code is longer than the table's.
 *
 * @param bits at least 15, the next one lowest
 * @returns the symbol times 16, plus the length of its code; -1 when there is no such code
 */
export function decodeLong({ counts, symbols }: Code, bits: number): number {
  let code = 0;
  let first = 0;
  let index = 0;
  for (let length = 1; length <= MAX_LENGTH; length++) {
    code |= (bits >> (length - 1)) & 1;
    const count = counts[length] as number;
    if (code - first < count) return ((symbols[index + code - first] as number) << 4) | length;
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  return -1;
}
