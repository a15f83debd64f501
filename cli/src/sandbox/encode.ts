/**
 * The encoding of values for a sandbox. `guest/src/sandbox/values.ts` describes it, and is the other side. A program may give values that a
 * stranger has chosen, such as rows of a table, so a large one is encoded in slices.
 */
import { types } from "node:util";
import { MAX_DEPTH } from "./decode.ts";
import { inSlices } from "./slices.ts";

/** Reads the length of a typed array, whatever its class or its own properties say. */
const lengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length")?.get as (
  this: Uint8Array,
) => number;

/** The error for a value that cannot be sent. */
class UncloneableError extends TypeError {
  override readonly name = "DataCloneError";
}

/** An array or an object whose members are being encoded. */
interface Open {
  readonly value: object;
  /** The names of an object's members. */
  readonly names: readonly string[] | undefined;
  readonly size: number;
  next: number;
}

/** Bytes that take about as long as a small value. */
const STEP_BYTES = 512;

/** A value that is encoded piece by piece. */
class Encoding {
  readonly #name: string;
  #bytes = Buffer.allocUnsafe(512);
  #length = 0;
  /** Arrays and objects from the outermost one. */
  readonly #open: Open[] = [];
  /** Steps that are left. */
  #left = 0;
  #isBegun = false;
  readonly #value: unknown;

  constructor(value: unknown, name: string) {
    this.#value = value;
    this.#name = name;
  }

  /** The encoded value, once {@link advance} has returned true. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * Takes about so many steps, and reports whether the whole value is encoded. A small value is one step, and a large text or array of bytes
   * is several.
   *
   * @throws UncloneableError
   */
  advance(steps: number): boolean {
    this.#left = steps;
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#write(this.#value);
    }
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      if (open.next === open.size) {
        this.#open.pop();
        continue;
      }
      if (this.#left <= 0) return false;
      this.#left--;
      const index = open.next++;
      if (open.names === undefined) {
        this.#write((open.value as unknown[])[index]);
      } else {
        const key = open.names[index] as string;
        this.#string(key);
        this.#write((open.value as Record<string, unknown>)[key]);
      }
    }
    return true;
  }

  #write(value: unknown): unknown {
    if (value === undefined) return this.#tag(0);
    if (value === null) return this.#tag(1);
    if (typeof value === "boolean") return this.#tag(value ? 3 : 2);
    if (typeof value === "number") {
      this.#tag(4);
      this.#length = this.#bytes.writeDoubleLE(value, this.#length);
      return undefined;
    }
    if (typeof value === "string") return this.#string(value);
    if (typeof value !== "object") return this.#refuse(`a ${typeof value}`, advice.get(typeof value));
    if (types.isProxy(value)) return this.#refuse("a Proxy");
    if (Array.isArray(value)) return this.#begin(9, value, undefined, value.length);
    if (types.isUint8Array(value)) {
      this.#tag(7);
      return this.#content(value);
    }
    if (types.isDate(value)) {
      this.#tag(8);
      this.#length = this.#bytes.writeDoubleLE(Date.prototype.getTime.call(value), this.#length);
      return undefined;
    }
    const other = otherKind(value);
    if (other !== undefined) return this.#refuse(withArticle(other), advice.get(other));
    const names = Object.keys(value);
    const reason = reasonAgainst(value, names.length);
    if (reason !== undefined) {
      const kind = classNameOf(value) ?? "object with a prototype";
      return this.#refuse(withArticle(kind), advice.get(kind) ?? reason);
    }
    this.#left -= names.length >> 4;
    return this.#begin(10, value, names, names.length);
  }

  #begin(tag: number, value: object, names: readonly string[] | undefined, size: number): void {
    const first = this.#open.findIndex((open) => open.value === value);
    if (first >= 0) throw new UncloneableError(`${this.#place(first)} contains itself`);
    if (this.#open.length >= MAX_DEPTH)
      throw new UncloneableError(`${this.#name} is nested deeper than ${MAX_DEPTH} levels`);
    this.#tag(tag);
    this.#count(size);
    this.#open.push({ value, names, size, next: 0 });
  }

  #refuse(kind: string, advised?: string): never {
    const hint = advised === undefined ? "" : `; ${advised}`;
    throw new UncloneableError(
      `${this.#place()} is ${kind}: only JSON's types, bytes and dates enter a sandbox${hint}`,
    );
  }

  /** The place of the value that is written: names and indexes from the outermost one. */
  #place(depth = this.#open.length): string {
    const steps = this.#open
      .slice(0, depth)
      .map(({ names, next }) => (names === undefined ? `[${next - 1}]` : `.${names[next - 1]}`));
    return `${this.#name}${steps.join("")}`;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  #tag(value: number): void {
    this.#room(13);
    this.#bytes[this.#length++] = value;
  }

  #count(value: number): void {
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  #content(from: Uint8Array): void {
    const size = lengthOf.call(from);
    this.#count(size);
    this.#room(size);
    this.#bytes.set(from, this.#length);
    this.#length += size;
    this.#left -= Math.floor(size / STEP_BYTES);
  }

  #string(text: string): void {
    if ((text as string & { isWellFormed(): boolean }).isWellFormed()) {
      this.#tag(5);
      const size = Buffer.byteLength(text);
      this.#count(size);
      this.#room(size);
      this.#length += this.#bytes.write(text, this.#length);
      this.#left -= Math.floor(size / STEP_BYTES);
    } else {
      this.#tag(6);
      this.#content(Buffer.from(text, "utf16le"));
    }
  }
}

/** Encodes a small value at once, such as one of the sandbox's own. */
export function encode(value: unknown, name = "the value"): Buffer {
  const encoding = new Encoding(value, name);
  encoding.advance(Number.POSITIVE_INFINITY);
  return encoding.bytes;
}

/** Steps that are taken at once, in half a millisecond at most. */
const AT_ONCE = 1_000;

/**
 * Encodes a value of the program: JSON's types, `undefined`, bytes and dates, as `structuredClone` copies them. A large value is encoded in
 * slices, and must not change meanwhile.
 *
 * @param name the value's name in errors
 * @param isOver asked before each slice. If it returns true, nobody wants the value any more, and only a part of it is encoded
 * @throws UncloneableError naming the place in the value
 */
export async function encodeInSlices(value: unknown, name: string, isOver = () => false): Promise<Buffer> {
  const encoding = new Encoding(value, name);
  if (!encoding.advance(AT_ONCE)) await inSlices(encoding, isOver);
  return encoding.bytes;
}

/** Encodes an array of encoded values. */
export function encodeAll(values: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 9;
  head.writeUInt32LE(values.length, 1);
  return Buffer.concat([head, ...values]);
}

/** Advice for values that are no clones, by their kinds. */
const advice = new Map([
  ["bigint", "convert it to a string or a number"],
  ["URL", "convert it to a string"],
  ["URLSearchParams", "convert it to a string"],
  ["Map", "convert it by Object.fromEntries, or to an array"],
  ["Set", "convert it to an array"],
  ["Headers", "convert it by Object.fromEntries"],
  ["FormData", "convert it by Object.fromEntries"],
  ["RegExp", "convert it to a string"],
  ["Error", "copy its message"],
  ["Promise", "await it"],
  ["ArrayBuffer", "convert it to a Uint8Array"],
]);

/** The kind of an object that is no record, by its internal slots. */
function otherKind(value: object): string | undefined {
  if (types.isAnyArrayBuffer(value)) return "ArrayBuffer";
  if (ArrayBuffer.isView(value)) return `${classNameOf(value) ?? "view"}, not a Uint8Array`;
  if (types.isMap(value)) return "Map";
  if (types.isSet(value)) return "Set";
  if (types.isWeakMap(value) || types.isWeakSet(value)) return "weak collection";
  if (types.isPromise(value)) return "Promise";
  if (types.isRegExp(value)) return "RegExp";
  if (types.isNativeError(value)) return "Error";
  if (types.isBoxedPrimitive(value)) return "boxed value";
  return undefined;
}

/**
 * Advice for an object whose own properties are not all that it is: one of a class without any, such as a URL, or with `toJSON`, such as a
 * decimal number. Undefined for a record, and for an object of a class that keeps its data in properties.
 */
function reasonAgainst(value: object, properties: number): string | undefined {
  let prototype: object | null = Object.getPrototypeOf(value);
  // Each realm has an `Object.prototype`.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  if (properties === 0) return "copy its data to a plain object";
  for (; prototype !== null && !types.isProxy(prototype); prototype = Object.getPrototypeOf(prototype)) {
    if (Object.hasOwn(prototype, "toJSON")) return "convert it as its toJSON does";
  }
  return undefined;
}

/** The name of an object's class. */
function classNameOf(value: object): string | undefined {
  const of = value.constructor;
  const name = typeof of === "function" ? of.name : undefined;
  return typeof name === "string" && name !== "" && name !== "Object" ? name.slice(0, 100) : undefined;
}

const withArticle = (kind: string) => `${/^[AEIOaeio]/.test(kind) ? "an" : "a"} ${kind}`;
