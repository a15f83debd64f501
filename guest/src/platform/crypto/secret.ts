/** Keys that are plain bytes: those of AES and HMAC. */
import type { Format, KeyData, Wanted } from "./algorithm.ts";
import { wrongFormat } from "./algorithm.ts";
import type { Bytes } from "./block.ts";
import { base64url, fromBase64url } from "./bytes.ts";
import { type CryptoKey, type KeyAlgorithm, makeKey, materialOf, type Usage } from "./crypto-key.ts";
import { syntaxError } from "./errors.ts";
import { common, type Expected, type JsonWebKey, requireFit } from "./jwk.ts";

/** Makes a secret key, which has to be good for something. */
export function secretKey(bytes: Bytes, algorithm: KeyAlgorithm, { extractable, usages }: Wanted): CryptoKey {
  if (usages.length === 0) throw syntaxError("a secret key needs at least one usage");
  return makeKey("secret", extractable, algorithm, usages, { secret: bytes });
}

export const secretOf = (key: CryptoKey): Bytes => materialOf(key)["secret"] as Bytes;

/**
 * Reads the bytes of a secret key.
 *
 * @param expected what a JSON Web Key must say, which may depend on its length
 */
export function readSecret(
  data: KeyData,
  name: string,
  wanted: Wanted,
  expected: (length: number) => Omit<Expected, "kty">,
): Bytes {
  if (data.format === "raw") return data.bytes;
  if (data.format !== "jwk") throw wrongFormat(data.format, name);
  const secret = fromBase64url(data.jwk["k"], "k");
  requireFit(data.jwk, { kty: "oct", ...expected(secret.length) }, wanted);
  return secret;
}

export function writeSecret(format: Format, key: CryptoKey, alg: string): Bytes | JsonWebKey {
  const secret = secretOf(key);
  if (format === "raw") return secret.slice();
  if (format !== "jwk") throw wrongFormat(format, key.algorithm.name);
  return { kty: "oct", k: base64url(secret), alg, ...common(key) };
}

/** The usages of keys that encrypt. */
export const encrypting: readonly Usage[] = ["encrypt", "decrypt", "wrapKey", "unwrapKey"];
