/**
 * Hashes and keyed hashes of `node:crypto`, computed in JavaScript. For Tenon's engine the build takes `hashes-native.ts` in the
 * place of this file (`cli/src/build/node-modules.ts`).
 */
import { blake2b, blake2s } from "@noble/hashes/blake2.js";
import { hmac } from "@noble/hashes/hmac.js";
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { sha3_224, sha3_256, sha3_384, sha3_512 } from "@noble/hashes/sha3.js";
import type { CHash } from "@noble/hashes/utils.js";

export const hashes: Readonly<Record<string, CHash>> = {
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

/** A hash in progress. */
export interface Running {
  update(data: Uint8Array): unknown;
  digest(): Uint8Array;
  clone?(): Running;
}

/** Begins a hash, or with a key an HMAC. The name is one of the table. */
export function begin(name: string, key?: Uint8Array): Running {
  const hash = hashes[name] as CHash;
  return key === undefined ? hash.create() : hmac.create(hash, key);
}

/** Compares bytes of the same length in a time that depends only on their number. */
export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  let different = 0;
  for (let i = 0; i < left.length; i++) different |= (left[i] as number) ^ (right[i] as number);
  return different === 0;
}
