/** Conversions of bytes. */
import type { Bytes } from "./core-module.ts";
import { dataError } from "./errors.ts";

/** Copies the bytes of an `ArrayBuffer` or a view, because the caller may change them meanwhile. */
export function bytesOf(data: unknown, what: string): Bytes {
  if (data instanceof ArrayBuffer) return new Uint8Array(data).slice();
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() as Bytes;
  throw new TypeError(`${what} must be an ArrayBuffer or a view of one`);
}

/** Joins pieces of bytes. */
export function concatenated(pieces: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Encodes bytes as base64url without padding (RFC 7515, section 2). */
export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes a member of a JSON Web Key. @throws DOMException `DataError` for anything but base64url */
export function fromBase64url(text: unknown, member: string): Bytes {
  if (typeof text !== "string" || !/^[\w-]*$/.test(text) || text.length % 4 === 1)
    throw dataError(`the member "${member}" of the JSON Web Key is not base64url`);
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

/** Removes leading zeros, except for the last one. */
export function trimmed(bytes: Bytes): Bytes {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  return bytes.subarray(start);
}

/** Puts zeros before bytes, or removes some, until there are as many as wanted; undefined when they do not fit. */
export function widened(bytes: Bytes, length: number): Bytes | undefined {
  const short = trimmed(bytes);
  if (short.length > length) return undefined;
  const wide = new Uint8Array(length);
  wide.set(short, length - short.length);
  return wide;
}
