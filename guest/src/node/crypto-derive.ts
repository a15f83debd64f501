/** Keys from secrets and passwords. Compiled functions compute them where the build brings those, and JavaScript elsewhere. */
import { argon2d, argon2i, argon2id } from "@noble/hashes/argon2.js";
import { hkdf as nobleHkdf } from "@noble/hashes/hkdf.js";
import { pbkdf2 as noblePbkdf2 } from "@noble/hashes/pbkdf2.js";
import { scrypt as nobleScrypt } from "@noble/hashes/scrypt.js";
import type { Part } from "../platform/crypto/block.ts";
import {
  answered,
  bytesOf,
  type Data,
  hashKey,
  hashNamed,
  type KeyObject,
  type NodeCallback,
  outputOf,
} from "./crypto-data.ts";
import { symmetric as compiled, type Symmetric } from "./symmetric.ts";

/** Hash functions of the compiled functions, with their numbers. */
const numbers: Readonly<Record<string, number>> = { sha1: 1, sha256: 256, sha384: 384, sha512: 512 };

/** The functions, computed by compiled ones, or without. */
export function derivedBy(symmetric: Symmetric | undefined) {
  /** Calls a function whose output is the last part; undefined when that is not possible. */
  const computed = (
    parts: readonly Part[],
    call: (block: Uint8Array, symmetric: Symmetric) => number,
  ): Uint8Array | undefined => {
    return symmetric?.withBlock(
      parts,
      (block) => call(block, symmetric),
      ({ part }) => part(parts.length - 1),
    );
  };

  function pbkdf2Sync(password: Data, salt: Data, iterations: number, length: number, digest: string): unknown {
    const hash = hashNamed(digest);
    const number = numbers[hashKey(digest)];
    const [secret, salted] = [bytesOf(password), bytesOf(salt)];
    const fast =
      number === undefined || !(iterations >= 1)
        ? undefined
        : computed([secret, salted, length], (block, { pbkdf2 }) =>
            pbkdf2(block, number, secret.length, salted.length, iterations, length),
          );
    return outputOf(fast ?? noblePbkdf2(hash, secret, salted, { c: iterations, dkLen: length }));
  }

  function scryptSync(password: Data, salt: Data, length: number, options: ScryptOptions = {}): unknown {
    const { cost = 16_384, blockSize = 8, parallelization = 1, maxmem = 2 ** 25 } = options;
    const { N = cost, r = blockSize, p = parallelization } = options;
    const refuse = (): never => {
      const text =
        "Invalid scrypt params: the cost is not a power of 2, or needs more memory than is available or maxmem allows";
      throw Object.assign(new RangeError(text), { code: "ERR_CRYPTO_INVALID_SCRYPT_PARAMS" });
    };
    if (!Number.isInteger(Math.log2(N)) || N < 2 || 128 * N * r > maxmem) refuse();
    const [secret, salted] = [bytesOf(password), bytesOf(salt)];
    const derive = () =>
      computed([secret, salted, length], (block, { scrypt }) =>
        scrypt(block, secret.length, salted.length, Math.log2(N), r, p, length),
      ) ?? nobleScrypt(secret, salted, { N, r, p, dkLen: length });
    try {
      return outputOf(derive());
    } catch {
      return refuse();
    }
  }

  function argon2Sync(algorithm: string, options: Argon2Options): unknown {
    const variant = variants[algorithm];
    if (variant === undefined)
      throw Object.assign(new TypeError("Invalid Argon2 algorithm"), { code: "ERR_INVALID_ARG_VALUE" });
    const { message, nonce, parallelism, tagLength, memory, passes, secret = "", associatedData = "" } = options;
    const parts = [bytesOf(message), bytesOf(nonce), bytesOf(secret), bytesOf(associatedData)] as const;
    const [password, salt, key, personalization] = parts;
    const refuse = (): never => {
      const text = "Invalid Argon2 params: a number is out of bounds, or more memory is needed than is available";
      throw Object.assign(new RangeError(text), { code: "ERR_OUT_OF_RANGE" });
    };
    const isValid = salt.length >= 8 && parallelism >= 1 && tagLength >= 4 && memory >= 8 * parallelism && passes >= 1;
    if (!isValid) refuse();
    const derive = () =>
      computed([...parts, tagLength], (block, { argon2 }) =>
        argon2(
          block,
          variant.number,
          memory,
          passes,
          parallelism,
          password.length,
          salt.length,
          key.length,
          personalization.length,
          tagLength,
        ),
      ) ??
      variant.compute(password, salt, { m: memory, t: passes, p: parallelism, dkLen: tagLength, key, personalization });
    try {
      return outputOf(derive());
    } catch {
      return refuse();
    }
  }

  function hkdfSync(digest: string, key: Data | KeyObject, salt: Data, info: Data, length: number): ArrayBuffer {
    const hash = hashNamed(digest);
    const number = numbers[hashKey(digest)];
    const [secret, salted, context] = [bytesOf(key), bytesOf(salt), bytesOf(info)];
    const fast =
      number === undefined || length > 255 * hash.outputLen
        ? undefined
        : computed([secret, salted, context, length], (block, { hkdf }) =>
            hkdf(block, number, secret.length, salted.length, context.length, length),
          );
    const bytes = fast ?? nobleHkdf(hash, secret, salted, context, length);
    return bytes.slice().buffer as ArrayBuffer;
  }
  return { argon2Sync, pbkdf2Sync, scryptSync, hkdfSync };
}

/** Variants of Argon2, with their numbers. */
const variants: Readonly<Record<string, { readonly number: number; readonly compute: typeof argon2id }>> = {
  argon2d: { number: 0, compute: argon2d },
  argon2i: { number: 1, compute: argon2i },
  argon2id: { number: 2, compute: argon2id },
};

/** The options of Node's `argon2`; `memory` is in KiB. */
export interface Argon2Options {
  message: Data;
  nonce: Data;
  parallelism: number;
  tagLength: number;
  memory: number;
  passes: number;
  secret?: Data;
  associatedData?: Data;
}

/** Short and long names of the same options, as in Node. */
export interface ScryptOptions {
  N?: number;
  r?: number;
  p?: number;
  cost?: number;
  blockSize?: number;
  parallelization?: number;
  maxmem?: number;
}

export const { argon2Sync, pbkdf2Sync, scryptSync, hkdfSync } = derivedBy(compiled);

export function pbkdf2(...args: [...Parameters<typeof pbkdf2Sync>, NodeCallback<unknown>]): void {
  const [password, salt, iterations, length, digest, callback] = args;
  answered(() => pbkdf2Sync(password, salt, iterations, length, digest), callback);
}

export function scrypt(password: Data, salt: Data, length: number, ...rest: unknown[]): void {
  const callback = rest.pop() as NodeCallback<unknown>;
  answered(() => scryptSync(password, salt, length, rest[0] as ScryptOptions | undefined), callback);
}

export function argon2(...args: [...Parameters<typeof argon2Sync>, NodeCallback<unknown>]): void {
  const [algorithm, options, callback] = args;
  answered(() => argon2Sync(algorithm, options), callback);
}

export function hkdf(...args: [...Parameters<typeof hkdfSync>, NodeCallback<ArrayBuffer>]): void {
  const [digest, key, salt, info, length, callback] = args;
  answered(() => hkdfSync(digest, key, salt, info, length), callback);
}
