/** HMAC (Web Cryptography API, section 31), computed by the engine. */
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
import type { EngineKeys } from "./engine.ts";
import { dataError, operationError } from "./errors.ts";
import { randomBytes } from "./random.ts";
import { readSecret, secretKey, secretOf, writeSecret } from "./secret.ts";

const name = "HMAC";
const usages = ["sign", "verify"] as const;

/** Returns the algorithm. */
export function hmac(keys: EngineKeys): Algorithm {
  const own = (key: CryptoKey) => ({ name, hash: (key.algorithm["hash"] as { name: HashName }).name });
  const encoded = (key: CryptoKey) => () => ({ format: "raw", bytes: secretOf(key) }) as const;
  return {
    name,
    keyLength,
    async generateKey(parameters, wanted) {
      requireUsages(wanted, usages, name);
      const hash = hashNamed(parameters);
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
      if (length > most || length <= most - 8)
        throw dataError(`a key of ${most} bits cannot have the length ${length}`);
      return secretKey(shortened(bytes, length), { name, hash: { name: hash }, length }, wanted);
    },
    exportKey: (format, key) => writeSecret(format, key, alg(own(key).hash)),
    sign: (_parameters, key, data) => keys.sign(key, own(key), encoded(key), data),
    verify: (_parameters, key, signature, data) => keys.verify(key, own(key), encoded(key), signature, data),
  };
}

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
  bytes[last] = (bytes[last] as number) & (0xff << ((8 - (length % 8)) % 8));
  return bytes;
}
