/**
 * The engine's functions behind ciphers and derived keys. Where code names one of them, the build takes `symmetric-native.ts` in the
 * place of this file (`cli/src/build/node-modules.ts`).
 */

import type * as engine from "tenon:engine";
import type { withBlock } from "../platform/crypto/block.ts";

/** The functions take a block of arguments one after the other, and their lengths (`crates/engine/platform/crypto`). */
export type Symmetric = Pick<
  typeof engine,
  "argon2" | "cbcDecrypt" | "cbcEncrypt" | "ctr" | "gcmCounter" | "gcmTag" | "hkdf" | "pbkdf2" | "scrypt"
> & { readonly withBlock: typeof withBlock };

export const symmetric: Symmetric | undefined = undefined;
