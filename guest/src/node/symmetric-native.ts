/** See `symmetric.ts`. */
import { argon2, cbcDecrypt, cbcEncrypt, ctr, gcmCounter, gcmTag, hkdf, pbkdf2, scrypt } from "tenon:engine";
import { withBlock } from "../platform/crypto/block.ts";
import type { Symmetric } from "./symmetric.ts";

export const symmetric: Symmetric = {
  argon2,
  cbcDecrypt,
  cbcEncrypt,
  ctr,
  gcmCounter,
  gcmTag,
  hkdf,
  pbkdf2,
  scrypt,
  withBlock,
};
