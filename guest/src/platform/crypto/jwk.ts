/** JSON Web Keys (RFC 7517), as far as all algorithms read and write them in the same way. */
import type { Wanted } from "./algorithm.ts";
import type { CryptoKey } from "./crypto-key.ts";
import { dataError } from "./errors.ts";

/** Members of a key. Those that an algorithm does not read are ignored. */
export interface JsonWebKey {
  readonly kty?: unknown;
  readonly [member: string]: unknown;
}

/** Members that a key must have with these values, if it has them at all. */
export interface Expected {
  readonly kty: string;
  readonly use: "sig" | "enc";
  /** The possible values of `alg`; undefined when any one will do. */
  readonly alg?: string | readonly string[] | undefined;
}

/** Refuses a key that is meant for another purpose. @throws DOMException `DataError` */
export function requireFit(jwk: JsonWebKey, { kty, use, alg }: Expected, { extractable, usages }: Wanted): void {
  const operations = jwk["key_ops"];
  if (jwk.kty !== kty) throw dataError(`the member "kty" of the JSON Web Key is not "${kty}"`);
  if (jwk["use"] !== undefined && usages.length > 0 && jwk["use"] !== use)
    throw dataError(`the member "use" of the JSON Web Key is not "${use}"`);
  if (operations !== undefined) {
    if (!Array.isArray(operations) || new Set(operations).size !== operations.length)
      throw dataError('the member "key_ops" of the JSON Web Key is not a list of different operations');
    if (!usages.every((usage) => operations.includes(usage)))
      throw dataError('the member "key_ops" of the JSON Web Key does not allow these usages');
  }
  if (jwk["ext"] === false && extractable) throw dataError('the member "ext" of the JSON Web Key forbids to export it');
  if (alg !== undefined && jwk["alg"] !== undefined && ![alg].flat().includes(jwk["alg"] as string))
    throw dataError(`the member "alg" of the JSON Web Key is not "${[alg].flat()[0]}"`);
}

/** The members of an exported key that do not depend on the algorithm. */
export const common = ({ usages, extractable }: CryptoKey): JsonWebKey => ({ key_ops: [...usages], ext: extractable });
