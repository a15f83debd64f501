/** Keys of the Web Cryptography API (section 13). */

/** Uses of a key, in the order in which a key lists them. */
const allUsages = ["encrypt", "decrypt", "sign", "verify", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"] as const;

export type Usage = (typeof allUsages)[number];
export type KeyType = "secret" | "public" | "private";

/** The parameters that a key was made with, and its algorithm's name. */
export interface KeyAlgorithm {
  readonly name: string;
  readonly [parameter: string]: unknown;
}

/** The numbers of a key; their names depend on the algorithm. */
export type Material = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** The properties of a new key, and its material. */
interface Made {
  readonly type: KeyType;
  readonly extractable: boolean;
  readonly algorithm: KeyAlgorithm;
  readonly usages: readonly Usage[];
  readonly material: Material;
}

const { freeze } = Object;
/** The argument without which the constructor throws. */
const internal = Symbol();

/** Reports whether a value is a key. */
export let isKey: (value: unknown) => value is CryptoKey;
/** Returns the material of a key. Code outside this folder has no way to it. */
export let materialOf: (key: CryptoKey) => Material;

/** A key. Its material stays in JavaScript, because the engine's functions keep nothing between calls. */
export class CryptoKey {
  readonly #made: Made;

  static {
    isKey = (value): value is CryptoKey => typeof value === "object" && value !== null && #made in value;
    materialOf = (key) => key.#made.material;
  }

  constructor(...given: unknown[]) {
    if (given[0] !== internal) throw new TypeError("Illegal constructor");
    this.#made = given[1] as Made;
  }

  get type(): KeyType {
    return this.#made.type;
  }

  get extractable(): boolean {
    return this.#made.extractable;
  }

  get algorithm(): KeyAlgorithm {
    return this.#made.algorithm;
  }

  get usages(): readonly Usage[] {
    return this.#made.usages;
  }
}

export function makeKey(
  type: KeyType,
  extractable: boolean,
  algorithm: KeyAlgorithm,
  usages: readonly Usage[],
  material: Material,
): CryptoKey {
  const sorted = usages.length === 1 ? [usages[0] as Usage] : allUsages.filter((usage) => usages.includes(usage));
  const made: Made = { type, extractable, algorithm: freeze(algorithm), usages: freeze(sorted), material };
  return new CryptoKey(internal, made);
}

export interface KeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}

/** Reports whether a value is the name of a usage. */
export const isUsage = (value: unknown): value is Usage => allUsages.includes(value as Usage);
