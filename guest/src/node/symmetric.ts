/**
 * The engine's functions behind ciphers and derived keys. Where code names one of them, the build takes `symmetric-native.ts` in the
 * place of this file (`cli/src/build/node-modules.ts`).
 */

/** An input, or the length of an output. */
export type Part = Uint8Array | number;
/** A block of arguments: its address, or its bytes. */
export interface Block {
  readonly brand: unique symbol;
}

/** The functions take a block of arguments one after the other, and their lengths (`crates/engine/platform/crypto`). */
export interface Symmetric {
  withBlock<Result>(
    parts: readonly Part[],
    call: (block: Block) => number,
    use: (called: { readonly result: number; part(index: number, length?: number): Uint8Array<ArrayBuffer> }) => Result,
  ): Result | undefined;
  ctr(block: Block, key: number, bits: number, data: number, skipped: number): number;
  cbcEncrypt(block: Block, key: number, data: number, padded: number): number;
  cbcDecrypt(block: Block, key: number, data: number, padded: number): number;
  gcmCounter(block: Block, key: number, nonce: number): number;
  gcmTag(block: Block, key: number, nonce: number, extra: number, data: number, tag: number): number;
  hkdf(block: Block, hash: number, key: number, salt: number, info: number, out: number): number;
  pbkdf2(block: Block, hash: number, password: number, salt: number, rounds: number, out: number): number;
  scrypt(
    block: Block,
    password: number,
    salt: number,
    logCost: number,
    size: number,
    parallel: number,
    out: number,
  ): number;
  argon2(
    block: Block,
    variant: number,
    memory: number,
    passes: number,
    lanes: number,
    password: number,
    salt: number,
    secret: number,
    data: number,
    out: number,
  ): number;
}

export const symmetric: Symmetric | undefined = undefined;
