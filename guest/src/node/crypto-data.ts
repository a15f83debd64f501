/** Bytes, hash functions and secret keys, as the functions of `node:crypto` take and return them. */
import type { CHash } from "@noble/hashes/utils.js";
import { Buffer } from "./buffer.ts";
import { begin, hashes, isSame, type Running } from "./hashes.ts";

export { hashes, type Running } from "./hashes.ts";

/** Bytes, or a text with a separate encoding. */
export type Data = string | ArrayBufferView | ArrayBuffer;
export type Bytes = Uint8Array<ArrayBuffer>;
export type NodeCallback<Value> = (error: Error | null, value?: Value) => void;

/** The name of a hash function as the table has it. */
export const hashKey = (name: string): string =>
  String(name)
    .toLowerCase()
    .replace(/^rsa-/, "")
    .replace(/^sha-(?=\d)/, "sha");

export function hashNamed(name: string): CHash {
  const found = hashes[hashKey(name)];
  if (found === undefined) {
    const error = new Error(`Digest method not supported: ${name}`);
    throw Object.assign(error, { code: "ERR_CRYPTO_INVALID_DIGEST" });
  }
  return found;
}

/** Begins a hash, or with a key an HMAC. */
export function begun(name: string, key?: Uint8Array): Running {
  hashNamed(name);
  return begin(hashKey(name), key);
}

export function bytesOf(data: Data | KeyObject, encoding?: string): Bytes {
  if (data instanceof KeyObject) return data.export();
  if (typeof data === "string") return Buffer.from(data, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw Object.assign(
    new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView.'),
    { code: "ERR_INVALID_ARG_TYPE" },
  );
}

export const outputOf = (bytes: Uint8Array, encoding?: string) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding);
};

/** A secret key. `crypto.subtle` has the other kinds. */
export class KeyObject {
  readonly type = "secret";
  readonly #bytes: Bytes;

  constructor(type: string, bytes: Bytes) {
    if (type !== "secret") throw new TypeError("a component has secret keys only: import others with crypto.subtle");
    this.#bytes = bytes;
  }

  get symmetricKeySize(): number {
    return this.#bytes.length;
  }

  export(options?: { format?: string }): Bytes {
    const copy = Buffer.from(this.#bytes);
    if (options?.format === "jwk") return { kty: "oct", k: copy.toString("base64url") } as never;
    return copy;
  }

  equals(other: KeyObject): boolean {
    const bytes = other.export();
    return bytes.length === this.#bytes.length && timingSafeEqual(bytes, this.#bytes);
  }
}

/** Compares bytes in a time that depends only on their number. */
export function timingSafeEqual(a: Data, b: Data): boolean {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  if (left.length !== right.length) {
    const error = new RangeError("Input buffers must have the same byte length");
    throw Object.assign(error, { code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH" });
  }
  return isSame(left, right);
}

/** Calls back later with the result or error of a function. Without a callback, returns the result at once. */
export function answered<Value>(compute: () => Value, callback: NodeCallback<Value> | undefined): Value | undefined {
  if (callback === undefined) return compute();
  let value: Value;
  try {
    value = compute();
  } catch (error) {
    queueMicrotask(() => callback(error as Error));
    return undefined;
  }
  queueMicrotask(() => callback(null, value));
  return undefined;
}
