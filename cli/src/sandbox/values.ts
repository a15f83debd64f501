/**
 * The encoding of values between a program and its sandbox. `guest/src/sandbox/values.ts` describes it, and is the other side. Bytes
 * from there are a script's: every length is checked before anything of that size is made.
 */
import { types } from "node:util";

/** The largest number of arrays and objects inside each other. */
export const MAX_DEPTH = 200;

/** The error for a value that cannot be sent. */
export class UncloneableError extends TypeError {
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
    count(from.length);
    room(from.length);
    bytes.set(from, length);
    length += from.length;
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
      count(value.length);
      for (let index = 0; index < value.length; index++) {
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

/**
 * Decodes a value of a script. Objects are plain, and their properties are their own, whatever the names are.
 *
 * @throws InvalidValueError
 */
export function decode(bytes: Uint8Array): unknown {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const invalid = (what: string) => new InvalidValueError(`the answer of the sandbox is invalid: ${what}`);
  const take = (size: number) => {
    if (size > from.length - at) throw invalid("it ends early");
    at += size;
    return at - size;
  };
  const count = () => from.readUInt32LE(take(4));
  /** A number of items, each of which has a byte at least. */
  const items = () => {
    const number = count();
    if (number > from.length - at) throw invalid("it ends early");
    return number;
  };
  const string = (tag: number): string => {
    if (tag !== 5 && tag !== 6) throw invalid("a name is no string");
    const length = count();
    const start = take(length);
    if (tag === 6 && length % 2 === 1) throw invalid("half a character");
    return from.toString(tag === 5 ? "utf8" : "utf16le", start, at);
  };
  const bytesOf = (length: number) => {
    const start = take(length);
    return new Uint8Array(from.subarray(start, at));
  };
  // The outermost array is the envelope of the value.
  const read = (depth: number): unknown => {
    const tag = from[take(1)] as number;
    if (tag >= 9 && depth > MAX_DEPTH) throw invalid("it is nested too deeply");
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
        return from.readDoubleLE(take(8));
      case 5:
      case 6:
        return string(tag);
      case 7:
        // A copy, in memory of its own.
        return bytesOf(count());
      case 8:
        return new Date(from.readDoubleLE(take(8)));
      case 9:
        return Array.from({ length: items() }, () => read(depth + 1));
      case 10: {
        const object: Record<string, unknown> = {};
        for (let left = items(); left > 0; left--) {
          const name = string(from[take(1)] as number);
          const value = read(depth + 1);
          if (name !== "__proto__") object[name] = value;
          else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
        }
        return object;
      }
      default:
        throw invalid(`no value begins with ${tag}`);
    }
  };
  const value = read(0);
  if (at !== from.length) throw invalid("it goes on after its end");
  return value;
}
