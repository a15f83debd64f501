/** The functions of `symmetric.ts` by a core module. */
import type { AesModule } from "../polyfills/subtle/aes.ts";
import { withBlock } from "../polyfills/subtle/core-module.ts";
import type { DeriveModule } from "../polyfills/subtle/derive.ts";
import type { Symmetric } from "./symmetric.ts";

export function symmetricBy(module: AesModule & DeriveModule): Symmetric {
  const { cbc_decrypt, cbc_encrypt, ctr, gcm_counter, gcm_tag, hkdf, pbkdf2, scrypt } = module;
  const by: Partial<Record<keyof Symmetric, unknown>> = {
    cbcDecrypt: cbc_decrypt,
    cbcEncrypt: cbc_encrypt,
    ctr,
    gcmCounter: gcm_counter,
    gcmTag: gcm_tag,
    hkdf,
    pbkdf2,
    scrypt,
    withBlock: (...[parts, call, use]: Parameters<Symmetric["withBlock"]>) =>
      withBlock(module, parts, call as unknown as (block: number) => number, use),
    isForRequests: true,
  };
  return by as unknown as Symmetric;
}
