/** Parts that ECDH and X25519 share: the parameter `public`, and the number of bits of the secret that are used. */
import type { Parameters } from "./algorithm.ts";
import type { Bytes } from "./block.ts";
import { type CryptoKey, isKey } from "./crypto-key.ts";
import { invalidAccess, operationError } from "./errors.ts";

/** Reads the other side's key, which has to be of the same kind. */
export function otherKey(parameters: Parameters, key: CryptoKey): CryptoKey {
  const other = parameters["public"];
  if (!isKey(other)) throw new TypeError(`"public" of ${parameters.name} must be a CryptoKey`);
  if (key.type !== "private") throw invalidAccess(`${parameters.name} derives from a private key`);
  if (other.type !== "public") throw invalidAccess(`"public" of ${parameters.name} is not a public key`);
  const isSameKind =
    other.algorithm.name === key.algorithm.name && other.algorithm["namedCurve"] === key.algorithm["namedCurve"];
  if (!isSameKind) throw invalidAccess(`"public" of ${parameters.name} is a key of another kind`);
  return other;
}

/** Returns the first bits of a secret, or all of it. */
export function firstBits(secret: Bytes, length: number | null): Bytes {
  if (length === null) return secret;
  if (length > secret.length * 8) throw operationError(`the secret has ${secret.length * 8} bits, and not ${length}`);
  const bytes = secret.slice(0, Math.ceil(length / 8));
  const rest = length % 8;
  if (rest !== 0) bytes[bytes.length - 1] = (bytes.at(-1) as number) & (0xff << (8 - rest));
  return bytes;
}
