/** `node:buffer` inside a component: the package `buffer` with base64url and the engine's UTF-8 decoder. */
import base from "buffer/index.js";

type Encoding = string | undefined;
interface Bytes extends Uint8Array {
  toString(encoding?: string, start?: number, end?: number): string;
}

export const { Buffer, SlowBuffer, INSPECT_MAX_BYTES, kMaxLength } = base;
export const { Blob, File, atob, btoa } = globalThis;
export const kStringMaxLength = 2 ** 30 - 2;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength };

const isBase64Url = (encoding: unknown) => typeof encoding === "string" && /^base64-?url$/i.test(encoding);

/** Maps base64url to base64, because the package decodes both alphabets under that name. */
const known = (encoding: Encoding) => (isBase64Url(encoding) ? "base64" : encoding);

const { from, byteLength, isEncoding, alloc } = Buffer;
Buffer.from = (value: unknown, encoding?: Encoding, length?: number) =>
  from(value, typeof value === "string" ? known(encoding) : encoding, length);
Buffer.byteLength = (value: unknown, encoding?: Encoding) => byteLength(value, known(encoding));
Buffer.isEncoding = (encoding: unknown) => isBase64Url(encoding) || isEncoding(encoding);
Buffer.alloc = (size: number, fill?: unknown, encoding?: Encoding) => alloc(size, fill, known(encoding));

const { prototype } = Buffer;
const { toString, write, fill, indexOf, lastIndexOf, includes } = prototype;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

prototype.toString = function (this: Bytes, encoding: Encoding, start?: number, end?: number): string {
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) {
    return this.length === 0 ? "" : decoder.decode(Uint8Array.prototype.subarray.call(this, start, end));
  }
  if (!isBase64Url(encoding)) return toString.call(this, encoding, start, end);
  return toString.call(this, "base64", start, end).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
};
/** Wraps a method whose last argument, at any position, is the encoding. */
const translated = (method: (...args: unknown[]) => unknown) =>
  function (this: Bytes, ...args: unknown[]) {
    return method.apply(
      this,
      args.map((each, index) => (index > 0 && isBase64Url(each) ? "base64" : each)),
    );
  };
prototype.write = translated(write);
prototype.fill = translated(fill);
prototype.indexOf = translated(indexOf);
prototype.lastIndexOf = translated(lastIndexOf);
prototype.includes = translated(includes);

/** Returns whether bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array | ArrayBuffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether all bytes are ASCII. */
export function isAscii(bytes: Uint8Array | ArrayBuffer): boolean {
  return new Uint8Array(bytes instanceof ArrayBuffer ? bytes : bytes.slice()).every((each) => each < 0x80);
}

export default {
  Buffer,
  SlowBuffer,
  INSPECT_MAX_BYTES,
  kMaxLength,
  kStringMaxLength,
  constants,
  Blob,
  File,
  atob,
  btoa,
  isUtf8,
  isAscii,
};
