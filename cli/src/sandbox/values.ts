/**
 * The encoding of values between a program and its sandbox. `guest/src/sandbox/values.ts` describes it, and is the other side. Bytes
 * from there are a script's: every length is checked before anything of that size is made.
 */
import { types } from "node:util";

/** The largest number of arrays and objects inside each other. */
const MAX_DEPTH = 200;

/** Reads the length of a typed array, whatever its class or its own properties say. */
const lengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length")?.get as (
  this: Uint8Array,
) => number;

/** The error for a value that cannot be sent. */
class UncloneableError extends TypeError {
  override readonly name = "DataCloneError";
}

/** The error for bytes that are no value. */
export class InvalidValueError extends Error {
  override readonly name = "InvalidValueError";
}

/**
 * Encodes a value of the program: JSON's types, `undefined`, bytes and dates, as `structuredClone` copies them.
 *
 * @param name what the value is, for errors
 * @throws UncloneableError naming the place in the value
 */
export function encode(value: unknown, name = "the value"): Buffer {
  let bytes = Buffer.allocUnsafe(512);
  let length = 0;
  const room = (more: number) => {
    if (length + more <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, length + more));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  };
  const tag = (value: number) => {
    room(13);
    bytes[length++] = value;
  };
  const count = (value: number) => {
    length = bytes.writeUInt32LE(value, length);
  };
  const content = (from: Uint8Array) => {
    const size = lengthOf.call(from);
    count(size);
    room(size);
    bytes.set(from, length);
    length += size;
  };
  const string = (text: string) => {
    if ((text as string & { isWellFormed(): boolean }).isWellFormed()) {
      tag(5);
      const size = Buffer.byteLength(text);
      count(size);
      room(size);
      length += bytes.write(text, length);
    } else {
      tag(6);
      content(Buffer.from(text, "utf16le"));
    }
  };
  /** The place of the value that is written: names and indexes from the outermost one. */
  const path: (string | number)[] = [];
  const refuse = (kind: string, depth: number): never => {
    const place = path.slice(0, depth).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
    throw new UncloneableError(
      `${name}${place.join("")} is ${kind}: only JSON's types, bytes and dates enter a sandbox`,
    );
  };
  const write = (value: unknown, depth: number): unknown => {
    if (value === undefined) return tag(0);
    if (value === null) return tag(1);
    if (typeof value === "boolean") return tag(value ? 3 : 2);
    if (typeof value === "number") {
      tag(4);
      length = bytes.writeDoubleLE(value, length);
      return undefined;
    }
    if (typeof value === "string") return string(value);
    if (typeof value !== "object") return refuse(`a ${typeof value}`, depth);
    if (depth >= MAX_DEPTH) {
      throw new UncloneableError(`${name} is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    }
    if (types.isProxy(value)) return refuse("a Proxy", depth);
    if (Array.isArray(value)) {
      tag(9);
      // A getter may change it meanwhile.
      const size = value.length;
      count(size);
      for (let index = 0; index < size; index++) {
        path[depth] = index;
        write(value[index], depth + 1);
      }
      return undefined;
    }
    if (types.isUint8Array(value)) {
      tag(7);
      return content(value);
    }
    if (types.isDate(value)) {
      tag(8);
      length = bytes.writeDoubleLE(Date.prototype.getTime.call(value), length);
      return undefined;
    }
    const other = otherKind(value);
    if (other !== undefined) return refuse(other, depth);
    const entries = Object.entries(value);
    tag(10);
    count(entries.length);
    for (const [key, each] of entries) {
      string(key);
      path[depth] = key;
      write(each, depth + 1);
    }
    return undefined;
  };
  write(value, 0);
  return bytes.subarray(0, length);
}

/** Encodes an array of encoded values. */
export function encodeAll(values: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 9;
  head.writeUInt32LE(values.length, 1);
  return Buffer.concat([head, ...values]);
}

/** The kind of an object that is not a record. */
function otherKind(value: object): string | undefined {
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value))
    return `a ${value.constructor.name}, not a Uint8Array`;
  if (types.isMap(value)) return "a Map";
  if (types.isSet(value)) return "a Set";
  if (types.isWeakMap(value) || types.isWeakSet(value)) return "a weak collection";
  if (types.isPromise(value)) return "a Promise";
  if (types.isRegExp(value)) return "a RegExp";
  if (types.isNativeError(value)) return "an Error";
  if (types.isBoxedPrimitive(value)) return "a boxed value";
  return undefined;
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

/** Time in milliseconds for which Node's event loop waits for one slice of a larger value. */
const SLICE = 2;

/** Resolves in the turn of the event loop that belongs to the last slice which was asked for. */
let turns: Promise<void> = Promise.resolve();

/**
 * Decodes a value of a script in slices, one in each turn of the event loop. A MiB of small members takes 60 ms, and a script may send
 * one with each call.
 *
 * @throws InvalidValueError
 */
export async function decodeInSlices(bytes: Uint8Array): Promise<unknown> {
  if (bytes.length <= AT_ONCE) return decode(bytes);
  const decoding = new Decoding(bytes);
  for (;;) {
    turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    await turns;
    const ends = performance.now() + SLICE;
    do {
      if (decoding.advance(500)) return decoding.value;
    } while (performance.now() < ends);
  }
}
