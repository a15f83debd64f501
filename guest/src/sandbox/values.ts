/**
 * The encoding of values between a sandbox and its program: JSON's types, `undefined`, bytes and dates. A value is a tag and its content;
 * numbers are little-endian. `cli/src/sandbox/encode.ts` and `decode.ts` are the other side.
 *
 * | tag | value | content |
 * |---|---|---|
 * | 0 to 3 | undefined, null, false, true | |
 * | 4 | number | 8 bytes |
 * | 5 | string | length, UTF-8 |
 * | 6 | string with a lone surrogate | length, UTF-16 |
 * | 7 | bytes | length, bytes |
 * | 8 | date | milliseconds, 8 bytes |
 * | 9 | array | length, values |
 * | 10 | object | number of properties, each a string and a value |
 *
 * A script may have changed every prototype when a value is encoded, so nothing here is found by one.
 */
import { className, utf8Decode, utf8Encode } from "tenon:engine";
import { isPlatform } from "../platform/structured-clone/structured-clone.ts";

const { Array, Date, Float64Array, Number, Object, TypeError, Uint8Array, Uint16Array } = globalThis;
const { bind, call } = Function.prototype;
const uncurry = bind.bind(call) as <This, Given extends unknown[], Result>(
  method: (this: This, ...given: Given) => Result,
) => (self: This, ...given: Given) => Result;
const setBytes = uncurry(Uint8Array.prototype.set);
const part = uncurry(Uint8Array.prototype.subarray as (from: number, to: number) => Uint8Array<ArrayBuffer>);
const copy = uncurry(Uint8Array.prototype.slice as (from: number, to: number) => Uint8Array<ArrayBuffer>);
const isWellFormed = uncurry(String.prototype.isWellFormed);
const codeAt = uncurry(String.prototype.charCodeAt);
const timeOf = uncurry(Date.prototype.getTime);
const { fromCharCode } = String;
const { defineProperty, getPrototypeOf, hasOwn, keys } = Object;
const objectPrototype = Object.prototype;
const { isArray } = Array;

/** The largest number of arrays and objects inside each other. */
export const MAX_DEPTH = 200;

/** The error for a value that cannot leave the sandbox. */
export class UncloneableError extends TypeError {
  override readonly name = "DataCloneError";
}

/** The error for a value that is larger than `limits.outputBytes`. */
export class TooLargeError extends TypeError {}

const float = new Float64Array(1);
const floatBytes = new Uint8Array(float.buffer);

/**
 * Encodes a value.
 *
 * @param most the largest number of bytes
 * @param before bytes that come first, and are not counted
 * @throws UncloneableError naming the place in the value
 * @throws TooLargeError
 */
export function encode(value: unknown, most = Number.POSITIVE_INFINITY, before?: Uint8Array): Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array(256);
  let length = 0;
  const uncounted = before === undefined ? 0 : before.length;
  const room = (more: number) => {
    const needed = length + more;
    if (needed > most + uncounted) throw new TooLargeError(`the value is larger than ${most} bytes`);
    if (needed <= bytes.length) return;
    let size = bytes.length * 2;
    while (size < needed) size *= 2;
    const larger = new Uint8Array(size);
    setBytes(larger, bytes);
    bytes = larger;
  };
  const byte = (value: number) => {
    room(1);
    bytes[length++] = value;
  };
  const count = (value: number) => {
    room(4);
    bytes[length++] = value;
    bytes[length++] = value >>> 8;
    bytes[length++] = value >>> 16;
    bytes[length++] = value >>> 24;
  };
  const number = (value: number) => {
    room(8);
    float[0] = value;
    setBytes(bytes, floatBytes, length);
    length += 8;
  };
  const content = (from: Uint8Array) => {
    count(from.length);
    room(from.length);
    setBytes(bytes, from, length);
    length += from.length;
  };
  const string = (text: string) => {
    if (isWellFormed(text)) {
      byte(5);
      content(utf8Encode(text));
      return;
    }
    byte(6);
    const units = new Uint16Array(text.length);
    for (let index = 0; index < units.length; index++) units[index] = codeAt(text, index);
    content(new Uint8Array(units.buffer));
  };
  /** The place of the value that is written: names and indexes from the outermost one. */
  const path: (string | number)[] = [];
  const refuse = (kind: string, depth: number): never => {
    let place = "the value";
    for (let index = 0; index < depth; index++) {
      const step = path[index];
      place += typeof step === "number" ? `[${step}]` : `.${step}`;
    }
    throw new UncloneableError(`${place} is ${kind}, which cannot leave the sandbox`);
  };
  const write = (value: unknown, depth: number): unknown => {
    switch (typeof value) {
      case "undefined":
        return byte(0);
      case "boolean":
        return byte(value ? 3 : 2);
      case "number":
        byte(4);
        return number(value);
      case "string":
        return string(value);
      case "object":
        break;
      default:
        return refuse(`a ${typeof value}`, depth);
    }
    if (value === null) return byte(1);
    if (depth >= MAX_DEPTH) {
      throw new UncloneableError(`the value is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    }
    if (isArray(value)) {
      byte(9);
      const items = value.length;
      count(items);
      for (let index = 0; index < items; index++) {
        path[depth] = index;
        write(value[index], depth + 1);
      }
      return;
    }
    switch (className(value)) {
      case "Uint8Array":
        byte(7);
        return content(value as Uint8Array);
      case "Date":
        byte(8);
        return number(timeOf(value as Date));
      case "Object":
      case "Arguments": {
        const names = keys(value);
        const prototype = getPrototypeOf(value);
        // An object of a class whose own properties are not its data.
        let isOther = false;
        for (let at = prototype; at !== null && at !== objectPrototype; at = getPrototypeOf(at)) {
          if (isPlatform(at)) return refuse(nameOf(at), depth);
          isOther ||= names.length === 0 || hasOwn(at, "toJSON");
        }
        if (isOther) return refuse(nameOf(prototype as object), depth);
        byte(10);
        count(names.length);
        for (let index = 0; index < names.length; index++) {
          const name = names[index] as string;
          string(name);
          path[depth] = name;
          write((value as Record<string, unknown>)[name], depth + 1);
        }
        return;
      }
      default:
        return refuse(withArticle(className(value)), depth);
    }
  };
  if (before !== undefined) {
    room(uncounted);
    setBytes(bytes, before);
    length = uncounted;
  }
  write(value, 0);
  return part(bytes, 0, length);
}

/** The name of a class with an article, by its prototype. */
function nameOf(prototype: object): string {
  const of = prototype.constructor;
  const name = typeof of === "function" ? of.name : undefined;
  return typeof name === "string" && name !== "" && of !== Object ? withArticle(name) : "an object with a prototype";
}

/** The name of a class after "a", or after "an" when it begins with A, E, I or O. */
function withArticle(name: string): string {
  const first = codeAt(name, 0);
  return first === 65 || first === 69 || first === 73 || first === 79 ? `an ${name}` : `a ${name}`;
}

/** Decodes a value. The host has made it. */
export function decode(bytes: Uint8Array): unknown {
  let at = 0;
  const byte = () => bytes[at++] as number;
  const count = () => byte() + byte() * 0x100 + byte() * 0x1_0000 + byte() * 0x100_0000;
  const number = () => {
    for (let index = 0; index < 8; index++) floatBytes[index] = byte();
    return float[0] as number;
  };
  const string = (tag: number): string => {
    const length = count();
    at += length;
    if (tag === 5) return utf8Decode(part(bytes, at - length, at), false, true);
    let text = "";
    for (let index = at - length; index < at; index += 2)
      text += fromCharCode((bytes[index] as number) + (bytes[index + 1] as number) * 0x100);
    return text;
  };
  const read = (): unknown => {
    const tag = byte();
    switch (tag) {
      case 1:
        return null;
      case 2:
        return false;
      case 3:
        return true;
      case 4:
        return number();
      case 5:
      case 6:
        return string(tag);
      case 7: {
        const length = count();
        at += length;
        return copy(bytes, at - length, at);
      }
      case 8:
        return new Date(number());
      case 9: {
        const items = new Array<unknown>(count());
        for (let index = 0; index < items.length; index++) items[index] = read();
        return items;
      }
      case 10: {
        const object: Record<string, unknown> = {};
        for (let left = count(); left > 0; left--) {
          const name = string(byte());
          const value = read();
          if (name === "__proto__")
            defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
          else object[name] = value;
        }
        return object;
      }
      default:
        return undefined;
    }
  };
  return read();
}
