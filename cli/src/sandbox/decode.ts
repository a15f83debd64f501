/**
 * The decoding of values of a sandbox. `guest/src/sandbox/values.ts` describes the encoding, and is the other side. Bytes from there are a
 * script's: every length is checked before anything of that size is made.
 */
import { inSlices } from "./slices.ts";

/** The largest number of arrays and objects inside each other. */
export const MAX_DEPTH = 200;

/** The error for bytes that are no value. */
export class InvalidValueError extends Error {
  override readonly name = "InvalidValueError";
}

/** An array or an object whose members are being decoded. */
type Open =
  | { readonly array: unknown[]; left: number }
  | { readonly array: undefined; readonly object: Record<string, unknown>; name: string; left: number };

const invalid = (what: string) => new InvalidValueError(`the answer of the sandbox is invalid: ${what}`);

/** A value that is decoded piece by piece. */
class Decoding {
  readonly #from: Buffer;
  #at = 0;
  /** The outermost one is the envelope of the value. */
  readonly #open: Open[] = [];
  /** Undefined until {@link advance} has returned true. */
  value: unknown;

  constructor(bytes: Uint8Array) {
    this.#from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /**
   * Decodes at most so many values, and reports whether the whole value is there.
   *
   * @throws InvalidValueError
   */
  advance(values: number): boolean {
    for (let left = values; left > 0; left--) if (this.#next()) return true;
    return false;
  }

  #next(): boolean {
    const tag = this.#from[this.#take(1)] as number;
    if (tag < 9) return this.#ended(this.#leaf(tag));
    if (tag > 10) throw invalid(`no value begins with ${tag}`);
    if (this.#open.length > MAX_DEPTH) throw invalid("it is nested too deeply");
    const left = this.#count();
    // Each member has a byte at least.
    if (left > this.#from.length - this.#at) throw invalid("it ends early");
    if (left === 0) return this.#ended(tag === 9 ? [] : {});
    this.#open.push(tag === 9 ? { array: [], left } : { array: undefined, object: {}, name: this.#name(), left });
    return false;
  }

  /** Puts a value into its place, and reports whether it is the whole one. */
  #ended(given: unknown): boolean {
    let value = given;
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      if (open.array === undefined) define(open.object, open.name, value);
      else open.array.push(value);
      open.left--;
      if (open.left > 0) {
        if (open.array === undefined) open.name = this.#name();
        return false;
      }
      value = open.array ?? open.object;
      this.#open.pop();
    }
    if (this.#at !== this.#from.length) throw invalid("it goes on after its end");
    this.value = value;
    return true;
  }

  #leaf(tag: number): unknown {
    switch (tag) {
      case 0:
        return undefined;
      case 1:
        return null;
      case 2:
        return false;
      case 3:
        return true;
      case 4:
        return this.#from.readDoubleLE(this.#take(8));
      case 7: {
        const length = this.#count();
        const start = this.#take(length);
        // A copy, in memory of its own.
        return new Uint8Array(this.#from.subarray(start, this.#at));
      }
      case 8:
        return new Date(this.#from.readDoubleLE(this.#take(8)));
      default:
        return this.#string(tag);
    }
  }

  #take(size: number): number {
    if (size > this.#from.length - this.#at) throw invalid("it ends early");
    this.#at += size;
    return this.#at - size;
  }

  #count(): number {
    return this.#from.readUInt32LE(this.#take(4));
  }

  #name(): string {
    return this.#string(this.#from[this.#take(1)] as number);
  }

  #string(tag: number): string {
    if (tag !== 5 && tag !== 6) throw invalid("a name is no string");
    const length = this.#count();
    const start = this.#take(length);
    if (tag === 6 && length % 2 === 1) throw invalid("half a character");
    return this.#from.toString(tag === 5 ? "utf8" : "utf16le", start, this.#at);
  }
}

/** Sets an own property, whatever its name is. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * Decodes a value of a script. Objects are plain, and their properties are their own, whatever the names are.
 *
 * @throws InvalidValueError
 */
export function decode(bytes: Uint8Array): unknown {
  const decoding = new Decoding(bytes);
  decoding.advance(Number.POSITIVE_INFINITY);
  return decoding.value;
}

/** Bytes that are decoded at once, in half a millisecond at most. */
const AT_ONCE = 8 * 1024;

/**
 * Decodes a value of a script, and a large one in slices.
 *
 * @throws InvalidValueError
 */
export async function decodeInSlices(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length <= AT_ONCE) return decode(bytes);
  const decoding = new Decoding(bytes);
  await inSlices(decoding);
  return decoding.value;
}
