/**
 * `String.prototype.normalize`, which the engine lacks (Unicode Standard Annex 15). The tables are parsed while the
 * component is built, so that requests find them ready.
 */
import { canonical, classes, compatible } from "./normalization-tables.ts";

/** Full decompositions by code point. */
const decompositions = new Map<number, readonly number[]>();
const further = new Map<number, readonly number[]>();
/** Composites by their two parts. */
const composites = new Map<number, number>();
const combining = new Map<number, number>();

const numbers = (text: string) => text.split(" ").map((each) => Number.parseInt(each, 36));
const both = (first: number, second: number) => first * 0x110000 + second;

function readTables(): void {
  let code = 0;
  const composed: number[] = [];
  for (const entry of canonical.split(",")) {
    const [difference = 0, ...parts] = numbers(entry);
    code += difference;
    const isExcluded = parts.at(-1) === 0;
    if (isExcluded) parts.pop();
    else if (parts.length > 1) composed.push(code);
    decompositions.set(code, parts);
  }
  code = 0;
  for (const entry of compatible.split(",")) {
    const [difference = 0, ...parts] = numbers(entry);
    code += difference;
    further.set(code, parts);
  }
  for (const [index, entry] of classes.split(",").entries()) {
    let mark = 0;
    for (const difference of numbers(entry)) {
      mark += difference;
      combining.set(mark, index + 1);
    }
  }
  // A composite of three parts is made from one of two, so short ones come first.
  const lengthOf = (each: number) => (decompositions.get(each) as readonly number[]).length;
  for (const each of composed.sort((a, b) => lengthOf(a) - lengthOf(b))) {
    const parts = decompositions.get(each) as readonly number[];
    const first = parts.slice(0, -1).reduce((left, right) => composites.get(both(left, right)) ?? left);
    composites.set(both(first, parts.at(-1) as number), each);
  }
}
readTables();

const HANGUL = 0xac00;
const LEADING = 0x1100;
const VOWEL = 0x1161;
const TRAILING = 0x11a7;

function decomposed(text: string, isCompatible: boolean): number[] {
  const result: number[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    const index = code - HANGUL;
    if (index >= 0 && index < 11_172) {
      result.push(LEADING + Math.floor(index / 588), VOWEL + Math.floor((index % 588) / 28));
      if (index % 28 > 0) result.push(TRAILING + (index % 28));
      continue;
    }
    const parts = (isCompatible ? further.get(code) : undefined) ?? decompositions.get(code);
    if (parts === undefined) result.push(code);
    else result.push(...parts);
  }
  return sorted(result);
}

/** Sorts consecutive marks by their classes. */
function sorted(codes: number[]): number[] {
  for (let start = 0; start < codes.length; start++) {
    let end = start;
    while (end < codes.length && combining.has(codes[end] as number)) end++;
    if (end - start > 1) {
      const marks = codes.slice(start, end);
      marks.sort((a, b) => (combining.get(a) as number) - (combining.get(b) as number));
      codes.splice(start, marks.length, ...marks);
    }
    start = Math.max(start, end);
  }
  return codes;
}

function composed(codes: readonly number[]): number[] {
  const result: number[] = [];
  let starter = -1;
  let lastClass = 0;
  for (const code of codes) {
    const own = combining.get(code) ?? 0;
    const isBlocked = starter < result.length - 1 && lastClass >= own;
    const first = starter < 0 ? undefined : (result[starter] as number);
    const whole = first === undefined || isBlocked ? undefined : compositeOf(first, code);
    if (whole !== undefined) {
      result[starter] = whole;
      continue;
    }
    if (own === 0) starter = result.length;
    lastClass = own;
    result.push(code);
  }
  return result;
}

function compositeOf(first: number, second: number): number | undefined {
  const leading = first - LEADING;
  const vowel = second - VOWEL;
  if (leading >= 0 && leading < 19 && vowel >= 0 && vowel < 21) return HANGUL + (leading * 21 + vowel) * 28;
  const syllable = first - HANGUL;
  const trailing = second - TRAILING;
  if (syllable >= 0 && syllable < 11_172 && syllable % 28 === 0 && trailing > 0 && trailing < 28)
    return first + trailing;
  return composites.get(both(first, second));
}

function textOf(codes: readonly number[]): string {
  let text = "";
  for (const code of codes) text += String.fromCodePoint(code);
  return text;
}

/** The method itself: normalizes a text to one of the four forms. */
export function normalize(this: unknown, form?: string): string {
  const text = String(this);
  const name = form === undefined ? "NFC" : String(form);
  if (!/^NFK?[CD]$/.test(name)) throw new RangeError("form must be one of 'NFC', 'NFD', 'NFKC', or 'NFKD'");
  // The first characters are the same in every form.
  if (/^[\0-\x7f]*$/.test(text) || (name === "NFC" && /^[\0-\u02ff]*$/.test(text))) return text;
  const codes = decomposed(text, name.length === 4);
  return textOf(name.endsWith("C") ? composed(codes) : codes);
}

Object.defineProperty(String.prototype, "normalize", { value: normalize, writable: true, configurable: true });
