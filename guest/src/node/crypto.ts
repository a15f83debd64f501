/** `node:crypto` inside a component: hashes, keyed hashes, ciphers, derived keys and random values. */
import { Buffer } from "./buffer.ts";
import { requireRequest } from "./building.ts";
import { createCipheriv, createDecipheriv, getCiphers } from "./ciphers.ts";
import {
  answered,
  type Bytes,
  begun,
  bytesOf,
  type Data,
  hashes,
  KeyObject,
  type NodeCallback,
  outputOf,
  type Running,
  timingSafeEqual,
} from "./crypto-data.ts";
import { argon2, argon2Sync, hkdf, hkdfSync, pbkdf2, pbkdf2Sync, scrypt, scryptSync } from "./crypto-derive.ts";

export { createCipheriv, createDecipheriv, getCiphers } from "./ciphers.ts";
export { KeyObject, timingSafeEqual } from "./crypto-data.ts";
export { argon2, argon2Sync, hkdf, hkdfSync, pbkdf2, pbkdf2Sync, scrypt, scryptSync } from "./crypto-derive.ts";

export const getHashes = (): string[] => Object.keys(hashes);

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

export const createHash = (algorithm: string): Hash => new Hash(begun(algorithm));

export function createHmac(algorithm: string, key: Data | KeyObject, options?: { encoding?: string }): Hmac {
  return new Hmac(begun(algorithm, bytesOf(key, options?.encoding)));
}

/** Hashes a whole text or bytes. The output is hexadecimal by default. */
export const hash = (algorithm: string, data: Data, encoding = "hex"): unknown => {
  const running = begun(algorithm);
  running.update(bytesOf(data));
  return outputOf(running.digest(), encoding);
};

export const createSecretKey = (key: Data, encoding?: string): KeyObject =>
  new KeyObject("secret", Buffer.from(bytesOf(key, encoding)));

/** Exists because packages test for it to detect key objects. The build warns of its use. */
function noPair(): never {
  throw new TypeError("a component has no synchronous keys of RSA and EC: import keys with crypto.subtle");
}

/** Fills bytes in pieces, because the engine returns at most 64 KiB at a time. */
function fillRandomly(bytes: Bytes, what: string): void {
  requireRequest(`crypto.${what}()`);
  for (let at = 0; at < bytes.length; at += 65_536) globalThis.crypto.getRandomValues(bytes.subarray(at, at + 65_536));
}

export function randomBytes(size: number, callback?: NodeCallback<Bytes>): Bytes | undefined {
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
  const callback = rest.pop() as NodeCallback<ArrayBufferView>;
  answered(() => randomFillSync(view, ...(rest as number[])), callback);
}

/** Returns a uniformly distributed whole number, at least `from` and less than `to`. */
export function randomInt(
  from: number,
  to?: number | NodeCallback<number>,
  callback?: NodeCallback<number>,
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

export const webcrypto = globalThis.crypto;
export const { subtle } = webcrypto;
export const getRandomValues = <View extends ArrayBufferView>(view: View): View =>
  webcrypto.getRandomValues(view as never) as unknown as View;

export default {
  Hash,
  Hmac,
  KeyObject,
  argon2,
  argon2Sync,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey: noPair,
  createPublicKey: noPair,
  createSecretKey,
  getCiphers,
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
