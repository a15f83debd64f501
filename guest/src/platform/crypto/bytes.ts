/** Conversions of bytes. */
import type { Bytes } from "./block.ts";
import { dataError } from "./errors.ts";

declare global {
  interface Uint8Array<TArrayBuffer extends ArrayBufferLike> {
    toBase64(options?: { alphabet?: "base64" | "base64url"; omitPadding?: boolean }): string;
  }
  interface Uint8ArrayConstructor {
    fromBase64(text: string, options?: { alphabet?: "base64" | "base64url" }): Uint8Array<ArrayBuffer>;
  }
}

const { isView } = ArrayBuffer;

/** Returns the bytes of an `ArrayBuffer` or a view, which the caller may change later. A detached one has none. */
export function viewOf(data: unknown, what: string): Bytes {
  if (data instanceof Uint8Array) return data as Bytes;
  if (isView(data)) return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return data.detached ? new Uint8Array() : new Uint8Array(data);
  throw new TypeError(`${what} must be an ArrayBuffer or a view of one`);
}

/** Copies the bytes of an `ArrayBuffer` or a view. */
export const bytesOf = (data: unknown, what: string): Bytes => viewOf(data, what).slice();

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
export const base64url = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: "base64url", omitPadding: true });

/** Decodes a member of a JSON Web Key. @throws DOMException `DataError` for anything but base64url */
export function fromBase64url(text: unknown, member: string): Bytes {
  if (typeof text !== "string" || !/^[\w-]*$/.test(text) || text.length % 4 === 1)
    throw dataError(`the member "${member}" of the JSON Web Key is not base64url`);
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
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
