/** Functions of the engine for cryptography (`crates/engine/src/digest.c`, `random.c` and `crypto.c`). */
declare module "tenon:engine" {
  /** Hashes bytes at once. A hash function is given by the number in its name; MD5 has 5, SHA-1 has 1. */
  export function digest(hash: number, data: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Computes an HMAC at once. */
  export function hmac(hash: number, key: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer>;

  /** A hash, or an HMAC, in progress. */
  export interface NativeDigest {
    readonly brand: unique symbol;
  }
  /** Begins a hash, or with a key an HMAC. */
  export function newDigest(hash: number, key?: Uint8Array): NativeDigest;
  export function updateDigest(digest: NativeDigest, data: Uint8Array): void;
  /** Returns the digest of the data until now. More data may follow. */
  export function finishDigest(digest: NativeDigest): Uint8Array<ArrayBuffer>;
  export function copyDigest(digest: NativeDigest): NativeDigest;

  /** Compares bytes in a time that depends only on their number; bytes of different lengths are not equal. */
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;

  /** Fills bytes with random ones of the host. */
  export function fillRandom(bytes: Uint8Array): void;
  /** Returns a random UUID, version 4. */
  export function randomUuid(): string;

  // Functions of the full engine. The block has the arguments one after the other, and room for the output; the numbers are
  // the lengths of arguments (`crates/engine/platform/crypto`). A result is negative for a failure.
  type Block = Uint8Array;
  export function rsaGenerate(block: Block, modulus: number, exponent: number): number;
  export function rsaCheckPublic(block: Block, modulus: number, exponent: number): number;
  export function rsaCheckPrivate(block: Block, modulus: number, exponent: number): number;
  export function oaepEncrypt(
    block: Block,
    hash: number,
    modulus: number,
    exponent: number,
    label: number,
    data: number,
  ): number;
  export function oaepDecrypt(block: Block, hash: number, modulus: number, exponent: number, label: number): number;
  export function pssSign(
    block: Block,
    hash: number,
    modulus: number,
    exponent: number,
    digest: number,
    salt: number,
  ): number;
  export function pssVerify(
    block: Block,
    hash: number,
    modulus: number,
    exponent: number,
    digest: number,
    salt: number,
  ): number;
  export function pkcs1Sign(block: Block, hash: number, modulus: number, exponent: number, digest: number): number;
  export function pkcs1Verify(block: Block, hash: number, modulus: number, exponent: number, digest: number): number;
  export function ecPublic(block: Block, curve: number): number;
  export function ecCheck(block: Block, curve: number): number;
  export function ecAgree(block: Block, curve: number): number;
  export function ecSign(block: Block, curve: number, digest: number): number;
  export function ecVerify(block: Block, curve: number, digest: number): number;
  export function ed25519Public(block: Block): number;
  export function ed25519Sign(block: Block, message: number): number;
  export function ed25519Verify(block: Block, message: number): number;
  export function x25519Public(block: Block): number;
  export function x25519Agree(block: Block): number;
  export function gcmEncrypt(
    block: Block,
    key: number,
    nonce: number,
    extra: number,
    data: number,
    tag: number,
  ): number;
  export function gcmDecrypt(
    block: Block,
    key: number,
    nonce: number,
    extra: number,
    data: number,
    tag: number,
  ): number;
  export function gcmCounter(block: Block, key: number, nonce: number): number;
  export function gcmTag(block: Block, key: number, nonce: number, extra: number, data: number, tag: number): number;
  export function cbcEncrypt(block: Block, key: number, data: number, padded: number): number;
  export function cbcDecrypt(block: Block, key: number, data: number, padded: number): number;
  export function ctr(block: Block, key: number, bits: number, data: number, skipped: number): number;
  export function kwWrap(block: Block, key: number, data: number): number;
  export function kwUnwrap(block: Block, key: number, data: number): number;
  export function hkdf(block: Block, hash: number, key: number, salt: number, info: number, out: number): number;
  export function pbkdf2(
    block: Block,
    hash: number,
    password: number,
    salt: number,
    rounds: number,
    out: number,
  ): number;
  export function scrypt(
    block: Block,
    password: number,
    salt: number,
    logCost: number,
    size: number,
    parallel: number,
    out: number,
  ): number;
}
