/** Bytes, hash functions and secret keys, as the functions of `node:crypto` take and return them. */
import { blake2b, blake2s } from "@noble/hashes/blake2.js";
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { sha3_224, sha3_256, sha3_384, sha3_512 } from "@noble/hashes/sha3.js";
import type { CHash } from "@noble/hashes/utils.js";
import { Buffer } from "./buffer.ts";

/** Bytes, or a text with a separate encoding. */
export type Data = string | ArrayBufferView | ArrayBuffer;
export type Bytes = Uint8Array<ArrayBuffer>;
export type Callback<Value> = (error: Error | null, value?: Value) => void;

export const hashes: Record<string, CHash> = {
  md5,
  ripemd160,
  rmd160: ripemd160,
  sha1,
  sha224,
  sha256,
  sha384,
  sha512,
  "sha512-224": sha512_224,
  "sha512-256": sha512_256,
  "sha3-224": sha3_224,
  "sha3-256": sha3_256,
  "sha3-384": sha3_384,
  "sha3-512": sha3_512,
  blake2b512: blake2b as unknown as CHash,
  blake2s256: blake2s as unknown as CHash,
};

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
  let different = 0;
  for (let i = 0; i < left.length; i++) different |= (left[i] as number) ^ (right[i] as number);
  return different === 0;
}

/** Calls back later with the result or error of a function. Without a callback, returns the result at once. */
export function answered<Value>(compute: () => Value, callback: Callback<Value> | undefined): Value | undefined {
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
