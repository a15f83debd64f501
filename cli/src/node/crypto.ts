/**
 * `node:crypto` inside a component: hashes, keyed hashes, derived keys and random values. JavaScript computes the
 * hashes, because Node's are synchronous and the engine's are not. `crypto.subtle` is many times faster for large
 * inputs.
 */
import { blake2b, blake2s } from "@noble/hashes/blake2.js";
import { hkdf as nobleHkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { pbkdf2 as noblePbkdf2 } from "@noble/hashes/pbkdf2.js";
import { scrypt as nobleScrypt } from "@noble/hashes/scrypt.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { sha3_224, sha3_256, sha3_384, sha3_512 } from "@noble/hashes/sha3.js";
import type { CHash } from "@noble/hashes/utils.js";
import { Buffer } from "./buffer.ts";
import { requireRequest } from "./building.ts";

/** Bytes, or a text with a separate encoding. */
type Data = string | ArrayBufferView | ArrayBuffer;
type Bytes = Uint8Array<ArrayBuffer>;
type Callback<Value> = (error: Error | null, value?: Value) => void;

const hashes: Record<string, CHash> = {
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

export const getHashes = (): string[] => Object.keys(hashes);

function hashNamed(name: string): CHash {
  const found =
    hashes[
      String(name)
        .toLowerCase()
        .replace(/^rsa-/, "")
        .replace(/^sha-(?=\d)/, "sha")
    ];
  if (found === undefined) {
    const error = new Error(`Digest method not supported: ${name}`);
    throw Object.assign(error, { code: "ERR_CRYPTO_INVALID_DIGEST" });
  }
  return found;
}

function bytesOf(data: Data | KeyObject, encoding?: string): Bytes {
  if (data instanceof KeyObject) return data.export();
  if (typeof data === "string") return Buffer.from(data, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw Object.assign(
    new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView.'),
    { code: "ERR_INVALID_ARG_TYPE" },
  );
}

const outputOf = (bytes: Uint8Array, encoding?: string) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return encoding === undefined || encoding === "buffer" ? buffer : buffer.toString(encoding);
};

interface Running {
  update(data: Uint8Array): unknown;
  digest(): Uint8Array;
  clone?(): Running;
}

/** A hash in progress, which is not a stream. */
class Digesting {
  readonly #running: Running;
  #isFinal = false;

  constructor(running: Running) {
    this.#running = running;
  }

  update(data: Data, encoding?: string): this {
    this.#requireOpen();
    this.#running.update(bytesOf(data, encoding));
    return this;
  }

  digest(encoding?: string): unknown {
    this.#requireOpen();
    this.#isFinal = true;
    return outputOf(this.#running.digest(), encoding);
  }

  copy(): Digesting {
    this.#requireOpen();
    return new (this.constructor as typeof Digesting)((this.#running.clone as () => Running)());
  }

  #requireOpen(): void {
    if (this.#isFinal) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
  }
}

export class Hash extends Digesting {}
export class Hmac extends Digesting {}

export const createHash = (algorithm: string): Hash => new Hash(hashNamed(algorithm).create());

export function createHmac(algorithm: string, key: Data | KeyObject, options?: { encoding?: string }): Hmac {
  return new Hmac(hmac.create(hashNamed(algorithm), bytesOf(key, options?.encoding)));
}

/** Hashes a whole text or bytes. The output is hexadecimal by default. */
export const hash = (algorithm: string, data: Data, encoding = "hex"): unknown =>
  outputOf(hashNamed(algorithm)(bytesOf(data)), encoding);

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

export const createSecretKey = (key: Data, encoding?: string): KeyObject =>
  new KeyObject("secret", Buffer.from(bytesOf(key, encoding)));

/** Exists because packages test for it to detect key objects. The build warns of its use. */
function noPair(): never {
  throw new TypeError("a component has no synchronous keys of RSA and EC: import keys with crypto.subtle");
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

/** Fills bytes in pieces, because the engine returns at most 64 KiB at a time. */
function fillRandomly(bytes: Bytes, what: string): void {
  requireRequest(`crypto.${what}()`);
  for (let at = 0; at < bytes.length; at += 65_536) globalThis.crypto.getRandomValues(bytes.subarray(at, at + 65_536));
}

/** Calls back later with the result or error of a function. Without a callback, returns the result at once. */
function answered<Value>(compute: () => Value, callback: Callback<Value> | undefined): Value | undefined {
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

export function randomBytes(size: number, callback?: Callback<Bytes>): Bytes | undefined {
  return answered(() => {
    const bytes: Bytes = Buffer.alloc(size);
    fillRandomly(bytes, "randomBytes");
    return bytes;
  }, callback);
}
export const pseudoRandomBytes = randomBytes;

export function randomFillSync<View extends ArrayBufferView | ArrayBuffer>(
  view: View,
  offset = 0,
  size?: number,
): View {
  const bytes = bytesOf(view);
  fillRandomly(bytes.subarray(offset, size === undefined ? undefined : offset + size), "randomFillSync");
  return view;
}

export function randomFill(view: ArrayBufferView, ...rest: unknown[]): void {
  const callback = rest.pop() as Callback<ArrayBufferView>;
  answered(() => randomFillSync(view, ...(rest as number[])), callback);
}

/** Returns a uniformly distributed whole number, at least `from` and less than `to`. */
export function randomInt(
  from: number,
  to?: number | Callback<number>,
  callback?: Callback<number>,
): number | undefined {
  if (typeof to !== "number") return randomInt(0, from, to);
  const range = to - from;
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && range > 0 && range <= 2 ** 48 - 1)) {
    throw Object.assign(new RangeError(`The range from ${from} to ${to} has no whole number, or too many`), {
      code: "ERR_OUT_OF_RANGE",
    });
  }
  return answered(() => {
    const bytes = new Uint8Array(6);
    const fair = 2 ** 48 - (2 ** 48 % range);
    for (;;) {
      fillRandomly(bytes, "randomInt");
      const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
      if (value < fair) return from + (value % range);
    }
  }, callback);
}

export function randomUUID(): string {
  requireRequest("crypto.randomUUID()");
  return globalThis.crypto.randomUUID();
}

export function pbkdf2Sync(password: Data, salt: Data, iterations: number, length: number, digest: string): unknown {
  const options = { c: iterations, dkLen: length };
  return outputOf(noblePbkdf2(hashNamed(digest), bytesOf(password), bytesOf(salt), options));
}
export function pbkdf2(...args: [...Parameters<typeof pbkdf2Sync>, Callback<unknown>]): void {
  const [password, salt, iterations, length, digest, callback] = args;
  answered(() => pbkdf2Sync(password, salt, iterations, length, digest), callback);
}

/** Short and long names of the same options, as in Node. */
interface ScryptOptions {
  N?: number;
  r?: number;
  p?: number;
  cost?: number;
  blockSize?: number;
  parallelization?: number;
}
export function scryptSync(password: Data, salt: Data, length: number, options: ScryptOptions = {}): unknown {
  const { cost = 16_384, blockSize = 8, parallelization = 1, N = cost, r = blockSize, p = parallelization } = options;
  return outputOf(nobleScrypt(bytesOf(password), bytesOf(salt), { N, r, p, dkLen: length }));
}
export function scrypt(password: Data, salt: Data, length: number, ...rest: unknown[]): void {
  const callback = rest.pop() as Callback<unknown>;
  answered(() => scryptSync(password, salt, length, rest[0] as ScryptOptions | undefined), callback);
}

export function hkdfSync(digest: string, key: Data | KeyObject, salt: Data, info: Data, length: number): ArrayBuffer {
  const bytes = nobleHkdf(hashNamed(digest), bytesOf(key), bytesOf(salt), bytesOf(info), length);
  return bytes.slice().buffer as ArrayBuffer;
}
export function hkdf(...args: [...Parameters<typeof hkdfSync>, Callback<ArrayBuffer>]): void {
  const [digest, key, salt, info, length, callback] = args;
  answered(() => hkdfSync(digest, key, salt, info, length), callback);
}

export const webcrypto = globalThis.crypto;
export const { subtle } = webcrypto;
export const getRandomValues = <View extends ArrayBufferView>(view: View): View =>
  webcrypto.getRandomValues(view as never) as unknown as View;

export default {
  Hash,
  Hmac,
  KeyObject,
  createHash,
  createHmac,
  createPrivateKey: noPair,
  createPublicKey: noPair,
  createSecretKey,
  getHashes,
  getRandomValues,
  hash,
  hkdf,
  hkdfSync,
  pbkdf2,
  pbkdf2Sync,
  pseudoRandomBytes,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  scrypt,
  scryptSync,
  subtle,
  timingSafeEqual,
  webcrypto,
};
