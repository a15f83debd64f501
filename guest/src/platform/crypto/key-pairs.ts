/** Rules that hold for all algorithms whose keys are public and private ones. */
import { type Format, type KeyData, requireUsages, type Wanted } from "./algorithm.ts";
import type { CryptoKey, KeyPair, Usage } from "./crypto-key.ts";
import { invalidAccess, syntaxError } from "./errors.ts";

/** The usages that the keys of an algorithm can have. */
export interface PairUsages {
  readonly name: string;
  readonly ofPrivate: readonly Usage[];
  readonly ofPublic: readonly Usage[];
}

/**
 * Makes a pair, whose usages are divided between its keys.
 *
 * @param make computes the keys, with the properties of the public and of the private one
 */
export function keyPair(
  { name, ofPrivate, ofPublic }: PairUsages,
  { extractable, usages }: Wanted,
  make: (ofPublic: Wanted, ofPrivate: Wanted) => KeyPair,
): KeyPair {
  requireUsages({ extractable, usages }, [...ofPrivate, ...ofPublic], name);
  const [privateUsages, publicUsages] = [ofPrivate, ofPublic].map((possible) =>
    usages.filter((usage) => possible.includes(usage)),
  ) as [Usage[], Usage[]];
  requireSome(privateUsages);
  return make({ extractable: true, usages: publicUsages }, { extractable, usages: privateUsages });
}

/** Refuses the import of a key with usages that it cannot have. */
export function requireImport(data: KeyData, { name, ofPrivate, ofPublic }: PairUsages, wanted: Wanted): void {
  const isPrivate = data.format === "pkcs8" || (data.format === "jwk" && data.jwk["d"] !== undefined);
  requireUsages(wanted, isPrivate ? ofPrivate : ofPublic, name);
  if (isPrivate) requireSome(wanted.usages);
}

/** Refuses to write a private key in a format of public ones, and the other way round. */
export function requireFormat(format: Exclude<Format, "jwk">, key: CryptoKey): void {
  if ((key.type === "private") !== (format === "pkcs8"))
    throw invalidAccess(`a ${key.type} key of ${key.algorithm.name} is not exported as ${format}`);
}

function requireSome(usages: readonly Usage[]): void {
  if (usages.length === 0) throw syntaxError("a private key needs at least one usage");
}
