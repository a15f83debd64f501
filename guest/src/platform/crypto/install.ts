/** Defines `crypto` and its classes, with digests and HMAC. */
import { defineGlobals, defineInterface } from "../interface.ts";
import { Crypto, makeCrypto } from "./crypto.ts";
import { CryptoKey } from "./crypto-key.ts";
import { QuotaExceededError } from "./quota-exceeded.ts";
import { makeSubtle, SubtleCrypto } from "./subtle-crypto.ts";

defineInterface("Crypto", Crypto);
defineInterface("CryptoKey", CryptoKey);
defineInterface("QuotaExceededError", QuotaExceededError);
defineInterface("SubtleCrypto", SubtleCrypto);
defineGlobals({ Crypto, CryptoKey, QuotaExceededError, SubtleCrypto });

const crypto = makeCrypto(makeSubtle());
// The attribute of the global has no setter (Web IDL, section 3.7.6).
Object.defineProperty(globalThis, "crypto", {
  get: () => crypto,
  enumerable: true,
  configurable: true,
});
