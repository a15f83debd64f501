/** HMAC (Web Cryptography API, section 31). */
import { hmac as computed, timingSafeEqual } from "tenon:engine";
import {
  type Algorithm,
  type HashName,
  hashNamed,
  hashOf,
  type Parameters,
  requiredNumber,
  requireUsages,
} from "./algorithm.ts";
import type { CryptoKey } from "./crypto-key.ts";
import { dataError, operationError } from "./errors.ts";
import { randomBytes } from "./random.ts";
import { readSecret, secretKey, secretOf, writeSecret } from "./secret.ts";

const name = "HMAC";
const usages = ["sign", "verify"] as const;

export const hmac: Algorithm = {
  name,
  keyLength,
  generateKey(parameters, wanted) {
    const hash = hashNamed(parameters);
    requireUsages(wanted, usages, name);
    const length = keyLength(parameters);
    const bytes = shortened(randomBytes(Math.ceil(length / 8), "generateKey()"), length);
    return secretKey(bytes, { name, hash: { name: hash }, length }, wanted);
  },
  importKey(data, parameters, wanted) {
    requireUsages(wanted, usages, name);
    const hash = hashNamed(parameters);
    const bytes = readSecret(data, name, wanted, () => ({ use: "sig", alg: alg(hash) }));
    const most = bytes.length * 8;
    if (most === 0) throw dataError("a key of HMAC is empty");
    const length = parameters["length"] === undefined ? most : requiredNumber(parameters, "length", 2 ** 31);
    if (length > most || length <= most - 8) throw dataError(`a key of ${most} bits cannot have the length ${length}`);
    return secretKey(shortened(bytes, length), { name, hash: { name: hash }, length }, wanted);
  },
  exportKey: (format, key) => writeSecret(format, key, alg(hashOfKey(key))),
  sign: (_parameters, key, data) => computed(hashOf(hashOfKey(key)).number, secretOf(key), data),
  verify: (_parameters, key, signature, data) =>
    timingSafeEqual(signature, computed(hashOf(hashOfKey(key)).number, secretOf(key), data)),
};

const hashOfKey = (key: CryptoKey): HashName => (key.algorithm["hash"] as { name: HashName }).name;

const alg = (hash: HashName) => hash.replace("SHA-", "HS");

function keyLength(parameters: Parameters): number {
  if (parameters["length"] === undefined) return hashOf(hashNamed(parameters)).block * 8;
  const length = requiredNumber(parameters, "length", 2 ** 20);
  if (length === 0) throw operationError("a key of HMAC is empty");
  return length;
}

/** Sets the bits behind a length to 0. */
function shortened(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const last = bytes.length - 1;
  if (length % 8 !== 0) bytes[last] = (bytes[last] as number) & (0xff << (8 - (length % 8)));
  return bytes;
}
