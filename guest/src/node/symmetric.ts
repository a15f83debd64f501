/**
 * The core module behind ciphers and derived keys. Where code names one of their functions, the build takes
 * `symmetric-linked.ts` in the place of this file (`cli/src/build/node-modules.ts`).
 */
import type { AesModule } from "../polyfills/subtle/aes.ts";
import type { DeriveModule } from "../polyfills/subtle/derive.ts";

export type SymmetricModule = AesModule & DeriveModule;

export const symmetric: SymmetricModule | undefined = undefined;
